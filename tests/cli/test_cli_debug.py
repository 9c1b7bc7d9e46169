"""`mptcplab debug`: scripts, JSON, and a terminal."""

import json
import os
import pty
import subprocess
from pathlib import Path

from tests.engine.launch import COMMAND as PROGRAM

COMMAND = str(PROGRAM)
SCENARIO = [COMMAND, "debug", "lisbon/A1", "--variant", "mptcp", "--duration", "1 s"]
SCRIPT = """\
# the second subflow
break on subflow opened at client
run
run
check connections[0].subflows[1].stage == opening
show connections
run until 300 ms
step packet on wifi
back 2 packets
diff
drop 2 on eth
delay 2 on eth back by 5 ms
duplicate on wifi
reorder 2 on wifi behind 3
rewrite 2 on eth back: window = 0, ack -= 10
rewrite on wifi: without dss, flags += PSH|URG, payload[0] = ff00
scheduler blest at client
do {link: wifi, change: {rate: 5 Mbit/s}}
run until 500 ms
check connections[0].subflows[0].retransmissions >= 2
save again.debug
save again.yaml
"""


def run(words: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload, no-any-return]


def test_a_script_is_carried_out_and_what_it_saves_repeats_it(tmp_path: Path) -> None:
    (tmp_path / "first.debug").write_text(SCRIPT)
    first = run([*SCENARIO, "--script", "first.debug"], tmp_path)
    assert first.returncode == 0, first.stderr
    assert "subflow opened (client, connection 0, subflow 1)" in first.stdout
    assert "10.0." in first.stdout
    saved = (tmp_path / "again.debug").read_text()
    assert saved.startswith("# mptcplab debug lisbon/A1 --seed 1 --variant mptcp --duration '1 s'")
    more = "show connections[0].subflows[0].bytes_sent\nshow now_ns\n"
    values = []
    for name, text in (("a", SCRIPT), ("b", saved)):
        (tmp_path / name).write_text(text + more)
        told = run([*SCENARIO, "--json", "--script", name], tmp_path)
        assert told.returncode == 0, told.stderr
        values.append([json.loads(line) for line in told.stdout.splitlines()][-2:])
    assert values[0] == values[1]
    assert values[0][1] == {"name": "now_ns", "value": 500_000_000}
    assert run([COMMAND, "check", "again.yaml"], tmp_path).returncode == 0
    assert "rate: 5 Mbit/s" in (tmp_path / "again.yaml").read_text()


def test_a_line_that_fails_ends_the_script_with_its_place(tmp_path: Path) -> None:
    for line, why in (
        ("check now_ns > 1 s", "now_ns > 1 s does not hold: now_ns is 10000000"),
        ("hop", "'hop': known: run, step"),
        ("run until fallback", "all traffic has ended before"),
        ("back 100000000", "events so far"),
        ("do {link: wlan, up: false}", "wlan"),
        ("show host wlan", "there is no host 'wlan'"),
        ("save /nowhere/at/all", "cannot be written"),
        ("reorder on wifi", "write reorder on LINK behind 3"),
        ("reorder on wifi behind 0", "behind 0 others: give 1 or more"),
        ("rewrite on wifi seq += 1", "write rewrite on LINK: seq += 1000"),
        ("rewrite on wifi: ", "write seq += 1000, or without mp_join"),
        ("rewrite on wifi: window = 65536", "65536 does not fit into 16 bits"),
        ("rewrite on wlan: window = 1", "wlan"),
    ):
        (tmp_path / "s").write_text(f"run until 10 ms\n\n{line}\nshow connections\n")
        told = run([*SCENARIO, "--script", "s"], tmp_path)
        assert told.returncode == 1, line
        assert told.stderr.startswith("s:3: "), told.stderr
        assert why in told.stderr
        assert "Traceback" not in told.stderr


def test_standard_input_is_a_script_and_json_is_an_object_a_line(tmp_path: Path) -> None:
    lines = "run until 20 ms\nstep\nshow links\nbreak on packet at server\nrun\nquit\nhop\n"
    told = run([*SCENARIO, "--json"], tmp_path, input=lines)
    assert told.returncode == 0, told.stderr
    stop, step, links, breaks, packet = map(json.loads, told.stdout.splitlines())
    assert (stop["reason"], stop["now_ns"]) == ("time", 20_000_000)
    assert step["step"] == stop["step"] + 1
    assert [one["link"] for one in links["links"]] == ["wifi", "wifi", "lan", "lan", "eth", "eth"]
    assert breaks == {"breaks": ["packet at server"]}
    assert packet["at"] == "packet at server"
    assert packet["happenings"][0]["host"] == "server"


def test_an_unknown_variant_or_scenario_is_told_in_a_line(tmp_path: Path) -> None:
    for words, why in (
        (["lisbon/A9"], "neither a file nor in the catalogue"),
        (["lisbon/A1", "--variant", "x"], "no variant 'x'"),
        (["lisbon/A1", "--script", "none"], "none: cannot be read"),
    ):
        told = run([COMMAND, "debug", *words], tmp_path, input="")
        assert told.returncode == 1
        assert why in told.stderr
        assert "Traceback" not in told.stderr


def test_at_a_terminal_a_mistake_is_told_and_the_session_goes_on(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        SCENARIO, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as talk:
        os.close(theirs)
        os.write(ours, b"hop\nrun until 5 ms\nstep\n\nshow now_ns\nquit\n")
        assert talk.stdout is not None
        printed = talk.stdout.read().decode()
        assert talk.wait() == 0
    os.close(ours)
    assert "'hop': known: run" in printed
    assert printed.count("event") >= 2
    assert "now_ns = 5" in printed


def test_a_time_beyond_the_end_stops_at_the_end(tmp_path: Path) -> None:
    told = run([*SCENARIO, "--json"], tmp_path, input="run until 5 s\nrun until 6 s\nshow now_ns\n")
    assert told.returncode == 0, told.stderr
    end, later, now = map(json.loads, told.stdout.splitlines())
    assert (end["reason"], end["now_ns"]) == ("end", 1_000_000_000)
    assert (later["reason"], later["now_ns"], now["value"]) == ("time", 6 * 10**9, 6 * 10**9)


def test_a_policy_in_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def choose(connection, subflow, paths):\n    return 0\n")
    scenario = """\
hosts: {a: {interfaces: {x: {}}}, b: {interfaces: {x: {}}}}
switches: {s: {}}
links: {l: {between: [a.x, s.a], rate: 9 Mbit/s}, r: {between: [s.b, b.x], rate: 9 Mbit/s}}
controller: {policy: "own.py:choose"}
traffic: [{bulk: {from: a, to: b, way: up, duration: 1 s}}]
"""
    (tmp_path / "s.yaml").write_text(scenario)
    told = run([COMMAND, "debug", "s.yaml"], tmp_path, input="run\n")
    assert (told.returncode, told.stdout) == (1, "")
    assert "its policy is a function of Python" in told.stderr
    (tmp_path / "s.yaml").write_text(scenario.replace("own.py:choose", "disjoint"))
    told = run([COMMAND, "debug", "s.yaml"], tmp_path, input="run until 100 ms\nshow links\n")
    assert told.returncode == 0, told.stderr
