"""A scheduler written in Python."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_engine_sim import rows_hash
from tests.engine.worlds import MPTCP, two_paths

from mptcplab._native import Connection
from mptcplab.engine import run
from mptcplab.recording import Recording, Status
from mptcplab.scenario import load, with_overrides

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 500 ms}
"""


def lowest_rtt(connection: Connection) -> tuple[int, int] | None:
    """The scheduler of that name, again."""
    free = [
        (subflow.smoothed_rtt_ns, place)
        for place, subflow in enumerate(connection.subflows)
        if subflow.room_bytes >= subflow.segment_bytes
    ]
    if not free:
        return None
    _, place = min(free)
    return place, connection.subflows[place].segment_bytes


def first_only(connection: Connection) -> tuple[int, int] | None:
    first = connection.subflows[0]
    return (0, first.room_bytes) if first.room_bytes >= first.segment_bytes else None


def payload_by_interface(recording: Recording) -> dict[str, int]:
    samples = recording.frame("subflow_samples").filter(node="client")
    acked = samples.group_by("interface").agg(bytes="bytes_acked")
    return {row["interface"]: max(row["bytes"]) for row in acked.to_dicts()}


def test_a_scheduler_of_python_does_what_the_same_one_of_the_simulator_does(
    tmp_path: Path,
) -> None:
    scenario = load(two_paths(tmp_path, "same", TRAFFIC + MPTCP))
    theirs = with_overrides(
        scenario,
        {f"hosts.{host}.mptcp.scheduler": "lowest-rtt" for host in ("client", "server")},
    )
    own = run(scenario, "mptcp", tmp_path / "own", scheduler=lowest_rtt)
    assert rows_hash(own) == rows_hash(run(theirs, "mptcp", tmp_path / "theirs", engine="sim"))


def test_it_decides_what_each_subflow_carries(tmp_path: Path) -> None:
    # Nothing is lost, and so nothing is sent again, which the scheduler does not decide.
    scenario = with_overrides(
        load(two_paths(tmp_path, "first", TRAFFIC + MPTCP)), {"links.a.queue": "1000 packets"}
    )
    carried = payload_by_interface(run(scenario, "mptcp", tmp_path / "out", scheduler=first_only))
    assert carried["a"] > 500_000
    assert carried["b"] == 0


def test_what_it_raises_ends_the_run(tmp_path: Path) -> None:
    def broken(_: Connection) -> tuple[int, int] | None:
        raise ZeroDivisionError("by the scheduler")

    scenario = load(two_paths(tmp_path, "broken", TRAFFIC + MPTCP))
    with pytest.raises(ZeroDivisionError, match="by the scheduler"):
        run(scenario, "mptcp", tmp_path / "out", scheduler=broken)
    recording = Recording.open(tmp_path / "out")
    assert recording.manifest.status == Status.FAILED
    assert "the scheduler raised ZeroDivisionError('by the scheduler')" in (
        recording.manifest.warnings
    )


@pytest.mark.parametrize("answer", ["first", (99, 1), (0, 0), (-1, 5), (0, "all")])
def test_an_answer_of_another_kind_ends_the_run(answer: Any, tmp_path: Path) -> None:
    scenario = load(two_paths(tmp_path, "odd", TRAFFIC + MPTCP))
    with pytest.raises(ValueError, match=r"^the scheduler answered .* must be None"):
        run(scenario, "mptcp", tmp_path / "out", scheduler=lambda _: answer)


def test_the_kernel_takes_no_scheduler_of_python(tmp_path: Path) -> None:
    scenario = load(two_paths(tmp_path, "kernel", TRAFFIC + MPTCP))
    with pytest.raises(ValueError, match="needs virtual time"):
        run(scenario, "mptcp", tmp_path / "out", engine="kernel", scheduler=lowest_rtt)
    with pytest.raises(ValueError, match="not 'both'"):
        run(scenario, "mptcp", tmp_path / "out", engine="both")
