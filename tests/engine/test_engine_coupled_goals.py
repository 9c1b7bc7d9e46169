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

RUNS = {
    "coupled-shared": ("reno", "lia"),
    "coupled-disjoint": ("tcp-fast", "lia", "wvegas"),
    "coupled-lossy": ("reno", "olia", "balia"),
}

SEED = 3
"""One whose losses are near what they are on average, also in ten seconds."""

Figures = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figures]:
    """By scenario, variant and metric."""
    folder = tmp_path_factory.mktemp("goals")
    started = {name: start(_words(name, variants), folder) for name, variants in RUNS.items()}
    found = {}
    for name, process in started.items():
        ended = finish(process)
        assert ended.returncode == 0, ended.stderr
        found[name] = _figures(json.loads(ended.stdout))
    return found


def _words(name: str, variants: tuple[str, ...]) -> list[str | Path]:
    words: list[str | Path] = ["run", f"beyond/{name}", "--engine", "kernel", "--json"]
    words += [word for variant in variants for word in ("--variant", variant)]
    return [*words, "--duration", "10s", "--repeat", "1", "--seed", str(SEED), "--out", name]


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
