"""Load and state of links over time, as a page has them."""

from pathlib import Path

from tests.metrics.plans import carrier, two_paths
from tests.recording.handmade import SECOND, description, manifest, record, result
from tests.report.sample import FAILURE

from mptcplab.metrics import compare
from mptcplab.recording.manifest import Json
from mptcplab.report.loads import MOST_INTERVALS, link_loads


def sampled(t_s: int, sent: int, lost: int, **more: object) -> Json:
    rates = {"rate_bps": 20_000_000 if t_s < 3 else 10_000_000}
    counts = {"delivered_bytes": 1_250_000 * sent, "offered_packets": 100 * t_s}
    ends = {"link": "eth", "from": "server.eth", "to": "client.eth"}
    return {"t_ns": t_s * SECOND, **ends, **rates, **counts, "dropped_loss": lost, **more}


def test_each_direction_has_its_load_rate_and_losses(tmp_path: Path) -> None:
    samples = [
        sampled(0, 0, 0),
        sampled(1, 1, 0),
        sampled(2, 3, 5),
        sampled(3, 3, 5, dropped_queue=1, dropped_aqm=2),
        sampled(10, 3, 5, dropped_queue=1, dropped_aqm=2),
    ]
    idle = [
        {**one, "from": "client.eth", "to": "server.eth", "delivered_bytes": 0} for one in samples
    ]
    out = result(tmp_path, description([("mptcp", "mptcp")]))
    events = [{"t_ns": 8 * SECOND, "kind": "link", "subject": "eth", "label": "eth fails"}]
    plan = two_paths(FAILURE, carrier(12 * SECOND, "eth is back", 1, up=True))
    rows = {"link_samples": [*samples, *idle], "events": events}
    record(out.recording_folder("mptcp", 1), rows, manifest("mptcp", "mptcp", plan=plan))
    [loads] = link_loads(compare(out))
    assert (loads["variant"], loads["ends_s"]) == ("mptcp", [1, 2, 3, 10])
    [way] = loads["ways"]
    assert (way["link"], way["from"], way["to"]) == ("eth", "server.eth", "client.eth")
    assert way["mbps"] == [10, 20, 0, 0]
    assert way["rates"] == [(0, 20.0), (2, 10.0)]
    assert (way["lost"], way["full"]) == ([(1, 5.0)], [(2, 3.0)])
    # Its return was planned, and did not take place in the run.
    assert loads["down"] == {"eth": [(8.0, 10.0)]}


def test_losses_are_of_the_packets_whose_fate_the_interval_decides(tmp_path: Path) -> None:
    # A queue of 50 packets drains with nothing offered; then the link goes down.
    samples = [
        sampled(0, 0, 0),
        sampled(1, 1, 0, queued_packets=50),
        sampled(2, 2, 5, offered_packets=100, dropped_aqm=10),
        sampled(3, 2, 6, offered_packets=100, dropped_aqm=10, dropped_down=20),
    ]
    out = result(tmp_path, description([("mptcp", "mptcp")]))
    header = manifest("mptcp", "mptcp", plan=two_paths())
    record(out.recording_folder("mptcp", 1), {"link_samples": samples}, header)
    [way] = link_loads(compare(out))[0]["ways"]
    assert (way["lost"], way["full"]) == ([(1, 12.5), (2, 100.0)], [(1, 20.0)])


def test_a_long_run_has_longer_intervals(tmp_path: Path) -> None:
    out = result(tmp_path, description([("mptcp", "mptcp")]))
    samples = [sampled(t_s, t_s, 0) for t_s in range(2 * MOST_INTERVALS)]
    header = manifest("mptcp", "mptcp", plan=two_paths())
    record(out.recording_folder("mptcp", 1), {"link_samples": samples}, header)
    [loads] = link_loads(compare(out))
    assert len(loads["ends_s"]) <= MOST_INTERVALS
    assert loads["ends_s"][-1] == 2 * MOST_INTERVALS - 1
    assert set(loads["ways"][0]["mbps"]) == {10}


def test_without_samples_there_is_nothing(tmp_path: Path) -> None:
    out = result(tmp_path, description([("mptcp", "mptcp")]))
    header = manifest("mptcp", "mptcp", plan=two_paths())
    record(out.recording_folder("mptcp", 1), {}, header)
    assert link_loads(compare(out)) == []
