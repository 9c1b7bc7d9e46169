"""TCP over all paths at once, beside MPTCP: the benefits of paths with common links."""

from pathlib import Path
from typing import cast

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import (
    MILLISECOND,
    SECOND,
    Protocol,
    description,
    manifest,
    record,
    result,
    transfer,
)

from mptcplab.metrics import VariantMetrics, compare
from mptcplab.metrics.at_once import at_once
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Result
from mptcplab.recording.manifest import Json

HTTP: Json = {"kind": "http", "bytes": 1_000_000, "count": 1}
ADDRESS = {"wifi": "10.0.1.1", "eth": "10.0.2.1"}


def plan_of(interfaces: list[str], workload: Json | None) -> Json:
    """The plan of two paths, with the flow over each of these interfaces."""
    made = two_paths(workload=workload)
    [flow] = cast("list[Json]", made["traffic"])
    names = {
        interface: f"get-{interface}" if len(interfaces) > 1 else "get" for interface in ADDRESS
    }
    made["traffic"] = [
        flow | {"name": names[one], "source": ADDRESS[one], "port": 5001 + place}
        for place, one in enumerate(interfaces)
    ]
    return made


def add(
    made: Result,
    variant: str,
    protocol: Protocol,
    over: dict[str, list[int]],
    workload: Json | None = HTTP,
    seconds: int | None = None,
) -> None:
    """A run in which each flow gets so many bytes in one bin of 10 ms after the other."""
    several = len(over) > 1 and protocol == "tcp"
    rows, deliveries, samples = [], [], []
    for interface, bins in over.items():
        name = f"get-{interface}" if several else "get"
        kind = "bulk" if workload is None else "http"
        end_ns = len(bins) * 10 * MILLISECOND if seconds is None else seconds * SECOND
        rows.append(
            transfer(
                traffic=name,
                kind=kind,
                protocol=protocol,
                first_byte_ns=0,
                end_ns=end_ns,
                bytes=sum(bins),
            )
        )
        deliveries += [
            {
                "traffic": name,
                "index": 0,
                "way": "down",
                "t_ns": n * 10 * MILLISECOND,
                "bytes": size,
            }
            for n, size in enumerate(bins)
        ]
        samples.append(
            {
                "t_ns": SECOND,
                "node": "client",
                "subflow": f"{ADDRESS[interface]}:4000-10.0.1.2:5001",
                "bytes_received": sum(bins),
            }
        )
    tables = {"transfers": rows, "deliveries": deliveries, "subflow_samples": samples}
    plan = plan_of(list(over) if protocol == "tcp" else ["wifi"], workload)
    record(made.recording_folder(variant, 1), tables, manifest(variant, protocol, plan=plan))


def compared(folder: Path, names: list[tuple[str, Protocol]], **runs: object) -> VariantMetrics:
    made = result(folder, description(names))
    for name, protocol in names:
        add(made, name, protocol, **runs[name])  # type: ignore[arg-type]
    return compare(made)[-1]


NAMES: list[tuple[str, Protocol]] = [
    ("wifi", "tcp"),
    ("eth", "tcp"),
    ("both", "tcp"),
    ("mptcp", "mptcp"),
]


def test_the_delay_benefit_is_of_what_all_paths_at_once_delivered(tmp_path: Path) -> None:
    alone = [100_000] * 10
    runs = {
        "wifi": {"over": {"wifi": alone}},
        "eth": {"over": {"eth": alone}},
        # A common link: 75 kB of each in 10 ms, the whole 1 MB after 66.7 ms.
        "both": {"over": {"wifi": [75_000] * 13 + [25_000], "eth": [75_000] * 13 + [25_000]}},
        "mptcp": {"over": {"wifi": [1_000_000 // 8] * 8}},
    }
    mptcp = compared(tmp_path / "out", NAMES, **runs)
    assert mptcp.plain == ("wifi", "eth")
    # 100 ms alone, 80 ms with MPTCP, 66.7 ms at once.
    assert mptcp.metrics["delay_benefit"].mean == pytest.approx(20 / (100 - 1000 / 15))
    assert mptcp.metrics["aggregation_benefit"].mean == pytest.approx((100 - 80) / (120 - 80))


def test_the_aggregation_benefit_of_timed_transfers_is_of_the_rate_at_once(tmp_path: Path) -> None:
    runs = {
        "wifi": {"over": {"wifi": [10_000_000]}, "workload": None, "seconds": 10},
        "eth": {"over": {"eth": [10_000_000]}, "workload": None, "seconds": 10},
        "both": {
            "over": {"wifi": [6_000_000], "eth": [6_000_000]},
            "workload": None,
            "seconds": 10,
        },
        "mptcp": {"over": {"wifi": [11_000_000]}, "workload": None, "seconds": 10},
    }
    mptcp = compared(tmp_path / "out", NAMES, **runs)
    assert mptcp.metrics["aggregation_benefit"].mean == pytest.approx(0.5)
    assert "delay_benefit" not in mptcp.metrics


def test_without_the_variant_the_paths_count_as_disjoint(tmp_path: Path) -> None:
    alone = [100_000] * 10
    runs = {
        "wifi": {"over": {"wifi": alone}},
        "eth": {"over": {"eth": alone}},
        "mptcp": {"over": {"wifi": [1_000_000 // 8] * 8}},
    }
    names = [entry for entry in NAMES if entry[0] != "both"]
    mptcp = compared(tmp_path / "out", names, **runs)
    assert mptcp.metrics["delay_benefit"].mean == pytest.approx(20 / 50)


def test_a_run_that_did_not_deliver_all_says_nothing(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("both", "tcp")]))
    rows = [transfer(traffic="get-wifi", kind="http", protocol="tcp", error="reset")]
    header = manifest("both", "tcp", plan=plan_of(["wifi", "eth"], HTTP))
    recording = record(made.recording_folder("both", 1), {"transfers": rows}, header)
    found = at_once(recording, PlanView(recording))
    assert (found.goodput_mbps, found.time_s) == (None, None)
