"""Recovery times and handover gaps of courses of delivery that are drawn by hand."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.metrics import plans
from tests.metrics.plans import carrier, interface, link, node, rate_change, two_paths
from tests.recording.handmade import MILLISECOND, SECOND, manifest, record, transfer

from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.recording.manifest import Json

BIN = 10 * MILLISECOND
FAILURE = carrier(8 * SECOND, "eth fails", 1, up=False)
RETURN = carrier(12 * SECOND, "eth is back", 1, up=True)


def deliveries(*spans: tuple[float, float, int]) -> list[dict[str, object]]:
    """Bins of (from s, to s, bytes a bin)."""
    return [
        {"traffic": "bulk", "index": 0, "way": "down", "t_ns": t, "bytes": size}
        for start, end, size in spans
        for t in range(round(start * SECOND), round(end * SECOND), BIN)
    ]


def happened(*events: Json, late_ns: int = 0) -> list[dict[str, object]]:
    return [
        {
            "t_ns": int(str(event["at_ns"])) + late_ns,
            "kind": "link",
            "subject": "eth",
            "label": event["label"],
        }
        for event in events
    ]


def counters(*spans: tuple[int, int, int]) -> list[dict[str, object]]:
    """Samples of the client's eth each 100 ms: (from s, to s, bytes a second)."""
    rows, total = [], 0
    for start, end, rate in spans:
        for tenth in range(start * 10, end * 10):
            total += rate // 10
            rows.append(
                {
                    "t_ns": (tenth + 1) * 100 * MILLISECOND,
                    "node": "client",
                    "interface": "eth",
                    "rx_bytes": total,
                    "tx_bytes": 0,
                }
            )
    return rows


def run(
    folder: Path,
    bins: Iterable[dict[str, object]],
    *events: Json,
    samples: Iterable[dict[str, object]] = (),
    **values: object,
) -> Recording:
    row = transfer(end_ns=20 * SECOND, longest_silence_ns=None, **values)
    tables = {
        "transfers": [row],
        "deliveries": list(bins),
        "events": happened(*events),
        "interface_samples": list(samples),
    }
    return record(folder, tables, manifest(plan=two_paths(*events)))


def test_recovery_lasts_from_the_failure_to_the_first_sustained_delivery(tmp_path: Path) -> None:
    bins = deliveries((0, 8.05, 1000), (9.5, 9.55, 1000), (12.3, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN)).metrics
    assert metrics["recovery_s"] == pytest.approx(4.3)
    assert metrics["handover_gap_s"] == pytest.approx(12.3 - 9.55)


def test_pauses_up_to_200_ms_do_not_interrupt_and_longer_ones_do(tmp_path: Path) -> None:
    bins = deliveries((0, 8.0, 1000), (8.2, 20, 1000))
    assert measure(run(tmp_path / "a", bins, FAILURE)).metrics["recovery_s"] == pytest.approx(0.2)
    bins = deliveries((0, 8.02, 1000), (8.22, 20, 1000))
    assert measure(run(tmp_path / "b", bins, FAILURE)).metrics["recovery_s"] == 0.0
    bins = deliveries((0, 8.02, 1000), (8.23, 20, 1000))
    assert measure(run(tmp_path / "c", bins, FAILURE)).metrics["recovery_s"] == pytest.approx(0.23)


def test_a_trickle_below_5_percent_of_the_rate_before_is_no_recovery(tmp_path: Path) -> None:
    trickle = deliveries((0, 8, 1000), (8, 12, 49), (12, 20, 1000))
    # One bin at the full rate lifts a second of 4.9 % above 5 %: that which begins at 11.01 s.
    metrics = measure(run(tmp_path / "a", trickle, FAILURE)).metrics
    assert metrics["recovery_s"] == pytest.approx(3.01)
    enough = deliveries((0, 8, 1000), (8, 12, 50), (12, 20, 1000))
    assert measure(run(tmp_path / "b", enough, FAILURE)).metrics["recovery_s"] == 0.0


def test_a_transfer_that_never_recovers_has_no_recovery_time(tmp_path: Path) -> None:
    bins = deliveries((0, 8, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN)).metrics
    assert metrics["recovery_s"] is None
    assert metrics["handover_gap_s"] == pytest.approx(12.0)


def test_a_failure_that_did_not_happen_in_the_run_counts_for_nothing(tmp_path: Path) -> None:
    rows = {"transfers": [transfer()], "deliveries": deliveries((0, 10, 1000))}
    metrics = measure(record(tmp_path / "r", rows, manifest(plan=two_paths(FAILURE)))).metrics
    assert "recovery_s" not in metrics
    assert "handover_gap_s" not in metrics


def test_the_time_of_an_event_is_the_one_at_which_it_took_place(tmp_path: Path) -> None:
    rows = {
        "transfers": [transfer(end_ns=20 * SECOND)],
        "deliveries": deliveries((0, 8, 1000), (10, 20, 1000)),
        "events": happened(FAILURE, late_ns=-SECOND),
    }
    metrics = measure(record(tmp_path / "r", rows, manifest(plan=two_paths(FAILURE)))).metrics
    assert metrics["recovery_s"] == 0.0
    rows["events"] = happened(FAILURE)
    metrics = measure(record(tmp_path / "s", rows, manifest(plan=two_paths(FAILURE)))).metrics
    assert metrics["recovery_s"] == pytest.approx(2.0)


def test_a_path_recovers_when_it_carries_half_of_what_it_carried_before(tmp_path: Path) -> None:
    samples = counters((0, 8, 1_000_000), (8, 14, 0), (14, 16, 400_000), (16, 20, 500_000))
    bins = deliveries((0, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN, samples=samples)).metrics
    assert metrics["recovery_s"] == 0.0
    assert metrics["recovery_s.eth"] == pytest.approx(4.0)
    assert "recovery_s.wifi" not in metrics


@pytest.mark.parametrize("column", ["rx_bytes", "tx_bytes"])
def test_a_sample_without_its_counter_is_no_sample(tmp_path: Path, column: str) -> None:
    samples = counters((0, 8, 1_000_000), (8, 14, 0), (14, 20, 1_000_000))
    samples[129][column] = None
    bins = deliveries((0, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN, samples=samples)).metrics
    assert metrics["recovery_s.eth"] == pytest.approx(2.0)


def test_a_path_that_is_never_used_again_has_no_recovery_time(tmp_path: Path) -> None:
    samples = counters((0, 8, 1_000_000), (8, 20, 100_000))
    bins = deliveries((0, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN, samples=samples)).metrics
    assert metrics["recovery_s.eth"] is None


def test_a_path_that_was_not_in_use_has_nothing_to_recover(tmp_path: Path) -> None:
    idle = counters((0, 20, 1_000))
    busy = [row | {"interface": "wifi"} for row in counters((0, 20, 1_000_000))]
    bins = deliveries((0, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, FAILURE, RETURN, samples=idle + busy)).metrics
    assert "recovery_s.eth" not in metrics


def test_the_gap_is_exact_where_it_is_the_longest_silence_of_the_transfer(tmp_path: Path) -> None:
    row = transfer(
        end_ns=20 * SECOND,
        longest_silence_ns=1_507_000_000,
        longest_silence_at_ns=8 * SECOND - 3 * MILLISECOND,
    )
    tables = {
        "transfers": [row],
        "deliveries": deliveries((0, 8, 1000), (9.5, 20, 1000)),
        "events": happened(FAILURE),
    }
    metrics = measure(record(tmp_path / "r", tables, manifest(plan=two_paths(FAILURE)))).metrics
    assert metrics["handover_gap_s"] == 1.507
    assert metrics["longest_silence_s"] == 1.507


def test_a_silence_before_the_change_is_not_its_gap(tmp_path: Path) -> None:
    change = rate_change(8 * SECOND, "eth is strangled", 1)
    bins = deliveries((0, 3, 1000), (6, 8.5, 1000), (8.7, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, change)).metrics
    assert metrics["handover_gap_s"] == pytest.approx(0.2)
    assert "recovery_s" not in metrics


def test_a_failure_of_both_paths_at_once_is_measured_against_what_was_before_both(
    tmp_path: Path,
) -> None:
    events = (
        carrier(8 * SECOND, "air fails", 0, up=False),
        carrier(8 * SECOND + 50_000, "eth fails", 1, up=False),
        carrier(12 * SECOND, "air is back", 0, up=True),
        carrier(12 * SECOND + 50_000, "eth is back", 1, up=True),
    )
    samples = counters((0, 8, 1_000_000), (8, 14, 0), (14, 20, 1_000_000))
    bins = deliveries((0, 8.01, 1000), (13, 20, 1000))
    metrics = measure(run(tmp_path / "r", bins, *events, samples=samples)).metrics
    assert metrics["recovery_s"] == pytest.approx(5.0)
    assert metrics["recovery_s.eth"] == pytest.approx(2.0, abs=1e-4)


def link_counters(*spans: tuple[int, int, int]) -> list[dict[str, object]]:
    """Samples of the link `uplink`, each way half: (from s, to s, bytes a second)."""
    return [
        {
            "t_ns": row["t_ns"],
            "link": "uplink",
            "from": ends[0],
            "to": ends[1],
            "delivered_bytes": int(str(row["rx_bytes"])) // 2,
        }
        for row in counters(*spans)
        for ends in (("ap.up", "core.down"), ("core.down", "ap.up"))
    ]


def beyond(
    folder: Path, *spans: tuple[int, int, int], unknown: int | None = None
) -> dict[str, float | None]:
    """Metrics of a run in which a link between routers fails and comes back.

    The counter of the sample `unknown` is not known.
    """
    samples = link_counters(*spans)
    if unknown is not None:
        samples[unknown]["delivered_bytes"] = None
    events = (
        carrier(8 * SECOND, "uplink fails", 2, up=False),
        carrier(12 * SECOND, "uplink is back", 2, up=True),
    )
    plan = two_paths(*events)
    routers = [
        node(name, interface(own, address)) | {"router": True}
        for name, own, address in (("ap", "up", "10.0.3.1"), ("core", "down", "10.0.3.2"))
    ]
    plan = plan | {
        "nodes": [*plan["nodes"], *routers],  # type: ignore[misc]
        "links": [*plan["links"], link("uplink", plans.end(2, 0), plans.end(3, 0))],  # type: ignore[misc]
    }
    tables = {
        "transfers": [transfer(end_ns=20 * SECOND)],
        "deliveries": deliveries((0, 8, 1000), (13, 20, 1000)),
        "events": happened(*events),
        "interface_samples": counters((0, 8, 1_000_000), (8, 13, 0), (13, 20, 1_000_000)),
        "link_samples": samples,
    }
    return dict(measure(record(folder, tables, manifest(plan=plan))).metrics)


def test_a_link_beyond_the_client_recovers_by_what_it_carries_itself(tmp_path: Path) -> None:
    used = beyond(tmp_path / "used", (0, 8, 1_000_000), (8, 14, 0), (14, 20, 1_000_000))
    assert used["recovery_s"] == pytest.approx(5.0)
    assert used["recovery_s.uplink"] == pytest.approx(2.0)
    unused = beyond(tmp_path / "unused", (0, 20, 1_000))
    assert "recovery_s.uplink" not in unused
    gap = beyond(tmp_path / "gap", (0, 8, 1_000_000), (8, 14, 0), (14, 20, 1_000_000), unknown=259)
    assert gap["recovery_s.uplink"] == pytest.approx(2.0)
    never = beyond(tmp_path / "never", (0, 8, 1_000_000), (8, 20, 0))
    assert never["recovery_s.uplink"] is None
