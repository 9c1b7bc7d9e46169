"""Totals of an analysis beside what the ends counted themselves, in the recording of the run."""

from operator import le
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.trace.ours import analyse
from tests.trace.runs import CASES, Runs

_WITHOUT_CARRIER = "kernel/unplugged"
_ENDS_LOST = "sim/requests"
_ENDS_UNKNOWN = "fast-close/fast-close"
"""Made by commands, of which the recording has no last samples."""


def _subflow_name(row: dict[str, Any], host: str) -> str:
    peer = "server" if host == "client" else "client"
    ends = []
    for side in (host, peer):
        address, port = row[f"{side}_address"], row[f"{side}_port"]
        ends.append(f"[{address}]:{port}" if ":" in address else f"{address}:{port}")
    return "-".join(ends)


@pytest.mark.parametrize("host", ["client", "server"])
@pytest.mark.parametrize("case", [case for case in CASES if case != _ENDS_UNKNOWN])
def test_bytes_and_retransmissions_are_those_that_the_sender_counted(
    case: str, host: str, runs: Runs, tmp_path: Path
) -> None:
    """The capture at the sender's interfaces is complete, but for what it could not send.

    What a closed socket sends again, which has no payload, comes after the last sample: in one of
    the runs the end of some connections is lost.
    """
    tables = analyse(runs.counted(case, host), tmp_path / "tables")
    samples = pl.read_parquet(runs.recording(case) / "subflow_samples.parquet")
    last = samples.filter(pl.col("final"), pl.col("node") == host, pl.col("state") != "SYN-SENT")
    counted: dict[str, tuple[int, int, int]] = {
        row["subflow"]: (row["bytes_sent"], row["bytes_retrans"], row["retrans"])
        for row in last.to_dicts()
    }
    assert counted
    captured: dict[str, tuple[int, int, int]] = {
        _subflow_name(row, host): (
            row[f"{host}_payload_bytes"],
            row[f"{host}_retransmitted_bytes"],
            row[f"{host}_retransmissions"],
        )
        for row in tables.rows("subflows")
    }
    seen = {name: captured[name] for name in counted}
    if case == _WITHOUT_CARRIER and host == "server":
        # Packets that the host sent into an interface without carrier count and went nowhere.
        for name, most in counted.items():
            assert all(map(le, seen[name], most))
    else:
        assert {name: total[:2] for name, total in seen.items()} == {
            name: total[:2] for name, total in counted.items()
        }
        later = [seen[name][2] - retrans for name, (_, _, retrans) in counted.items()]
        assert all(0 <= each <= 1 for each in later)
        assert case == _ENDS_LOST or not any(later)


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(("kernel/", "sim/"))])
def test_retransmissions_are_of_the_kinds_that_the_sender_counted(
    case: str, runs: Runs, tmp_path: Path
) -> None:
    """Beside the counters of the host that sent the data (`nstat`'s names)."""
    host = "client" if case.endswith("upwards") else "server"
    tables = analyse(runs.counted(case, host), tmp_path / "tables")
    counters = pl.read_parquet(runs.recording(case) / "counters.parquet")
    counted = dict(counters.filter(pl.col("node") == host).select("name", "value").iter_rows())
    subflows = tables["subflows"]
    seen = {
        name: subflows[f"{host}_{column}"].sum()
        for name, column in (
            ("TcpRetransSegs", "retransmissions"),
            ("TcpExtTCPFastRetrans", "fast_retransmissions"),
            ("TcpExtTCPDSACKRecvSegs", "spurious_retransmissions"),
        )
    }
    assert seen == {name: counted.get(name, 0) for name in seen}


@pytest.mark.parametrize("host", ["client", "server"])
@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(("kernel/", "sim/"))])
def test_what_was_lost_before_the_capture_is_known_as_sent_again(
    case: str, host: str, runs: Runs, tmp_path: Path
) -> None:
    """The links here keep the order of packets: whatever fills a hole was sent again."""
    tables = analyse(runs.captures(case, host), tmp_path / "tables")
    for side in ("client", "server"):
        assert tables["subflows"][f"{side}_out_of_order"].sum() == 0
