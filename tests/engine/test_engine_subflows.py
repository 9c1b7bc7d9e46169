"""Applications that open and close their subflows themselves, in both engines."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.worlds import two_paths

from mptcplab.engine import run
from mptcplab.engine.choice import KERNEL, SIM
from mptcplab.recording import Recording
from mptcplab.scenario import load

SCENARIO = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 1500 ms, SUBFLOWS}
EVENTS
variants:
  mptcp: {protocol: mptcp, set: {hosts.client.mptcp.path_manager: application}}
"""
AT_ONCE = "subflows: client.b"


def recorded(tmp_path: Path, engine: str, subflows: str, events: str = "") -> Recording:
    text = SCENARIO.replace(", SUBFLOWS", f", {subflows}" if subflows else "")
    scenario = load(two_paths(tmp_path, "own", text.replace("EVENTS", events)))
    return run(scenario, "mptcp", tmp_path / "out", engine=engine)


def joins(recording: Recording) -> int:
    return int(recording.frame("transfers")["joins"][0])


def last_bytes(recording: Recording) -> dict[str, int]:
    """Bytes acknowledged by interface of the client."""
    samples = recording.frame("subflow_samples").filter(pl.col("node") == "client")
    summed = samples.group_by("subflow").agg(
        pl.col("interface").first(), pl.col("bytes_acked").max()
    )
    return {
        str(interface): int(rows["bytes_acked"].sum())
        for (interface,), rows in summed.group_by(["interface"])
    }


@pytest.mark.parametrize("engine", [KERNEL, SIM])
def test_a_subflow_is_opened_as_soon_as_the_connection_is(tmp_path: Path, engine: str) -> None:
    recording = recorded(tmp_path, engine, AT_ONCE)
    assert joins(recording) == 1
    carried = last_bytes(recording)
    assert carried["b"] > carried["a"] / 2
    assert not [text for text in recording.manifest.warnings if text.startswith("bulk")]


@pytest.mark.parametrize("engine", [KERNEL, SIM])
def test_nobody_else_opens_one(tmp_path: Path, engine: str) -> None:
    recording = recorded(tmp_path, engine, "")
    assert joins(recording) == 0
    assert set(last_bytes(recording)) == {"a"}


@pytest.mark.parametrize("engine", [KERNEL, SIM])
def test_events_open_and_close_subflows(tmp_path: Path, engine: str) -> None:
    events = """\
events:
  - {at: 300 ms, subflow: {of: bulk, from: client.b, to: server.b}, up: true}
  - {at: 800 ms, subflow: {of: bulk, from: client.a, to: server.a}, up: false}
"""
    recording = recorded(tmp_path, engine, "", events)
    assert joins(recording) == 1
    # Half a second and a half by a, over a second by b, of equal rates.
    carried = last_bytes(recording)
    assert carried["b"] > carried["a"]
    assert recording.frame("transfers")["error"].to_list() == [None]


@pytest.mark.parametrize("engine", [KERNEL, SIM])
def test_a_subflow_that_cannot_be_opened_is_told(tmp_path: Path, engine: str) -> None:
    events = """\
events:
  - {at: 300 ms, subflow: {of: bulk, from: client.b, to: server.b}, up: false}
"""
    recording = recorded(tmp_path, engine, "", events)
    assert joins(recording) == 0
    assert any("10.0.2." in warning for warning in recording.manifest.warnings)
