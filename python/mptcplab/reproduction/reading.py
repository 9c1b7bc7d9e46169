"""Reads the documents' files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mptcplab.reproduction.model import Document, Item, Measured, Plot, Statement
from mptcplab.scenario import Problem, ScenarioError
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.tree import parse_tree
from mptcplab.user_file import LARGEST_YAML_BYTES, read_text

FOLDER = Path(__file__).parent / "documents"
ORDER = ("lisbon", "carfi", "louvain", "birzeit", "torino")
"""Documents as they are shown."""


class UnknownNameError(ValueError):
    """A document, table or figure that there is not; the text says which there are."""


def names() -> list[str]:
    """Names of the documents that there are."""
    return [name for name in ORDER if (FOLDER / f"{name}.yaml").is_file()]


def read(name: str) -> Document:
    """The document of this name; what its items leave to their defaults is written out.

    Raises:
        UnknownNameError: there is none.
        ScenarioError: its file has mistakes.

    """
    if name not in names():
        raise UnknownNameError(f"there is no document '{name}': {did_you_mean(name, names())}")
    return parse(read_text(FOLDER / f"{name}.yaml", LARGEST_YAML_BYTES), f"{name}.yaml")


def parse(text: str, origin: str) -> Document:
    """The document that a text describes.

    Raises:
        ScenarioError: the text has mistakes; names their places.

    """
    tree = parse_tree(text, origin)
    try:
        document = Document.model_validate(tree.value)
    except ValidationError as error:
        raise ScenarioError(_problem(one, tree.lines, origin) for one in error.errors()) from None
    return document.model_copy(
        update={"items": tuple(_written_out(item, document.name) for item in document.items)}
    )


def chosen(document: Document, tables: Sequence[str], figures: Sequence[str]) -> Document:
    """The document with the tables and figures alone that are asked for; as it is for none.

    Raises:
        UnknownNameError: there is no such table, or figure.

    """
    if not tables and not figures:
        return document
    items: list[Item] = []
    for option, numbers in (("table", tables), ("figure", figures)):
        known = [item for item in document.items if item.kind == option]
        for number in numbers:
            found = [item for item in known if item.number == number]
            if not found:
                every = [item.number for item in known]
                raise UnknownNameError(
                    f"{document.name} has no {option} '{number}': {did_you_mean(number, every)}"
                )
            items += found
    return document.model_copy(update={"items": tuple(items)})


def _problem(error: Any, lines: dict[Any, int], origin: str) -> Problem:
    path = tuple(part for part in error["loc"] if part not in ("measured", "text"))
    known = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in lines), ())
    return Problem(origin, lines.get(known), ".".join(map(str, path)), error["msg"])


def _written_out(item: Item, folder: str) -> Item:
    """The item with the full name of the scenario in each place."""

    def full(scenario: str) -> str:
        own = scenario or item.scenario
        return f"{folder}/{own}" if own and "/" not in own else own

    def cell(one: Any) -> Any:
        if not isinstance(one, Measured):
            return one
        return one.model_copy(update={"scenario": full(one.scenario)})

    def named(one: Statement | Plot) -> Any:
        return one.model_copy(update={"scenario": full(one.scenario)})

    return item.model_copy(
        update={
            "scenario": full(""),
            "rows": tuple(tuple(map(cell, row)) for row in item.rows),
            "says": tuple(map(named, item.says)),
            "plots": tuple(map(named, item.plots)),
        }
    )
