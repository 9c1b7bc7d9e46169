"""The grid on which the policies of the controller are compared, and a part of it."""

from __future__ import annotations

import io
import statistics

import pytest
from benches.selector import Compared, measured, write
from benches.selector_cells import (
    OURS,
    POLICIES,
    RUNS,
    SIZES,
    TCP_FALLBACK,
    Cell,
    cells,
    completion_s,
    drawn,
    scenario_of,
)

from benches import selector_kernel
from mptcplab.engine.compile import compile_plan


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    """A short and a long transfer over paths of equal delays and unequal rates."""
    kept = [
        cell
        for cell in cells()
        if cell.delay_ratio == 1 and cell.gap in (0.2, 0.9) and cell.size in (34_000, 4_387_000)
    ]
    return measured(kept, 1)


def test_the_grid_has_each_cell_once_and_its_mirror() -> None:
    every = list(cells())
    assert len(every) >= 1000
    assert len(set(every)) == len(every)
    assert {cell.mirrored for cell in every} == set(every)
    assert all(cell.mirrored.paths == cell.paths[::-1] for cell in every)


def test_a_cell_has_the_same_time_always() -> None:
    cell = Cell(34_000, 0.2, 1, is_first_slow=True, is_first_late=False)
    assert completion_s(cell, OURS, 1) == completion_s(cell, OURS, 1)


def test_ours_is_near_the_best_set_of_paths(compared: list[Compared]) -> None:
    assert len(compared) == 8
    for one in compared:
        assert one.beside_set <= 1.02, one
        assert one.beside_best(OURS) <= 1.10, one
        assert one.beside_best(TCP_FALLBACK) <= 1.02, one


def test_ours_is_much_faster_where_the_reference_path_is_slow(compared: list[Compared]) -> None:
    of_grid = [(one, one.cell) for one in compared if isinstance(one.cell, Cell)]
    slow = [one for one, cell in of_grid if cell.is_first_slow and cell.gap == 0.9]
    assert len(slow) == 2
    assert all(one.beside_mpsshetn(OURS) < 0.6 for one in slow)


def test_the_table_has_a_row_for_each_cell(compared: list[Compared]) -> None:
    file = io.StringIO()
    write(compared, file)
    header, *rows = file.getvalue().splitlines()
    assert header.split(",")[-len(RUNS) :] == [f"{run}_s" for run in RUNS]
    assert len(rows) == len(compared)


def test_cells_off_the_grid_are_the_same_always_each_with_its_mirror() -> None:
    every = list(drawn(20, 3))
    assert every == list(drawn(20, 3))
    assert len(set(every)) == 40
    for one, mirror in zip(every[::2], every[1::2], strict=True):
        assert mirror == one.mirrored
        assert mirror.paths == one.paths[::-1]
        assert SIZES[0] <= one.size <= SIZES[-1]
        assert 0 <= one.gap < 1 <= one.delay_ratio


def test_the_scenario_of_a_cell_has_its_transfer_and_paths() -> None:
    (cell, _) = drawn(1, 3)
    plan = compile_plan(scenario_of(cell), OURS, seed=1).to_json()
    assert plan["traffic"][0]["workload"]["bytes"] == cell.size
    links = {link["name"]: link["config"]["directions"] for link in plan["links"]}
    for name, path in zip(("first", "second"), cell.paths, strict=True):
        for direction in links[name]:
            assert direction["rate"]["bits_per_second"] == path.rate_bps
            assert direction["delay_ns"] == path.delay_ns
            assert direction["queue"]["limit_bytes"] == path.queue_bytes


def test_cells_for_the_kernel_are_some_of_the_grid_and_short() -> None:
    chosen = selector_kernel.drawn()
    assert chosen == selector_kernel.drawn()
    assert len(set(chosen)) == 30
    assert set(chosen) <= set(cells())
    seconds = sum(8 * cell.size / min(path.rate_bps for path in cell.paths) for cell in chosen)
    assert len(POLICIES) * seconds < 150


def test_figures_of_both_engines_are_told_apart() -> None:
    cell = next(cells())
    slow = dict.fromkeys(POLICIES, 2.0)
    fast = slow | {OURS: 1.0}
    found = selector_kernel.figures([selector_kernel.Both(cell, fast, slow | {OURS: 2.1})])
    medians = {each.name: statistics.median(each.samples) for each in found}
    shares = [value for name, value in medians.items() if "1.02 times" in name]
    worst = [value for name, value in medians.items() if "worst" in name]
    assert shares == [1, 0]
    assert worst == [0.5, 1.05]
