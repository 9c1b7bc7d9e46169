"""An account for programs; every key is described in `docs/reproduction/README.md`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mptcplab.reproduction.beside import Account, Figure, ItemAccount, Said
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import AGREEMENT, Checked, Mark
from mptcplab.reproduction.pictures import Picture


def to_json(
    account: Account, manner: Manner, pictures: Sequence[Sequence[Picture]]
) -> dict[str, Any]:
    """The account as an object of JSON, with the pictures of each item that are text.

    What is not known is null.
    """
    counts = account.counts()
    return {
        "document": account.document.name,
        "title": account.document.title,
        "engine": manner.engine,
        "seed": manner.seed,
        "quick": manner.quick,
        "length": manner.length,
        "agreement": AGREEMENT,
        "counts": {mark.value: counts[mark] for mark in Mark},
        "items": [_item(item, own) for item, own in zip(account.items, pictures, strict=True)],
    }


def _item(account: ItemAccount, pictures: Sequence[Picture]) -> dict[str, Any]:
    item = account.item
    return {
        "kind": item.kind,
        "number": item.number,
        "section": item.section,
        "caption": item.caption,
        "note": item.note,
        "columns": list(item.columns),
        "rows": [[_cell(cell) for cell in row] for row in account.rows],
        "says": [_said(said) for said in account.says],
        "listings": [
            {"title": one.title, "lines": list(one.lines)} for one in pictures if one.lines
        ],
        "missing": [f"{one.title}: {one.missing}" for one in pictures if one.missing],
        "warnings": list(account.warnings),
    }


def _said(said: Said) -> Any:
    return {
        "text": said.statement.text,
        "scenario": said.statement.scenario or None,
        "finding": said.statement.finding or None,
        "sides": said.sides,
        "mark": said.mark.value,
        "note": said.note,
        "differs": [_checked(one) for one in said.checked],
    }


def _cell(cell: str | Figure) -> Any:
    if isinstance(cell, str):
        return cell
    ours = cell.ours
    return {
        "scenario": cell.cell.scenario,
        "here": cell.cell.here,
        "statistic": cell.cell.statistic.value,
        "repetition": cell.cell.repetition,
        "document": cell.theirs,
        "at_most": cell.cell.at_most,
        "mean": None if ours is None else ours.mean,
        "ci95": None if ours is None or ours.ci95 is None else list(ours.ci95),
        "samples": [] if ours is None else list(ours.samples),
        "mark": cell.mark.value,
        "note": cell.note,
        "differs": None if cell.checked is None else _checked(cell.checked),
    }


def _checked(one: Checked) -> Any:
    bounds = None if one.expected is None else one.expected.bounds(one.theirs)
    return {
        "name": one.name,
        "mean": one.ours.mean,
        "half_width": one.ours.half_width,
        "expected": None if bounds is None else list(bounds),
    }
