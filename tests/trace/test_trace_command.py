"""The command prints what it is asked for, and its exit status says how it went."""

import json
from pathlib import Path

import pytest
from tests.trace.tabulate import put, write
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.trace.tables import TABLES

WIDE = {"COLUMNS": "170"}


def _run(*arguments: object, status: int = 0) -> str:
    found = CliRunner().invoke(app, ["trace", *map(str, arguments)], env=WIDE)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == status, found.output
    return found.output


def test_the_summary_tells_of_each_connection(tables: Path) -> None:
    text = _run(tables)
    assert "2 613 frames" in text.replace("\u202f", " ")
    assert "left out: 2 arp, 1 udp" in text
    assert "Connection 0  MPTCP v1  10.0.1.2:40000 → 10.0.9.2:5001" in text
    assert "tokens 0x1a2b3c4d (client), 0x5e6f7081 (server); no data checksums" in text
    assert "join by client, announced" in text
    assert "from subflow 0 to subflow 1, after 396.1 ms without new data" in text
    assert "Connection 2  TCP  [2001:db8::2]:40200 → [2001:db8:9::2]:443" in text


def test_json_has_every_column_and_every_list(tables: Path) -> None:
    found = json.loads(_run(tables, "--json"))
    assert found["interrupted"] is False
    assert found["left_out"] == 0
    first, fast, plain = found["connections"]
    own = {column.name for column in TABLES["connections"].columns} - {"connection"}
    assert own <= set(first)
    assert (first["id"], first["protocol"], first["version"]) == (0, "mptcp", 1)
    assert first["client_key"] == "0x0123456789abcdef"
    assert first["server_idsn"] == "0x8000000000000005"
    assert [subflow["id"] for subflow in first["subflows"]] == [0, 1, 2]
    columns = {column.name for column in TABLES["subflows"].columns}
    assert columns - {"connection", "subflow"} <= set(first["subflows"][0])
    assert {one["address"] for one in first["addresses"]} == {
        "10.0.1.2",
        "10.0.2.2",
        "10.0.8.2",
        "10.0.9.2",
    }
    assert [one["kind"] for one in fast["events"]] == ["connection_opened", "fast_close"]
    assert len(first["intervals"]) == 3
    assert len(first["handovers"]) == 1
    assert plain["protocol"] == "tcp"
    assert [subflow["id"] for subflow in plain["subflows"]] == [0]


def test_statistics_are_tables_and_series(tables: Path) -> None:
    text = _run(tables, "--connection", 0, "--statistics")
    for title in (
        "packets by address",
        "intervals between",
        "cumulative data",
        "share of the subflows",
        "packets by direction",
        "data of the connection",
        "round trips by",
    ):
        assert title in text
    found = json.loads(_run(tables, "--connection", 0, "--statistics", "--json"))
    subflow = found["connections"][0]["subflows"][0]
    assert subflow["cumulative"][-1]["bytes"] > 0
    assert {"t_ns", "from", "new_bytes"} <= set(subflow["samples"][0])
    assert subflow["rtt_by_sequence"][0]["from"] == "server"
    assert [one["from"] for one in subflow["directions"]] == ["client", "server"]
    assert [one["from"] for one in found["connections"][0]["directions"]] == ["server"]
    assert found["left_out"] == 2


def test_events_are_lines(tables: Path) -> None:
    lines = _run(tables, "--events", "--connection", 0).splitlines()
    assert len(lines) == 17
    assert lines[1].split()[:4] == ["0.043812", "connection", "0", "subflow"]
    assert lines[1].split()[4:7] == ["0", "server", "address_announced"]
    part = _run(tables, "--events", "--from", "2s", "--to", "2500 ms").splitlines()
    assert len(part) == 3
    assert "connection 0 subflow 1" in part[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--filter", "bites > 1"], 'did you mean "bytes"?'),
        (["--connection", "one"], "write numbers, such as 0 or 0,3"),
        (["--connection", "9"], "no connection has the number 9"),
        (["--from", "2"], '--from: a time needs a unit: did you mean "2 s"?'),
        (["--from", "20s", "--to", "10s"], "--to 10s lies before --from 20s: both count from the"),
        (["--html", "/nowhere/at/all.html"], "its folder does not exist"),
    ],
)
def test_mistakes_are_told(
    tables: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from mptcplab.cli.errors import UserError

    with pytest.raises(UserError, match=message.replace("?", r"\?")):
        _run(tables, *arguments)
    assert capsys.readouterr().out == ""


def test_damage_is_told_with_its_place_and_ends_in_status_1(tmp_path: Path) -> None:
    damage = {"offset": 123456, "decompressed": True, "message": "a frame of 4294967295 bytes"}
    folder = write(tmp_path / "damaged", file={"damage": damage})
    text = _run(folder, status=1)
    assert (
        "Damaged at byte 123456 after decompression: a frame of 4294967295 bytes"
        in text.replace("\u202f", " ")
    )
    assert "Connection 0" in text


def test_what_was_interrupted_is_said_to_be_partial(tmp_path: Path) -> None:
    folder = write(tmp_path / "partial", interrupted=True)
    assert "Partial: reading was interrupted." in _run(folder)
    assert json.loads(_run(folder, "--json"))["interrupted"] is True


def test_many_connections_are_listed_largest_first(tmp_path: Path) -> None:
    import polars as pl

    folder = write(tmp_path / "many")
    rows = pl.read_parquet(folder / "connections.parquet").to_dicts()
    many = [rows[2] | {"connection": number, "server_bytes": 1000 * number} for number in range(25)]
    put(folder, TABLES["connections"], many)
    text = _run(folder)
    lines = [line for line in text.splitlines() if "[2001:db8::2]" in line]
    assert len(lines) == 20
    assert [int(line.split()[0]) for line in lines[:3]] == [24, 23, 22]
    assert "The 20 largest; 5 are left out: --all shows them." in text
    every = _run(folder, "--all")
    assert "left out:" in every
    assert "are left out" not in every
    assert len([line for line in every.splitlines() if "[2001:db8::2]" in line]) == 25


def test_nothing_chosen_is_said(tables: Path) -> None:
    assert "None of the 3 connections is chosen." in _run(tables, "--filter", "port == 1")


def test_the_other_ends_capture_tells_delay_and_loss(tmp_path: Path) -> None:
    here, there = (write(tmp_path / end, end=end) for end in ("client", "server"))
    text = _run(here, "--peer", there, "--connection", 0)
    assert "nearer to the client" in text
    assert "one-way delay, loss and reordering" in text
    assert "what the sender knew of each subflow" in text
    found = json.loads(_run(here, "--peer", there, "--json"))["pair"]
    assert found["near"] == "client"
    assert set(found["clock"]) == {
        "zero_ns",
        "offset_ns",
        "offset_uncertainty_ns",
        "drift_ppm",
        "drift_uncertainty_ppm",
        "drift_apart_ppm",
        "consistent",
        "same",
    }
    assert sum(row["lost"] for row in found["paths"]) == 12
    assert {row["subflow"] for row in found["choices"]} == {0, 1, 2}
    assert [row["reinjected_bytes"] for row in found["reinjections"]] == [6 * 1400]
    page = tmp_path / "page.html"
    _run(here, "--peer", there, "--html", page)
    assert page.read_text().count(">One-way delay, server → client</h3>") == 3


def test_kept_tables_are_not_kept_again(tables: Path, tmp_path: Path) -> None:
    from mptcplab.cli.errors import UserError

    with pytest.raises(UserError, match="holds tables already"):
        _run(tables, "--tables", tmp_path / "more")
