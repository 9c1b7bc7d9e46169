"""The cross-check's cells, and the kernel's runs that are kept of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benches.cells import Cell, cells, drawn
from benches.cross_cells import Compared, as_table, of_medians
from benches.cross_subset import NAMES

from benches import kept
from mptcplab.scenario import loads, with_overrides


@pytest.fixture(scope="module")
def cell() -> Cell:
    return next(iter(drawn(1)))


def test_a_difference_is_counted_from_the_nearest_run_of_the_kernel() -> None:
    between = Compared("two paths", "goodput", [10.0, 8.0, 12.0], [9.0, 8.5, 30.0])
    beyond = replace(between, sim=[15.0])
    below = replace(between, sim=[6.0])
    assert [one.difference for one in (between, beyond, below)] == [0, 0.3, -0.2]


def test_a_difference_of_medians_counts_what_the_runs_of_the_kernel_spread_by() -> None:
    between = Compared("two paths", "goodput", [10.0, 8.0, 12.0], [9.0, 8.5, 30.0])
    every = [between, replace(between, sim=[15.0]), replace(between, sim=[6.0])]
    assert [one.of_medians for one in every] == pytest.approx([-0.1, 0.5, -0.4])
    assert [one.samples[0] for one in of_medians(every)] == pytest.approx([0.4, 0.5, 2.0])
    assert "| +30.0 % | +50.0 % |" in as_table(every)


def test_a_cell_is_another_where_a_setting_differs(cell: Cell) -> None:
    slower = replace(cell, scenario=with_overrides(cell.scenario, {"links.a.rate": "1 Mbit/s"}))
    assert kept.settings(slower) != kept.settings(cell)
    described = replace(cell, scenario=loads(f"description: paths\n{cell.scenario.text}"))
    assert kept.settings(described) == kept.settings(cell)


def test_a_default_counts_and_what_is_not_given_does_not(cell: Cell) -> None:
    client = kept.tree(cell)["hosts"]["client"]
    assert client["congestion_control"] == "cubic"
    assert client["interfaces"]["a"]["mtu"] == 1500
    assert kept.given({"new": None, "in": {"a": [], "b": False}, "mtu": 0}) == {"mtu": 0}


def test_releases_of_linux_are_not_mixed() -> None:
    old = kept.Run("two paths", "5efc81a218ce", 1, 7.5, None, "6.18.0", 2, 0.5, "2026-11-23")
    new = replace(old, kernel="6.19.0", at="2026-11-24")
    assert len(kept.by_cell([new, old])) == 2
    assert kept.latest([new, old]) == {("two paths", "5efc81a218ce"): [new]}


def test_runs_are_kept_and_found_by_name_and_settings(cell: Cell, tmp_path: Path) -> None:
    file = tmp_path / "new" / "cells.jsonl"
    assert kept.read(file) == []
    run = kept.Run(cell.name, "5efc81a218ce", 1, 7.5, None, "6.18.0", 2, 0.5, "2026-11-23")
    for each in (run, replace(run, seed=2), replace(run, settings="000000000000")):
        kept.append(file, each)
    found = kept.by_cell(kept.read(file))
    assert [each.seed for each in found[cell.name, "5efc81a218ce", "6.18.0"]] == [1, 2]
    assert run.figures() == {"goodput": 7.5}


def test_every_cell_has_a_name_of_its_own_and_the_subset_names_some() -> None:
    names = [cell.name for cell in (*cells(), *drawn())]
    assert len(set(names)) == len(names) == 233
    assert set(NAMES) <= set(names)


def test_the_kernels_runs_are_kept_of_every_cell() -> None:
    runs = kept.latest(kept.read(kept.KEPT))
    for cell in (*cells(), *drawn()):
        assert len(runs.get((cell.name, kept.settings(cell)), [])) >= 3, cell.name
    assert all(json.loads(run.line()) for of in runs.values() for run in of)
