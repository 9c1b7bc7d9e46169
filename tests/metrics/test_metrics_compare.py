"""Variants side by side, and findings judged."""

import os
from pathlib import Path

import pytest
from tests.metrics.plans import carrier, end, interface, link, node, two_paths
from tests.recording.handmade import (
    SECOND,
    Protocol,
    description,
    manifest,
    record,
    result,
    transfer,
)

from mptcplab.metrics import DEFINITIONS, compare, definition_of, judge
from mptcplab.recording import Lab, Result, Status, Writer
from mptcplab.recording.manifest import Json

VARIED = "vary_start_ns"
VARIANTS: list[tuple[str, Protocol]] = [("tcp-wifi", "tcp"), ("tcp-eth", "tcp"), ("mptcp", "mptcp")]


def add(
    made: Result,
    variant: str,
    protocol: Protocol,
    repetition: int,
    carried_mbps: dict[str, int],
    *,
    status: Status = Status.COMPLETE,
    warnings: tuple[str, ...] = (),
    joins: int = 1,
    error: str | None = None,
    engine: str = "kernel",
    settings: Json | None = None,
    kind: str = "bulk",
) -> None:
    """A download of 10 s that carries so many Mbit/s over each interface."""
    total = sum(carried_mbps.values())
    plan: Json = two_paths(workload={"kind": kind})
    subflows = [
        {
            "t_ns": SECOND,
            "node": "client",
            "subflow": f"10.0.{1 if name == 'wifi' else 2}.1:4000-10.0.1.2:5001",
            "bytes_received": rate * 1_250_000,
        }
        for name, rate in carried_mbps.items()
    ]
    row = transfer(protocol=protocol, bytes=total * 1_250_000, joins=joins, error=error)
    record(
        made.recording_folder(variant, repetition),
        {"transfers": [row], "subflow_samples": subflows},
        manifest(variant, protocol, repetition, plan, warnings).model_copy(
            update={"engine": engine, "settings": settings or {}}
        ),
        status,
    )


@pytest.fixture
def made(tmp_path: Path) -> Result:
    made = result(tmp_path / "out", description(VARIANTS, repetitions=2))
    for repetition, wifi, eth, both in [
        (1, 40, 90, {"wifi": 40, "eth": 90}),
        (2, 50, 90, {"wifi": 30, "eth": 85}),
    ]:
        add(made, "tcp-wifi", "tcp", repetition, {"wifi": wifi})
        add(made, "tcp-eth", "tcp", repetition, {"eth": eth})
        add(made, "mptcp", "mptcp", repetition, both)
    return made


def test_figures_are_means_over_repetitions_with_their_intervals(made: Result) -> None:
    wifi, _, mptcp = compare(made)
    goodput = wifi.metrics["goodput"]
    assert goodput.samples == (40.0, 50.0)
    assert goodput.mean == 45.0
    # s = 50/√50, s/√2 = 5, t(0.975, 1) = 12.7062
    assert goodput.ci95 == pytest.approx((45 - 63.531, 45 + 63.531), abs=1e-3)
    assert [(p.interface, p.goodput_mbps.mean) for p in mptcp.paths] == [
        ("wifi", 35.0),
        ("eth", 87.5),
    ]
    assert mptcp.paths[0].share.samples == pytest.approx((40 / 130, 30 / 115))
    assert mptcp.warnings == ()


def test_the_benefit_compares_with_the_single_paths_of_the_same_repetition(made: Result) -> None:
    wifi, _, mptcp = compare(made)
    assert mptcp.metrics["aggregation_benefit"].samples == (1.0, 0.5)
    assert "aggregation_benefit" not in wifi.metrics
    assert "delay_benefit" not in mptcp.metrics


def test_without_a_second_single_path_there_is_no_benefit(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp"), ("mptcp", "mptcp")]))
    add(made, "tcp", "tcp", 1, {"eth": 90})
    add(made, "mptcp", "mptcp", 1, {"eth": 90, "wifi": 40})
    assert "aggregation_benefit" not in compare(made)[1].metrics


def test_incomplete_repetitions_do_not_count_where_there_are_complete_ones(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=3))
    add(made, "mptcp", "mptcp", 1, {"eth": 90})
    add(made, "mptcp", "mptcp", 2, {"eth": 10}, status=Status.INTERRUPTED)
    [mptcp] = compare(made)
    assert mptcp.metrics["goodput"].samples == (90.0,)
    assert mptcp.metrics["goodput"].ci95 is None
    assert mptcp.warnings == ("1 of 3 repetitions complete", "repetition 2 interrupted")


def test_a_failed_repetition_does_not_count_and_its_reason_is_shown(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    warnings = ("no such congestion control: vegas",)
    add(made, "mptcp", "mptcp", 1, {"eth": 90}, status=Status.FAILED, warnings=warnings)
    [mptcp] = compare(made)
    assert dict(mptcp.metrics) == {}
    assert mptcp.warnings == (
        "0 of 1 repetitions complete",
        "repetition 1 failed: no such congestion control: vegas",
    )


def test_a_repetition_that_still_runs_is_named(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    writer = Writer(made.recording_folder("mptcp", 1), manifest())
    writer.ready(Lab(pid=os.getpid(), nodes={}))
    [mptcp] = compare(made)
    assert mptcp.warnings == ("0 of 1 repetitions complete", "repetition 1 is still running")


def test_a_repetition_without_a_manifest_is_named(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=2))
    add(made, "mptcp", "mptcp", 1, {"eth": 90})
    Writer(made.recording_folder("mptcp", 2), manifest())
    [mptcp] = compare(made)
    assert mptcp.warnings == (
        "1 of 2 repetitions complete",
        "repetition 2 has no manifest: it has not ended, was killed, or could not be written",
    )


def test_interrupted_repetitions_count_where_there_is_nothing_else_and_it_is_said(
    tmp_path: Path,
) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp"), ("tcp", "tcp")]))
    add(made, "mptcp", "mptcp", 1, {"eth": 10}, status=Status.INTERRUPTED)
    mptcp, tcp = compare(made)
    assert mptcp.metrics["goodput"].mean == 10.0
    assert mptcp.warnings == (
        "0 of 1 repetitions complete",
        "the figures rest on interrupted runs",
    )
    assert tcp.runs == ()
    assert dict(tcp.metrics) == {}


def test_warnings_say_which_repetitions_they_concern(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=2))
    add(made, "mptcp", "mptcp", 1, {"eth": 90}, joins=0, warnings=("no route by source",))
    add(made, "mptcp", "mptcp", 2, {"eth": 90}, warnings=("no route by source",))
    [mptcp] = compare(made)
    assert mptcp.warnings == (
        "not multipath: bulk: on 1 of 1 connections fewer subflows joined than expected (0 of 1) "
        "(repetition 1)",
        "no route by source",
    )


def test_failed_transfers_are_told_of_with_the_first_reason(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp")], repetitions=3))
    for repetition, error in enumerate([None, "connect: timed out", "send: reset"], start=1):
        add(made, "tcp", "tcp", repetition, {"eth": 90}, error=error)
    [tcp] = compare(made)
    assert tcp.warnings == (
        "2 of 3 transfers failed; the first, in repetition 2: connect: timed out",
    )


ONE_RUN = (
    "all 2 repetitions are one run: nothing in the scenario is left to chance, so there is nothing "
    "to repeat"
)
ALIKE = (
    "all 2 repetitions have the same figures, and count as one run: nothing depends on what is "
    "left to chance"
)


@pytest.mark.parametrize(
    ("engine", "kind", "second", "told"),
    [
        ("sim", "datagrams", 90, ONE_RUN),
        ("sim", "bulk", 90, ALIKE),
        ("sim", "bulk", 91, None),
        ("kernel", "bulk", 90, None),
    ],
)
def test_repetitions_that_are_one_run_are_said_to_be(
    tmp_path: Path, engine: str, kind: str, second: int, told: str | None
) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp")], repetitions=2))
    add(made, "tcp", "tcp", 1, {"eth": 90}, engine=engine, kind=kind)
    add(made, "tcp", "tcp", 2, {"eth": second}, engine=engine, kind=kind)
    [tcp] = compare(made)
    assert tcp.warnings == ((told,) if told else ())
    assert tcp.sample_size == (1 if told else 2)
    assert tcp.metrics["goodput"].samples == (90.0, second)
    assert (tcp.metrics["goodput"].ci95 is None) == bool(told)
    assert (tcp.paths[0].goodput_mbps.ci95 is None) == bool(told)


def test_starts_that_change_no_figure_are_told_as_such(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp")], repetitions=2))
    for repetition in (1, 2):
        settings: Json = {VARIED: 5}
        add(
            *(made, "tcp", "tcp", repetition, {"eth": 90}),
            engine="sim",
            settings=settings,
            kind="datagrams",
        )
    [tcp] = compare(made)
    assert tcp.sample_size == 1
    assert tcp.warnings == (
        "all 2 repetitions have the same figures: only when traffic starts is left to chance, and "
        "nothing depends on it",
    )


def test_an_interrupted_transfer_has_not_failed(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp")], repetitions=1))
    add(made, "tcp", "tcp", 1, {"eth": 90}, status=Status.INTERRUPTED, error="interrupted")
    [tcp] = compare(made)
    assert not any("failed" in warning for warning in tcp.warnings)


@pytest.mark.parametrize(
    ("text", "held", "sides", "reason"),
    [
        ("mptcp.goodput >= 0.9 * (tcp-wifi.goodput + tcp-eth.goodput)", True, (122.5, 121.5), None),
        ("mptcp.goodput >= 130 Mbit/s", False, (122.5, 130), None),
        ("mptcp.share.eth > 10 %", True, ((90 / 130 + 85 / 115) / 2, 0.1), None),
        (
            "mptcp.share.eth > 50 %",
            None,
            ((90 / 130 + 85 / 115) / 2, 0.5),
            "0.7157 > 0.5, but the difference is chance: 0.22 ± 0.3",
        ),
        (
            "mptcp.goodput > 122",
            None,
            (122.5, 122),
            "122.5 > 122, but the sides are less than 1 % apart",
        ),
        ("mptcp.recovery_s <= 1 s", None, (None, 1), "mptcp.recovery_s has no value"),
        ("mptcp.speed > 1", None, (None, 1), "mptcp.speed: there is no such metric"),
        ("udp.goodput > 1", None, (None, 1), "udp is not in this result"),
        ("mptcp.goodput / 0 > 1", None, (None, 1), "a division by zero"),
    ],
)
def test_findings_are_judged_by_the_means(
    made: Result,
    text: str,
    held: bool | None,
    sides: tuple[float | None, float | None],
    reason: str | None,
) -> None:
    [verdict] = judge([text], compare(made))
    assert (verdict.text, verdict.held, verdict.reason) == (text, held, reason)
    [side] = verdict.sides
    assert (side.left, side.right) == pytest.approx(sides)


def fail(made: Result, repetition: int, back_s: float | None = None) -> None:
    """A download of 10 s whose link fails at 4 s, and which goes on at `back_s` if it does."""
    failure = carrier(4 * SECOND, "eth fails", 1, up=False)
    back_ns = 10 * SECOND if back_s is None else round(back_s * SECOND)
    bins = [
        {"traffic": "bulk", "index": 0, "way": "down", "t_ns": t, "bytes": 1}
        for t in range(0, 10 * SECOND, 10_000_000)
        if not 4 * SECOND <= t < back_ns
    ]
    tables: dict[str, list[dict[str, object]]] = {
        "transfers": [transfer()],
        "deliveries": bins,
        "events": [{"t_ns": 4 * SECOND, "kind": "link", "subject": "eth", "label": "eth fails"}],
    }
    header = manifest("mptcp", "mptcp", repetition, two_paths(failure))
    record(made.recording_folder("mptcp", repetition), tables, header)


def test_a_recovery_that_the_end_cut_off_is_undecided(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    fail(made, 1)
    [verdict] = judge(["mptcp.recovery_s <= 1 s"], compare(made))
    assert verdict.held is None
    assert verdict.reason == "mptcp.recovery_s: not recovered before the end of the run"


def test_repetitions_that_never_recover_leave_no_mean(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=3))
    fail(made, 1, back_s=4.5)
    fail(made, 2)
    fail(made, 3)
    variants = compare(made)
    recovery = variants[0].metrics["recovery_s"]
    assert recovery.samples == (0.5, None, None)
    assert (recovery.mean, recovery.ci95) == (None, None)
    [verdict] = judge(["mptcp.recovery_s <= 1 s"], variants)
    assert verdict.held is None
    assert verdict.reason == "mptcp.recovery_s: recovered in only 1 of 3 repetitions"


def test_recoveries_that_all_came_have_their_mean(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=2))
    fail(made, 1, back_s=4.5)
    fail(made, 2, back_s=5.5)
    [mptcp] = compare(made)
    assert mptcp.metrics["recovery_s"].mean == pytest.approx(1.0)


def test_a_link_away_from_the_clients_has_no_recovery_and_the_reason_says_so(
    tmp_path: Path,
) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    events = [
        carrier(4 * SECOND, "core fails", 2, up=False),
        carrier(6 * SECOND, "core is back", 2, up=True),
    ]
    plan = two_paths(*events)
    plan["nodes"] += [node(name, interface("core")) for name in ("r1", "r2")]  # type: ignore[operator]
    plan["links"] += [link("core", end(2, 0), end(3, 0))]  # type: ignore[operator]
    samples = [
        {"t_ns": t * SECOND, "node": node, "interface": name, "rx_bytes": t * 1000, "tx_bytes": 0}
        for t in range(20)
        for node, name in [("client", "eth"), ("r1", "core")]
    ]
    happened = [
        {"t_ns": event["at_ns"], "kind": "link", "subject": "core", "label": event["label"]}
        for event in events
    ]
    tables = {"transfers": [transfer()], "events": happened, "interface_samples": samples}
    record(made.recording_folder("mptcp", 1), tables, manifest(plan=plan))
    [verdict] = judge(["mptcp.recovery_s.core <= 1 s"], compare(made))
    assert verdict.held is None
    assert verdict.reason == (
        "mptcp.recovery_s.core has no value: only a client's interface, or a link at one, that was "
        "in use, failed and came back has one"
    )


def test_a_finding_that_cannot_be_read_is_undecided(made: Result) -> None:
    [verdict] = judge(["mptcp.goodput >="], compare(made))
    assert verdict.held is None
    assert verdict.reason is not None
    assert verdict.reason.startswith("cannot be read: ")


def test_every_metric_that_is_computed_is_defined(made: Result) -> None:
    for variant in compare(made):
        for name in variant.metrics:
            assert definition_of(name) is not None, name


def test_names_with_a_part_are_defined_only_where_parts_mean_something() -> None:
    assert definition_of("goodput.wifi") is DEFINITIONS["goodput"]
    assert definition_of("multipath.wifi") is None
    assert definition_of("speed") is None


def test_an_mptcp_variant_is_compared_with_tcp_that_does_the_same(tmp_path: Path) -> None:
    names: list[tuple[str, Protocol]] = [
        ("tcp-1m", "tcp"),
        ("tcp-5m", "tcp"),
        ("mptcp-1m", "mptcp"),
        ("mptcp-5m", "mptcp"),
    ]
    made = result(tmp_path / "out", description(names))
    for name, protocol in names:
        size = 1_000_000 if name.endswith("1m") else 5_000_000
        plan = two_paths(workload={"kind": "http", "bytes": size, "count": 1})
        row = transfer(protocol=protocol, kind="http", bytes=size)
        header = manifest(name, protocol, plan=plan)
        record(made.recording_folder(name, 1), {"transfers": [row]}, header)
    assert [variant.plain for variant in compare(made)] == [(), (), ("tcp-1m",), ("tcp-5m",)]
