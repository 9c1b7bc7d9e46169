"""The commands on a server's folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import closing
from errno import EIO
from pathlib import Path

import polars
import pytest
from tests.server.made import empty_result, encoded
from tests.server.running import Running, digest_of, run, secret_of
from tests.server.test_server_plan_file import LINES

from mptcplab.server.addresses import without_addresses
from mptcplab.server.backup import BackupError, back_up, restore
from mptcplab.server.contact import Role
from mptcplab.server.secret import is_url_of_agents
from mptcplab.server.state import State, StateError
from mptcplab.server.store import people
from mptcplab.server.store.database import Connection


def test_an_operator_sees_the_state_of_all_agents(server: Running) -> None:
    agent = server.enrolled(name="boat")
    assert agent.put(agent.result()).status == 201
    printed = run("agents", "--state", str(server.state))
    (line,) = [line for line in printed.splitlines() if "boat" in line]
    assert agent.id in line
    assert "enrolled" in line
    told = json.loads(run("agents", "--state", str(server.state), "--json"))
    (row,) = [row for row in told["agents"] if row["id"] == agent.id]
    assert (row["results"], row["gaps"]) == (1, [])


def test_plans_are_added_changed_and_removed(server: Running, tmp_path: Path) -> None:
    state = str(server.state)
    file = tmp_path / "lines.yaml"
    file.write_text(LINES)
    assert run("plan", "add", str(file), "--state", state) == "lines@1\n"
    assert run("plan", "add", str(file), "--state", state) == "lines@1: nothing has changed\n"
    file.write_text(LINES.replace("seed: 7", "seed: 8"))
    told = json.loads(run("plan", "add", str(file), "--state", state, "--json"))
    assert told == {"id": "lines@2", "changed": True}
    printed = run("plan", "list", "--state", state)
    assert "lines@2  t.example.org:4420  100 kB, 1 MB  1 h" in printed
    found = json.loads(run("plan", "list", "--state", state, "--json"))["plans"]
    assert [plan["plan"] for plan in found] == [server.get("/api/v1/plans/lines").json["plan"]]
    assert run("plan", "remove", "lines", "--state", state) == "lines: removed; its results stay\n"
    assert "no such plan" in run("plan", "remove", "lines", "--state", state, status=1)


def test_a_mistake_in_a_plan_is_one_message(server: Running, tmp_path: Path) -> None:
    file = tmp_path / "lines.yaml"
    file.write_text(LINES.replace("1 h", "1 hour"))
    told = run("plan", "add", str(file), "--state", str(server.state), status=1)
    assert told.startswith(f"{file}:10: schedule.every: ")
    assert "cannot be read" in run("plan", "add", "none.yaml", status=1)


def test_tokens_of_people(server: Running) -> None:
    state = str(server.state)
    secret = run("token", "add", "grafana", "--state", state).strip()
    assert server.get("/api/v1/agents", secret).status == 200
    found = json.loads(run("token", "list", "--state", state, "--json"))["tokens"]
    (own,) = [row["id"] for row in found if row["name"] == "grafana"]
    assert secret not in run("token", "list", "--state", state)
    assert run("token", "revoke", own, "--state", state) == f"{own}: revoked\n"
    assert server.get("/api/v1/agents", secret).status == 401
    assert "did you mean" in run("token", "add", "x", "--role", "admn", status=2)
    for name, shown in (("", ""), ("\x1b[2J", "\\x1b[2J"), ("x" * 101, "x" * 100)):
        told = run("token", "add", name, "--state", state, status=1)
        assert told == f'NAME "{shown}": write 1 to 100 printable characters\n'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("agents", "--state", "nowhere"), "nowhere: no server has ever run here"),
        (("enrol", "--state", "nowhere"), "nowhere: no server has ever run here"),
        (("enrol", "--expires", "soon"), "--expires soon: not a period"),
        (("enrol", "--url", "http://x"), "--url http://x: write https://HOST"),
        (("enrol", "--url", "https://host:"), "--url https://host:: write https://HOST"),
        (("--listen", "x"), "--listen x: write an address and a port"),
        (("--keep", "0s"), "--keep 0s: no result would be kept"),
        (("--keep", "long"), "--keep long: not a period"),
        (("--certificate", "c.pem"), "--certificate and --key: give both"),
        (("--behind-proxy",), "--behind-proxy: give --url"),
        (("--behind-proxy", "--listen", "0.0.0.0:1"), "behind a proxy of this host"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], told: str) -> None:
    printed = run(*words, status=1)
    assert told in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "is_good"),
    [
        ("https://server.example.org:8443", True),
        ("https://192.0.2.1/", True),
        ("https://[2001:db8::1]:1", True),
        ("HTTPS://host", False),
        ("https://host:", False),
        ("https://host:0", False),
        ("https://host:65536", False),
        ("https://ho st", False),
        ("https://host\n", False),
        ("https://m\u00fcnchen.example.org", False),
        ("https://host:\u0661", False),
        ("https://[fe80::1%eth0]", False),
        ("https://[::1", False),
        ("https://[:::]", False),
        ("https://user@host", False),
        ("https://host/path", False),
        ("https://host?a", False),
    ],
)
def test_an_address_of_a_server_is_one_that_agents_take(url: str, is_good: bool) -> None:
    assert is_url_of_agents(url) is is_good


def test_options_belong_to_one_command() -> None:
    assert "write options after `agents`" in run("--state", "x", "agents", status=2)


def test_results_become_files(server: Running, tmp_path: Path) -> None:
    agent = server.enrolled(name="=cmd()")
    told, failed = agent.result(), empty_result("failed", agent=agent.id, sequence=1)
    for one in (told, failed):
        assert agent.put(one).status == 201
    folder = tmp_path / "out"
    run("export", str(folder), "--state", str(server.state))
    for one in (told, failed):
        kept = json.loads((folder / "summaries" / f"{one['id']}.json").read_text())
        assert kept == server.get(f"/api/v1/results/{one['id']}/summary").json
    with (folder / "figures.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["result"] == told["id"]]
    found = {(row["metric"], row["interface"]): float(row["mean"]) for row in rows}
    assert found["tcp_mbps", "wifi"] == 8.0
    assert {row["agent"] for row in rows} == {agent.id}
    assert "it is there" in run("export", str(folder), "--state", str(server.state), status=1)
    run("export", str(folder), "--state", str(server.state), "--table", "parquet")
    assert polars.read_parquet(folder / "figures.parquet").filter(result=told["id"]).height == len(
        rows
    )


def test_addresses_are_left_out_on_request(server: Running, tmp_path: Path) -> None:
    agent = server.enrolled()
    told = agent.result()
    failed = empty_result(
        "failed", agent=agent.id, sequence=1, reason="2001:db8::1, port 4420: Connection refused"
    )
    for one in (told, failed):
        assert agent.put(one).status == 201
    own = [f"/api/v1/results/{one['id']}" for one in (told, failed)]
    listed = f"/api/v1/results?agent={agent.id}"
    every = [*own, *(f"{path}/summary" for path in own), listed]
    addresses = ("10.0.1.1", "10.0.2.1", "10.0.9.1", "2001:db8::1")
    all_of_them = "".join(server.get(path).body.decode() for path in every)
    assert all(one in all_of_them for one in addresses)
    for path in every:
        found = server.get(f"{path}{'&' if '?' in path else '?'}addresses=no")
        assert found.status == 200
        assert not [one for one in addresses if one in found.body.decode()]
    shown = server.get(f"{own[0]}?addresses=no")
    assert shown.headers["content-digest"] == digest_of(shown.body)
    assert [path["source"] for path in shown.json["paths"]] == ["address 1", "address 2"]
    assert server.get(f"{own[1]}?addresses=no").json["reason"] == (
        "address 1, port 4420: Connection refused"
    )
    assert server.get(f"{own[0]}?addresses=perhaps").status == 400
    folder = tmp_path / "out"
    run("export", str(folder), "--state", str(server.state), "--without-addresses")
    for one in (told, failed):
        kept = json.loads((folder / "summaries" / f"{one['id']}.json").read_text())
        assert kept == server.get(f"/api/v1/results/{one['id']}/summary?addresses=no").json
    assert not [one for one in addresses if one in (folder / "figures.csv").read_text()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10.0.0.1:4420 and 10.0.0.2", "address 1:4420 and address 2"),
        ("[2001:db8::1]:80, fe80::1%eth0.", "[address 1]:80, address 2."),
        ("10.0.0.1: refused; 10.0.0.1.", "address 1: refused; address 1."),
        ("Linux 6.18.44 at 10:30", "Linux 6.18.44 at 10:30"),
        ("1.2.3.4.5", "1.2.3.4.5"),
    ],
)
def test_an_address_is_found_in_any_text(text: str, shown: str) -> None:
    assert without_addresses({"10.0.0.9": [text, 7, None]}) == {"10.0.0.9": [shown, 7, None]}


def test_a_backup_brings_everything_back(start: Callable[..., Running], tmp_path: Path) -> None:
    server = start()
    agent = server.enrolled()
    kept, lost = agent.result(), agent.result()
    agent.put(kept)
    file = tmp_path / "backup.db"
    state = str(server.state)
    assert "written" in run("backup", str(file), "--state", state)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "it is there" in run("backup", str(file), "--state", state, status=1)
    agent.put(lost)
    assert "another server uses it" in run("restore", str(file), "--state", state, status=1)
    server.end()
    (tmp_path / "none.db").write_text("x" * 5000)
    for bad in ("none.db", "missing.db"):
        run("restore", str(tmp_path / bad), "--state", state, status=1)
    run("restore", str(file), "--state", state)
    again = start()
    assert again.get(f"/api/v1/results/{kept['id']}").body == encoded(kept)
    assert again.get(f"/api/v1/results/{lost['id']}").status == 404
    agent.server = again
    assert agent.put(lost).status == 201
    assert again.told["fingerprint"] == server.told["fingerprint"]


def test_a_restore_of_nothing_leaves_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x" * 5_000)
    for name, told in (("missing", "there is no such file"), ("text", "no database of a server")):
        state = tmp_path / "state"
        assert told in run("restore", str(tmp_path / name), "--state", str(state), status=1)
        assert not state.exists()


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for state in ("file", "file/state"):
        told = run("--state", str(tmp_path / state), "--listen", "127.0.0.1:0", status=1)
        assert told.startswith(f"{tmp_path / state}: a file is in the way: name a folder")


def test_a_restore_that_is_cut_short_leaves_the_last_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, file = State(tmp_path / "state"), tmp_path / "backup.db"
    state.make()
    with_name(state, "old")
    with closing(state.connect()) as connection:
        back_up(connection, file)
        with_name(state, "last", connection)
        # As a crash leaves it: the last commit is in the log alone.
        kept = {one: one.read_bytes() for one in state.folder.glob("server.db*")}
    for one, content in kept.items():
        one.write_bytes(content)

    def crash(_self: Path, _target: Path) -> None:
        raise OSError(EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "rename", crash)
        with pytest.raises(BackupError):
            restore(state, file)
    assert names(state) == ["old", "last"]
    with state.held(), pytest.raises(StateError):
        restore(state, file)
    restore(state, file)
    assert names(state) == ["old"]


def with_name(state: State, name: str, connection: Connection | None = None) -> None:
    if connection is None:
        with closing(state.connect()) as made:
            with_name(state, name, made)
        return
    people.add(connection, name, Role.VIEWER, name, 0)


def names(state: State) -> list[str]:
    with closing(state.connect()) as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM people ORDER BY rowid")]


def test_everything_kept_is_the_owners_alone(server: Running) -> None:
    assert server.state.stat().st_mode & 0o777 == 0o700
    for file in server.state.iterdir():
        if file.name != "token-of-tests":
            assert file.stat().st_mode & 0o077 == 0, file


def test_a_folder_that_others_read_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    told = run("--state", str(tmp_path), "--listen", "127.0.0.1:0", status=1)
    assert "chmod 700" in told


def test_a_certificate_from_files_and_a_proxy(
    start: Callable[..., Running], tmp_path: Path
) -> None:
    first = start()
    assert first.told["token"]
    shown = tmp_path / "shown.pem"
    key = tmp_path / "key.pem"
    shown.write_bytes((first.state / "certificate.pem").read_bytes())
    key.write_bytes((first.state / "key.pem").read_bytes())
    first.end()
    for name in ("certificate.pem", "key.pem"):
        (first.state / name).unlink()
    second = start("--certificate", str(shown), "--key", str(key))
    assert second.told["token"] is None
    assert second.told["fingerprint"] == first.told["fingerprint"]
    second.end()
    third = start("--behind-proxy", "--url", "https://m.example.org", "--certificate", str(shown))
    line = run("enrol", "--state", str(third.state)).strip()
    assert third.request("GET", "/api/v1/agents", secret=third.admin).status == 200
    answer = third.request(
        "POST", "/api/v1/enrol", b'{"name": "a", "version": "1", "kernel": "6"}', secret_of(line)
    )
    assert answer.status == 201
    third.end()
    key.write_text("none")
    told = run(
        "--state", str(third.state), "--listen", "127.0.0.1:0",
        "--certificate", str(shown), "--key", str(key), status=1,
    )  # fmt: skip
    assert str(key) in told
