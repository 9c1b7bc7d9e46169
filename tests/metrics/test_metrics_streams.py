"""Streams, establishment and overhead of recordings made by hand."""

from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import MILLISECOND, SECOND, manifest, record, transfer

from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.recording.manifest import Json


def streams(folder: Path, *payloads: int, **values: object) -> Recording:
    rows = [
        transfer(index=index, bytes=payload, **values) for index, payload in enumerate(payloads)
    ]
    return record(folder, {"transfers": rows})


def test_streams_have_shares_of_their_payload_and_an_index_of_fairness(tmp_path: Path) -> None:
    metrics = measure(streams(tmp_path / "r", 10_000_000, 30_000_000)).metrics
    assert metrics["stream_share.1"] == 0.25
    assert metrics["stream_share.2"] == 0.75
    assert metrics["stream_share.bulk.2"] == 0.75
    assert metrics["jain.streams"] == pytest.approx(4**2 / (2 * (1 + 9)))
    assert metrics["jain"] is None


def test_items_have_shares_of_their_own(tmp_path: Path) -> None:
    rows = [
        transfer(traffic=traffic, index=index, bytes=payload)
        for traffic, index, payload in [("a", 0, 10), ("a", 1, 30), ("b", 0, 60), ("b", 1, 60)]
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["stream_share.2"] == 90 / 160
    assert metrics["stream_share.a.2"] == 0.75
    assert metrics["stream_share.b.2"] == 0.5


def test_a_stream_has_each_way_a_rate_of_its_own(tmp_path: Path) -> None:
    rows = [
        transfer(way=way, index=index, bytes=payload)
        for way, index, payload in [("up", 0, 10), ("up", 1, 10), ("down", 0, 30), ("down", 1, 30)]
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["stream_share.1"] == 0.5
    assert metrics["jain.streams"] == pytest.approx(8**2 / (4 * (1 + 1 + 9 + 9)))


def test_one_stream_and_downloads_one_after_the_other_are_no_streams(tmp_path: Path) -> None:
    one = measure(streams(tmp_path / "one", 10_000_000)).metrics
    downloads = measure(streams(tmp_path / "downloads", 10, 20, kind="http")).metrics
    for metrics in (one, downloads):
        assert not [name for name in metrics if name.startswith(("stream_share", "jain.streams"))]


def test_a_transfer_with_one_stream_is_none_of_the_streams_beside_it(tmp_path: Path) -> None:
    rows = [
        transfer(traffic=traffic, index=index, bytes=payload)
        for traffic, index, payload in [("five", 0, 10), ("five", 1, 30), ("one", 0, 60)]
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows})).metrics
    assert metrics["stream_share.1"] == 0.25
    assert metrics["jain.streams"] == pytest.approx(4**2 / (2 * (1 + 9)))
    assert "stream_share.one.1" not in metrics


def test_establishment_lasts_to_the_handshake_and_to_each_join(tmp_path: Path) -> None:
    rows = [
        transfer(index=0, start_ns=SECOND, connected_ns=SECOND + 10 * MILLISECOND),
        transfer(index=1, start_ns=2 * SECOND, connected_ns=2 * SECOND + 30 * MILLISECOND),
        transfer(index=2, start_ns=3 * SECOND, connected_ns=None, error="refused"),
    ]
    joins = [
        {"traffic": "bulk", "index": index, "way": "down", "number": number, "t_ns": t_ns}
        for index, number, t_ns in [
            (0, 1, SECOND + 40 * MILLISECOND),
            (0, 2, SECOND + 90 * MILLISECOND),
            (1, 1, 2 * SECOND + 60 * MILLISECOND),
        ]
    ]
    metrics = measure(record(tmp_path / "r", {"transfers": rows, "joins": joins})).metrics
    assert metrics["establishment_s"] == pytest.approx(0.02)
    assert metrics["establishment_s.join1"] == pytest.approx(0.05)
    assert metrics["establishment_s.join2"] == pytest.approx(0.09)
    assert "establishment_s.join3" not in metrics


def sent(tmp_path: Path, kind: str = "bulk", payload: int = 900) -> dict[str, float | None]:
    """A subflow of 900 B that the server sent, in packets of 1000 B with 50 B of answers."""
    subflow: dict[str, object] = {"t_ns": SECOND, "token": 1}
    link: dict[str, object] = {"t_ns": SECOND, "link": "air"}
    tables: dict[str, list[dict[str, object]]] = {
        "transfers": [transfer()],
        "subflow_samples": [
            subflow | {"node": "client", "subflow": "10.0.1.1:1-10.0.1.2:2", "bytes_sent": 0},
            subflow
            | {"node": "server", "subflow": "10.0.1.2:2-10.0.1.1:1"}
            | {"bytes_sent": payload},
        ],
        "link_samples": [
            link | {"from": "client.wifi", "to": "server.wifi", "offered_bytes": 50},
            link | {"from": "server.wifi", "to": "client.wifi", "offered_bytes": 400},
            link
            | {"t_ns": 2 * SECOND, "from": "server.wifi", "to": "client.wifi"}
            | {"offered_bytes": 1000},
        ],
    }
    workload: Json = {"kind": kind}
    plan = two_paths(workload=workload)
    return dict(measure(record(tmp_path / kind, tables, manifest(plan=plan))).metrics)


def test_header_overhead_is_what_the_hosts_send_beside_payload(tmp_path: Path) -> None:
    assert sent(tmp_path)["header_overhead"] == pytest.approx(150 / 1050)


def test_header_overhead_is_0_where_the_links_were_offered_less_than_was_sent(
    tmp_path: Path,
) -> None:
    assert sent(tmp_path, payload=1100)["header_overhead"] == 0.0


def test_header_overhead_is_not_known_without_payload(tmp_path: Path) -> None:
    assert sent(tmp_path, payload=0)["header_overhead"] is None


def test_there_is_no_header_overhead_beside_what_is_no_transfer(tmp_path: Path) -> None:
    assert "header_overhead" not in sent(tmp_path, "command")
