"""Share of the ideal, and completion times of single flows."""

from pathlib import Path

import pytest
from tests.recording.handmade import SECOND, record, transfer

import mptcplab as lab
from mptcplab.metrics import measure
from mptcplab.scenario import loads

TEXT = """
topology: {fat-tree: {k: 2, link: {rate: 100 Mbit/s, delay: 20 us, queue: 100 packets}}}
traffic: [{bulk: {from: "h*", to: {draw: permutation}, direction: up, size: 10 MB}}]
variants:
  whole: {protocol: tcp}
  half: {protocol: tcp, set: {links: {agg0-0-core0: {rate: 50 Mbit/s}}}}
  unknown: {protocol: tcp, set: {links: {h0: {duplex: half}}}}
"""


def test_the_share_of_the_ideal_is_of_what_the_hosts_own_links_carry(tmp_path: Path) -> None:
    result = lab.run(
        loads(TEXT), engine="sim", repeat=1, workers=1, progress=False, out=tmp_path / "r"
    )
    whole, half, unknown = (measure(result[name][0]).metrics for name in result)
    assert whole["share_of_ideal"] == pytest.approx(
        (whole["goodput"] or 0) / (2 * 100 * 1448 / 1500)
    )
    assert 0.9 < (whole["share_of_ideal"] or 0) <= 1
    assert 0.4 < (half["share_of_ideal"] or 0) < 0.55
    assert "share_of_ideal" not in unknown


def test_each_flow_with_a_size_has_its_completion_time(tmp_path: Path) -> None:
    rows = [
        transfer(traffic="small", kind="ftp", start_ns=0, end_ns=SECOND),
        transfer(traffic="large", kind="ftp", start_ns=0, end_ns=4 * SECOND),
        transfer(traffic="large", kind="ftp", start_ns=0, end_ns=2 * SECOND, index=1),
        transfer(traffic="lost", kind="ftp", start_ns=0, end_ns=None, error="no way"),
        transfer(traffic="bulk"),
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["completion_s.small"] == 1
    assert metrics["completion_s.large"] == 3
    assert metrics["completion_s.lost"] is None
    assert "completion_s.bulk" not in metrics
