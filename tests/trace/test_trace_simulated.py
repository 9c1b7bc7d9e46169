"""From a capture to the page: a simulated handover, whose truth is the simulator's."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mptcplab import trace
from mptcplab.cli.app import app
from mptcplab.engine import run
from mptcplab.scenario import load, with_duration
from mptcplab.trace.render.html import to_html
from mptcplab.trace.tables import TABLES

Ends = dict[str, list[str]]


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    """Files of the client and of the server: WiFi, and after a second Ethernet in its place."""
    folder = tmp_path_factory.mktemp("run")
    scenario = with_duration(load("lisbon/A4-overlap"), 2_000_000_000)
    recording = run(scenario, "mptcp", folder, engine="sim", captures=True)
    return {
        end: sorted(str(file) for file in recording.folder.glob(f"{end}-*.pcapng"))
        for end in ("client", "server")
    }


@pytest.fixture(scope="module")
def found(captures: Ends, tmp_path_factory: pytest.TempPathFactory) -> trace.Trace:
    return trace.read(captures["client"], tables=tmp_path_factory.mktemp("kept") / "tables")


def test_the_files_have_the_columns_of_the_schema_and_no_others(found: trace.Trace) -> None:
    for name, table in TABLES.items():
        columns = pl.read_parquet_schema(found.folder / f"{name}.parquet")
        assert set(columns) == {column.name for column in table.columns}, name


def test_only_what_may_be_unknown_is_null(found: trace.Trace) -> None:
    for name, table in TABLES.items():
        frame = getattr(found, name).lazy().collect()
        for column in table.columns:
            if not column.optional:
                assert frame[column.name].null_count() == 0, (name, column.name)


def test_the_parts_add_up(found: trace.Trace) -> None:
    (row,) = found.connections.iter_rows(named=True)
    assert (row["protocol"], row["version"]) == ("mptcp", 1)
    packets = found.packets.collect()
    assert packets.height == row["packets"] == found.capture.segments
    for end in ("client", "server"):
        own = packets.filter(pl.col("from") == end)
        samples = found.samples.filter(pl.col("from") == end)
        addresses = found.addresses.filter(pl.col("end") == end)
        assert own["payload_bytes"].sum() == row[f"{end}_payload_bytes"]
        assert own["new_data_bytes"].sum() == row[f"{end}_bytes"]
        assert samples["payload_bytes"].sum() == row[f"{end}_payload_bytes"]
        assert samples["new_data_bytes"].sum() == row[f"{end}_bytes"]
        assert samples["packets"].sum() == addresses["packets"].sum() == own.height
        assert found.subflows[f"{end}_packets"].sum() == own.height
        assert found.subflows[f"{end}_reinjected_bytes"].sum() == row[f"{end}_reinjected_bytes"]


def test_the_handover_is_told(found: trace.Trace) -> None:
    (row,) = trace.view(found).handovers.iter_rows(named=True)
    assert (row["from"], row["from_subflow"], row["to_subflow"]) == ("client", 0, 1)
    assert 0.9 < (row["t_ns"] - found.capture.first_ns) / 1e9 < 1.2


def test_every_form_of_the_answer_can_be_made(captures: Ends, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for options in (
        ["--statistics"],
        ["--events"],
        ["--json", "--statistics"],
        ["--html", str(page), "--checksums", "--workers", "1"],
        ["--filter", "subflows >= 2 and client.bytes > 1 MB"],
        ["--from", "900 ms", "--to", "1100 ms"],
    ):
        answer = CliRunner().invoke(app, ["trace", *captures["client"], *options])
        assert answer.exit_code == 0, (options, answer.output)
        assert "10.0.1.1" in answer.stdout, options
    assert "MP_JOIN hmac=0x" in page.read_text()


def test_the_clocks_of_a_simulation_are_one(captures: Ends, found: trace.Trace) -> None:
    both = trace.pair(found, trace.read(captures["server"]))
    assert both.near == "client"
    assert abs(both.clock.offset_ns) < 2_000
    assert abs(both.clock.drift) < 1e-6
    assert both.paths["strays"].sum() == 0
    assert (both.packets["delay_ns"] > 0).all()
    # Segments that the server's acknowledgements repaired were lost on the way, but for those that
    # an acknowledgement with room for one block did not tell of in time.
    needed = pl.col("client_retransmissions") - pl.col("client_spurious_retransmissions")
    again = found.subflows.select("subflow", lost=needed)
    own = both.paths.filter(pl.col("from") == "client").join(again, on="subflow", suffix="_again")
    repaired = own.filter(pl.col("subflow") == 1)
    assert repaired["lost"].to_list() == repaired["lost_again"].to_list()
    assert to_html(trace.view(found), both).count("One-way delay") >= 2


def test_the_server_sees_the_same_connection(captures: Ends, found: trace.Trace) -> None:
    other = trace.read(captures["server"], packets=False)
    columns = ["client_token", "server_token", "client_key", "server_key", "client_idsn"]
    assert other.connections.select(columns).equals(found.connections.select(columns))
    assert other.connections["client_bytes"].item() <= found.connections["client_bytes"].item()


def test_a_cut_file_is_analysed_up_to_the_damage(captures: Ends, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcapng"
    content = Path(captures["client"][0]).read_bytes()
    cut.write_bytes(content[: len(content) // 2 + 1])
    answer = CliRunner().invoke(app, ["trace", str(cut), "--json"])
    assert answer.exit_code == 1
    described = json.loads(answer.stdout)
    assert described["connections"]
    damage = described["files"][0]["damage"]
    assert 0 < damage["offset"] <= cut.stat().st_size
    assert f"damaged at byte {damage['offset']}" in answer.stderr


def test_what_is_no_capture_is_told(tmp_path: Path) -> None:
    with pytest.raises(trace.TraceError, match=r"nothing\.pcap"):
        trace.read(tmp_path / "nothing.pcap")
    (tmp_path / "text").write_text("not a capture at all")
    with pytest.raises(trace.TraceError, match="not a capture"):
        trace.read(tmp_path / "text")
