"""Metrics of recordings made by hand, each computed on paper."""

from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import MILLISECOND, SECOND, manifest, record, transfer

from mptcplab.metrics import measure
from mptcplab.recording import Status
from mptcplab.recording.manifest import Json


def subflow(node: str, pair: str, **values: object) -> dict[str, object]:
    return {"t_ns": SECOND, "node": node, "token": 1, "subflow": pair} | values


WIFI = "10.0.1.1:4000-10.0.1.2:5001"
ETH = "10.0.2.1:4001-10.0.2.2:5001"


def test_goodput_is_payload_over_the_time_from_first_start_to_last_byte(tmp_path: Path) -> None:
    rows = [
        transfer(index=0, start_ns=SECOND, end_ns=5 * SECOND, bytes=50_000_000),
        transfer(index=1, start_ns=2 * SECOND, end_ns=9 * SECOND, bytes=30_000_000),
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["goodput"] == 80.0


def test_goodput_splits_by_way_traffic_and_client(tmp_path: Path) -> None:
    rows = [
        transfer(way="up", client="a", bytes=25_000_000),
        transfer(way="down", client="b", bytes=50_000_000),
        transfer(way="down", client="b", traffic="web", end_ns=5 * SECOND, bytes=12_500_000),
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["goodput"] == 70.0
    assert metrics["goodput.up"] == 20.0
    assert metrics["goodput.down"] == 50.0
    assert metrics["goodput.bulk"] == 60.0
    assert metrics["goodput.web"] == 20.0
    assert metrics["goodput.a"] == 20.0
    assert metrics["goodput.b"] == 50.0
    assert metrics["jain"] == pytest.approx(70**2 / (2 * (20**2 + 50**2)))


@pytest.mark.parametrize(
    ("status", "goodput"), [(Status.COMPLETE, 10.0), (Status.INTERRUPTED, 20.0)]
)
def test_a_transfer_that_failed_counts_to_its_planned_end_or_the_interruption(
    tmp_path: Path, status: Status, goodput: float
) -> None:
    workload: Json = {"kind": "bulk", "way": "down", "duration_ns": 40 * SECOND, "bytes": None}
    row = transfer(end_ns=5 * SECOND, bytes=50_000_000, error="reset by peer")
    header = manifest(plan=two_paths(workload=workload))
    recording = record(tmp_path / "r", {"transfers": [row]}, header, status)
    metrics = measure(recording).metrics
    assert metrics["goodput"] == goodput
    assert metrics["completed"] == 0.0


@pytest.mark.parametrize(
    ("kind", "workload"),
    [
        ("bulk", {"kind": "bulk", "way": "down", "duration_ns": None, "bytes": 100_000_000}),
        ("http", {"kind": "http", "bytes": 100_000_000, "count": 1}),
    ],
)
def test_a_transfer_with_a_size_that_failed_counts_to_the_end_of_the_run(
    tmp_path: Path, kind: str, workload: Json
) -> None:
    row = transfer(kind=kind, end_ns=2 * SECOND, bytes=50_000_000)
    header = manifest(plan=two_paths(workload=workload))
    good = record(tmp_path / "good", {"transfers": [row]}, header)
    assert measure(good).metrics["goodput"] == 200.0
    failed = record(tmp_path / "failed", {"transfers": [row | {"error": "reset"}]}, header)
    assert measure(failed).metrics["goodput"] == 20.0


def test_an_unfinished_transfer_counts_to_the_end_of_the_run(tmp_path: Path) -> None:
    row = transfer(end_ns=None, bytes=50_000_000, error="interrupted")
    recording = record(tmp_path / "r", {"transfers": [row]}, status=Status.INTERRUPTED)
    assert measure(recording).metrics["goodput"] == 20.0


def test_requests_and_responses_are_no_goodput(tmp_path: Path) -> None:
    row = transfer(kind="request_response", bytes=640)
    assert measure(record(tmp_path / "r", {"transfers": [row]})).metrics["goodput"] is None


def test_without_transfers_nothing_is_invented(tmp_path: Path) -> None:
    metrics = measure(record(tmp_path / "r", {})).metrics
    assert set(metrics.values()) == {None}


def test_the_payload_of_a_download_goes_to_paths_as_the_client_received_it(tmp_path: Path) -> None:
    rows = [
        subflow("client", WIFI, bytes_received=20_000_000, bytes_acked=1, interface="wifi"),
        subflow("client", WIFI, t_ns=2 * SECOND, bytes_received=40_000_000, bytes_acked=1),
        subflow("client", ETH, bytes_received=120_000_000, bytes_acked=1, bytes_retrans=0),
        subflow("server", "10.0.1.2:5001-10.0.1.1:4000", bytes_received=1, bytes_retrans=3000),
        subflow("server", "10.0.2.2:5001-10.0.2.1:4001", bytes_received=1, bytes_retrans=1500),
    ]
    recording = record(
        tmp_path / "r",
        {"transfers": [transfer()], "subflow_samples": rows},
        manifest(plan=two_paths()),
    )
    measurement = measure(recording)
    assert measurement.metrics["share.wifi"] == 0.25
    assert measurement.metrics["share.eth"] == 0.75
    assert measurement.metrics["goodput.wifi"] == 25.0
    assert measurement.metrics["goodput.eth"] == 75.0
    assert measurement.metrics["goodput.client.eth"] == 75.0
    # The transfer is of 125 MB in 10 s: of 160 MB that the paths carried, 35 MB are copies.
    assert measurement.metrics["carried.wifi"] == 32.0
    assert measurement.metrics["carried.eth"] == 96.0
    assert measurement.metrics["carried.client.eth"] == 96.0
    assert measurement.metrics["retransmitted_bytes"] == 4500
    assert [(p.client, p.interface, p.payload_bytes) for p in measurement.paths] == [
        ("client", "wifi", 40_000_000),
        ("client", "eth", 120_000_000),
    ]


def test_a_connection_that_fell_back_counts_once_though_its_final_row_has_no_token(
    tmp_path: Path,
) -> None:
    rows = [
        subflow("client", WIFI, bytes_received=30_000_000, bytes_retrans=1500),
        subflow(
            "client", WIFI, token=None, final=True, bytes_received=40_000_000, bytes_retrans=3000
        ),
    ]
    recording = record(
        tmp_path / "r",
        {"transfers": [transfer(fallback=True, joins=0)], "subflow_samples": rows},
        manifest(plan=two_paths()),
    )
    measurement = measure(recording)
    assert measurement.metrics["retransmitted_bytes"] == 3000
    assert [path.payload_bytes for path in measurement.paths] == [40_000_000]


def test_the_payload_of_an_upload_goes_to_paths_as_it_was_acknowledged(tmp_path: Path) -> None:
    rows = [
        subflow(
            "client",
            "[fd00::1]:4000-[fd00::2]:5001",
            interface="wifi",
            bytes_acked=1,
            bytes_received=9,
        ),
        subflow("client", ETH, interface="eth", bytes_acked=3, bytes_received=9),
    ]
    tables = {"transfers": [transfer(way="up")], "subflow_samples": rows}
    metrics = measure(record(tmp_path / "r", tables)).metrics
    assert (metrics["share.wifi"], metrics["share.eth"]) == (0.25, 0.75)


def test_shares_of_several_clients_are_weighed_by_payload(tmp_path: Path) -> None:
    rows = [
        subflow("a", "1:1-2:1", interface="wifi", bytes_received=10),
        subflow("a", "1:2-2:1", interface="eth", bytes_received=30),
        subflow("b", "1:3-2:1", interface="wifi", bytes_received=60),
    ]
    tables = {
        "transfers": [transfer(client="a"), transfer(client="b", index=1)],
        "subflow_samples": rows,
    }
    metrics = measure(record(tmp_path / "r", tables)).metrics
    assert metrics["share.wifi"] == 0.7
    assert metrics["share.a.wifi"] == 0.25
    assert metrics["share.b.wifi"] == 1.0
    assert metrics["goodput.wifi"] == 125.0


def test_reinjected_bytes_are_the_last_counters_of_both_ends(tmp_path: Path) -> None:
    rows = [
        {"t_ns": t, "node": node, "token": 1, "bytes_retrans": value}
        for t, node, value in [(1, "client", 5), (2, "client", 7), (1, "server", 100)]
    ]
    metrics = measure(record(tmp_path / "r", {"connection_samples": rows})).metrics
    assert metrics["reinjected_bytes"] == 107


def test_completion_times_are_of_sized_transfers_without_error(tmp_path: Path) -> None:
    rows = [
        transfer(
            kind="http", index=n, start_ns=n * SECOND, end_ns=n * SECOND + n * 100 * MILLISECOND
        )
        for n in range(1, 5)
    ]
    rows.append(transfer(kind="http", index=5, error="timed out", end_ns=None))
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["completion_s"] == pytest.approx(0.25)
    assert metrics["completion_s.p50"] == pytest.approx(0.25)
    assert metrics["completion_s.p90"] == pytest.approx(0.37)
    assert metrics["completed"] == 0.8


def test_a_bulk_transfer_has_a_completion_time_only_if_it_has_a_size(tmp_path: Path) -> None:
    timed = record(tmp_path / "t", {"transfers": [transfer()]}, manifest(plan=two_paths()))
    assert "completion_s" not in measure(timed).metrics
    plan = two_paths(
        workload={"kind": "bulk", "way": "down", "duration_ns": None, "bytes": 125_000_000}
    )
    sized = record(tmp_path / "s", {"transfers": [transfer()]}, manifest(plan=plan))
    assert measure(sized).metrics["completion_s"] == 10.0


def test_latency_counts_answers_and_loss(tmp_path: Path) -> None:
    rows = [
        {"traffic": "ping", "kind": "ping", "sequence": n, "t_ns": n, "rtt_ns": rtt}
        for n, rtt in enumerate([10 * MILLISECOND, 20 * MILLISECOND, None, 60 * MILLISECOND])
    ]
    metrics = measure(record(tmp_path / "r", {"latencies": rows})).metrics
    assert metrics["latency_s"] == pytest.approx(0.03)
    assert metrics["latency_s.p50"] == pytest.approx(0.02)
    assert metrics["latency_s.p99"] == pytest.approx(0.0592)
    assert metrics["latency_loss"] == 0.25


def test_latency_is_also_told_by_traffic_item(tmp_path: Path) -> None:
    rows = [
        {"traffic": traffic, "kind": "ping", "sequence": 0, "t_ns": 0, "rtt_ns": rtt}
        for traffic, rtt in [("near", 10 * MILLISECOND), ("far", 30 * MILLISECOND)]
    ]
    metrics = measure(record(tmp_path / "r", {"latencies": rows})).metrics
    assert metrics["latency_s"] == pytest.approx(0.02)
    assert metrics["latency_s.near"] == pytest.approx(0.01)
    assert metrics["latency_s.far.p99"] == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("values", "finding"),
    [
        ({"joins": 1}, None),
        (
            {"joins": 0},
            "bulk: on 1 of 1 connections fewer subflows joined than expected (0 of 1)",
        ),
        (
            {"joins": 0, "fallback": True},
            "bulk: 1 of 1 connections fell back to TCP: one path only",
        ),
        ({"joins": 0, "protocol": "tcp"}, None),
    ],
)
def test_a_silent_single_path_is_found(
    tmp_path: Path, values: dict[str, object], finding: str | None
) -> None:
    recording = record(
        tmp_path / "r", {"transfers": [transfer(**values)]}, manifest(plan=two_paths())
    )
    measurement = measure(recording)
    assert list(measurement.single_path) == ([] if finding is None else [finding])
    if values.get("protocol") != "tcp":
        assert measurement.metrics["multipath"] == (1.0 if finding is None else 0.0)
        assert measurement.metrics["joins"] == values["joins"]


UNCONNECTED: dict[str, object] = {"joins": None, "fallback": None, "error": "refused"}


@pytest.mark.parametrize(
    ("connections", "expected_joins", "multipath"),
    [
        ([UNCONNECTED], 1, None),
        ([UNCONNECTED], 0, None),
        ([{"joins": 1}, UNCONNECTED], 1, None),
        ([{"joins": 1}, {"joins": None}], 1, None),
        ([{"joins": 1}, {"joins": None}], 0, 1.0),
        ([{"joins": 0}, UNCONNECTED], 1, 0.0),
        ([{"joins": 0, "fallback": True}, UNCONNECTED], 0, 0.0),
    ],
)
def test_multipath_is_undecided_where_a_connection_is_unknown_and_none_fell_short(
    tmp_path: Path,
    connections: list[dict[str, object]],
    expected_joins: int,
    multipath: float | None,
) -> None:
    rows = [transfer(index=index, **values) for index, values in enumerate(connections)]
    header = manifest(plan=two_paths(expected_joins=expected_joins))
    metrics = measure(record(tmp_path / "r", {"transfers": rows}, header)).metrics
    assert metrics["multipath"] == multipath
