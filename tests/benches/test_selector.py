"""The grid on which the policies of the controller are compared, and a part of it."""

from __future__ import annotations

import io

import pytest
from benches.selector import Compared, measured, write
from benches.selector_cells import OURS, RUNS, Cell, cells, completion_s


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
        assert one.beside_best <= 1.10, one


def test_ours_is_much_faster_where_the_reference_path_is_slow(compared: list[Compared]) -> None:
    slow = [one for one in compared if one.cell.is_first_slow and one.cell.gap == 0.9]
    assert len(slow) == 2
    assert all(one.beside_mpsshetn < 0.6 for one in slow)


def test_the_table_has_a_row_for_each_cell(compared: list[Compared]) -> None:
    file = io.StringIO()
    write(compared, file)
    header, *rows = file.getvalue().splitlines()
    assert header.split(",")[-len(RUNS) :] == [f"{run}_s" for run in RUNS]
    assert len(rows) == len(compared)
