"""Scenarios fitted to paths that were measured, here by simulated transfers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import pytest

from mptcplab.engine import run
from mptcplab.fit import FitError, explained, why
from mptcplab.measure.figures import Figures, SizeFigures
from mptcplab.measure.html import to_html
from mptcplab.measure.passing import Passing
from mptcplab.measure.plan import Direction, Path
from mptcplab.measure.survival import Survival
from mptcplab.measure.transfer import Transfer
from mptcplab.metrics.at_once import at_once
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.statistics import Estimate, estimate
from mptcplab.recording import Recording
from mptcplab.scenario import loads

SIZE = 4_000_000
FAST, SLOW = (20.0, 5.0), (2.0, 60.0)
NOTHING = estimate([])
ALIVE, NOT_JOINED = Survival(capable=True, join=True), Survival(capable=True, join=False)


def tree(links: Sequence[tuple[float, float]], shared_mbps: float = 1000.0) -> dict[str, Any]:
    """Paths of these rates and delays to a server behind a link that they share."""
    names = [f"if{number}" for number in range(len(links))]
    return {
        "name": "known",
        "hosts": {
            "here": {"interfaces": {name: {} for name in names}},
            "there": {"interfaces": {"net": {}}},
        },
        "routers": {"r": {}},
        "links": {
            name: {"between": [f"here.{name}", f"r.{name}"], "rate": f"{rate} Mbit/s",
                   "delay": f"{delay} ms"}
            for name, (rate, delay) in zip(names, links, strict=True)
        }
        | {"net": {"between": ["r.net", "there.net"], "rate": f"{shared_mbps} Mbit/s",
                   "queue": "500 packets"}},
        "traffic": [{"http": {"from": "here", "to": "there", "size": f"{SIZE} B"}}],
        "variants": {"mptcp": {}, "at-once": {"protocol": "tcp", "via": names}}
        | {name: {"protocol": "tcp", "via": name} for name in names},
    }  # fmt: skip


def lasted_s(recording: Recording) -> float:
    (row,) = recording.transfers.iter_rows(named=True)
    return float(row["end_ns"] - row["connected_ns"]) / 1e9


def rate(time_s: float) -> float:
    return 8e-6 * SIZE / time_s


def measured(made: dict[str, Any], folder: File, **changes: Any) -> Figures:
    """The figures that a probe would have of a network, each twice."""
    scenario = loads(json.dumps(made), "known")

    def ran(variant: str) -> Recording:
        return run(scenario, variant, folder / variant, engine="sim")

    names = list(made["hosts"]["here"]["interfaces"])
    paths = tuple(Path(name, f"10.0.{number}.1", None, number) for number, name in enumerate(names))
    times = [lasted_s(ran(name)) for name in names]
    mptcp_s = lasted_s(ran("mptcp"))
    recording = ran("at-once")
    together = at_once(recording, PlanView(recording)).goodput_mbps
    assert together is not None
    best = max(map(rate, times))
    transfers = [Transfer(rate(mptcp_s), mptcp_s, is_mptcp=True, subflows=2, begin=0)] * 2
    size = SizeFigures(
        SIZE,
        tuple(estimate([one, one]) for one in times),
        estimate([mptcp_s, mptcp_s]),
        tuple(estimate([rate(one), rate(one)]) for one in times),
        estimate([rate(mptcp_s)] * 2),
        estimate([together, together]),
        NOTHING,
        estimate([rate(mptcp_s) / best - 1] * 2),
        tuple(transfers),
        (0,) * len(names),
    )
    told: dict[str, Any] = {
        "paths": paths,
        "survival": (ALIVE,) * len(paths),
        "idle_rtt": tuple(
            estimate([2 * float(made["links"][name]["delay"].split()[0])] * 2) for name in names
        ),
        "loaded_rtt": (NOTHING,) * len(paths),
        "idle_rtts": ((),) * len(paths),
        "loaded_rtts": ((),) * len(paths),
        "sizes": {Direction.DOWN: (size,), Direction.UP: ()},
        "endpoints": 2,
        "add_addr": None,
        "passing": (Passing(),) * len(paths),
    }
    return Figures(**told | changes)


def test_rates_are_those_of_the_network_and_the_cause_is_named(tmp_path: File) -> None:
    found = explained(measured(tree([FAST, SLOW]), tmp_path), workers=2)
    assert [one.rate_mbps for one in found.links] == pytest.approx([20, 2], rel=0.02)
    assert [one.delay_ms for one in found.links] == pytest.approx([5, 60], rel=0.01)
    assert found.shared_mbps is None
    mptcp = found.beside[0]
    assert mptcp.figure == "mptcp_mbps"
    assert abs(mptcp.part) < 0.1
    assert found.told.causes[0].name in ("head_of_line_blocking", "send_buffer_too_small")
    best = found.told.remedies[0]
    assert best.goodput.mean is not None
    assert best.goodput.mean > 1.5 * mptcp.simulated
    told = why(found)
    assert "a scenario fitted to TCP over each path fits" in told.sentences[0]
    assert any("The main cause: " in sentence for sentence in told.sentences)
    assert [table.title for table in told.tables] == [
        "Causes", "Single changes that help", "The fitted paths",
    ]  # fmt: skip
    # Commands are for the real hosts.
    backup = [one.change.settings for one in found.told.remedies if "backup" in str(one.change)]
    assert ["ip mptcp endpoint change 10.0.1.1 backup  # client"] in backup
    assert "redundant" not in told.settings[0]
    kept = json.loads(json.dumps(found.to_json()))
    assert kept["bytes"] == SIZE
    assert kept["causes"][0]["name"] == found.told.causes[0].name


def test_a_link_that_paths_share_is_found(tmp_path: File) -> None:
    made = tree([(20.0, 5.0), (20.0, 10.0)], shared_mbps=22.0)
    found = explained(measured(made, tmp_path), workers=2)
    assert found.shared_mbps == pytest.approx(22, rel=0.03)
    assert f"they share a link of {found.shared_mbps:.3g} Mbit/s" in why(found).sentences[1]


def test_paths_have_the_names_of_their_interfaces(tmp_path: File) -> None:
    figures = measured(tree([FAST, SLOW]), tmp_path)
    names = ("enp0s31f6.100", "wlan-é")
    paths = [replace(one, interface=name) for one, name in zip(figures.paths, names, strict=True)]
    told = explained(replace(figures, paths=tuple(paths)), workers=2).told
    assert {one.path for one in told.causes} <= {*names, None}
    assert any(one.path == "wlan-é" for one in told.causes)


def test_transfers_that_did_not_finish_do_not_decide_on_the_first_path(tmp_path: File) -> None:
    figures = measured(tree([FAST, (10.0, 20.0)]), tmp_path)
    (size,) = figures.sizes[Direction.DOWN]
    cut = [Transfer(None, None, None, is_mptcp=True, begin=1)] * 3
    sizes = {Direction.DOWN: (replace(size, mptcp=(*size.mptcp, *cut)),), Direction.UP: ()}
    found = explained(replace(figures, sizes=sizes), workers=2)
    assert [one.interface for one in found.links] == ["if0", "if1"]


def test_the_page_has_the_section(tmp_path: File) -> None:
    figures = measured(tree([FAST, (10.0, 20.0)]), tmp_path)
    page = to_html(figures, "there", "now", why(explained(figures, workers=2)))
    assert ">Why</h2>" in page
    assert "The fitted paths" in page
    assert ">Why</h2>" not in to_html(figures, "there", "now")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"survival": (ALIVE, NOT_JOINED)}, "MPTCP does not survive on if1"),
        ({"idle_rtt": (Estimate((), None, None),) * 2}, "the round trip of a path is not known"),
        ({"sizes": dict.fromkeys(Direction, ())}, "no size has times of TCP over each path"),
    ],
)
def test_figures_that_are_not_there_are_told(
    tmp_path: File, changes: dict[str, Any], reason: str
) -> None:
    figures = measured(tree([FAST, (10.0, 20.0)]), tmp_path, **changes)
    with pytest.raises(FitError, match=reason):
        explained(figures)
