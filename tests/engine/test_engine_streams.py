"""Several streams of one transfer: both engines tell them, and each of their joins, apart."""

import pytest
from tests.engine.worlds import two_paths

from mptcplab.engine import run
from mptcplab.engine.choice import KERNEL, SIM
from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.scenario import load

STREAMS = 3
SCENARIO = f"""\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 1500 ms, streams: {STREAMS}}}
variants:
  mptcp: {{protocol: mptcp}}
"""


@pytest.fixture(scope="module", params=[KERNEL, SIM])
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    folder = tmp_path_factory.mktemp("streams")
    scenario = load(two_paths(folder, "streams", SCENARIO))
    return run(scenario, "mptcp", folder / "out", engine=request.param)


def test_every_table_of_a_transfer_tells_its_streams_apart(recording: Recording) -> None:
    transfers = recording.transfers.sort("index")
    assert transfers["index"].to_list() == list(range(STREAMS))
    assert transfers["token"].n_unique() == transfers["source"].n_unique() == STREAMS
    assert set(recording.deliveries["index"]) == set(range(STREAMS))
    assert set(recording.subflow_samples["token"].drop_nulls()) >= set(transfers["token"])


def test_each_join_has_its_time(recording: Recording) -> None:
    transfers = {row["index"]: row for row in recording.transfers.iter_rows(named=True)}
    joins = recording.joins.sort("index").to_dicts()
    assert [(row["traffic"], row["index"], row["number"]) for row in joins] == [
        ("bulk", index, 1) for index in range(STREAMS)
    ]
    for row in joins:
        of = transfers[row["index"]]
        # A round trip of 10 ms goes by before the server's address can be joined.
        assert of["connected_ns"] + 5_000_000 < row["t_ns"] < of["end_ns"]


def test_shares_fairness_and_times_of_the_streams_are_metrics(recording: Recording) -> None:
    metrics = {name: value or 0.0 for name, value in measure(recording).metrics.items()}
    shares = [metrics[f"stream_share.{number}"] for number in range(1, STREAMS + 1)]
    assert sum(shares) == pytest.approx(1)
    square = sum(share * share for share in shares)
    assert metrics["jain.streams"] == pytest.approx(1 / (STREAMS * square), rel=0.01)
    assert 0.01 < metrics["establishment_s"] < metrics["establishment_s.join1"]
    assert 0.05 < metrics["header_overhead"] < 0.15
