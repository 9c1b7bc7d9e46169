"""The goals of coupled congestion control (RFC 6356, section 2) on this machine's kernel.

The catalogue's scenarios, shortened: bounds are those of the scenarios, with room for what chance
does in ten seconds. Their rates are low, so that they can run side by side.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.launch import finish, start
from tests.engine.system import needs_mptcp

from mptcplab.engine.kernel.coupled import load_refused

REFUSED = load_refused("lia")
pytestmark = [needs_mptcp, pytest.mark.skipif(REFUSED is not None, reason=str(REFUSED))]

RUNS = (
    # Flows through one bottleneck share it by chance: in ten seconds uncoupled subflows take 1.3 to
    # 2 times what one flow does.
    ("coupled-shared", ("reno",), 8),
    ("coupled-shared", ("lia",), 4),
    ("coupled-disjoint", ("tcp-fast", "lia", "wvegas"), 1),
    ("coupled-lossy", ("reno", "olia", "balia"), 1),
)
"""Scenario, variants and repetitions."""

SEED = 3
"""One whose losses are near what they are on average, also in ten seconds."""

Figures = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figures]:
    """By scenario, variant and metric; means of the repetitions."""
    folder = tmp_path_factory.mktemp("goals")
    started = [(run[0], start(_words(*run), folder)) for run in RUNS]
    found: dict[str, Figures] = {}
    for name, process in started:
        ended = finish(process)
        assert ended.returncode == 0, ended.stderr
        found.setdefault(name, {}).update(_figures(json.loads(ended.stdout)))
    return found


def _words(name: str, variants: tuple[str, ...], repetitions: int) -> list[str | Path]:
    words: list[str | Path] = ["run", f"beyond/{name}", "--engine", "kernel", "--json"]
    words += [word for variant in variants for word in ("--variant", variant)]
    words += ["--duration", "10s", "--repeat", str(repetitions), "--seed", str(SEED)]
    # Of the repetitions four at most one after the other: they mostly wait.
    words += ["--workers", str(max(1, repetitions // 4))]
    return [*words, "--out", "-".join((name, *variants))]


def _figures(report: dict[str, Any]) -> Figures:
    return {
        variant["name"]: {
            name: estimate["mean"] for name, estimate in variant["metrics"].items() if estimate
        }
        for variant in report["variants"]
    }


def test_at_a_shared_bottleneck_coupled_subflows_take_no_more_than_one_flow(
    figures: dict[str, Figures],
) -> None:
    shared = figures["coupled-shared"]
    ratio = {name: of["goodput.multihomed"] / of["goodput.single"] for name, of in shared.items()}
    assert ratio["reno"] >= 1.4
    assert ratio["lia"] <= 1.25


def test_on_disjoint_paths_they_carry_at_least_what_the_best_path_does(
    figures: dict[str, Figures],
) -> None:
    disjoint = {name: of["goodput"] for name, of in figures["coupled-disjoint"].items()}
    assert disjoint["lia"] >= disjoint["tcp-fast"]
    assert disjoint["wvegas"] >= disjoint["tcp-fast"]


def test_they_leave_the_more_congested_path(figures: dict[str, Figures]) -> None:
    bad = {name: of["share.bad"] for name, of in figures["coupled-lossy"].items()}
    assert bad["olia"] <= 0.85 * bad["reno"]
    assert bad["balia"] <= 0.85 * bad["reno"]
