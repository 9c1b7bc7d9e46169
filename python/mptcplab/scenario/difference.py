"""In what settings two scenarios differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mptcplab.scenario.model import Scenario
from mptcplab.scenario.profiles import written
from mptcplab.scenario.traffic import OLDER_KEYS
from mptcplab.scenario.units import (
    UnitError,
    format_rate,
    format_size,
    format_time,
    parse_rate,
    parse_size,
    parse_time,
)

_WORDS = frozenset(
    {"name", "title", "description", "source", "expect", "reference", "repetitions", "sweep"}
)
"""Keys that say nothing of what is run."""
_UNITS = ((parse_time, format_time), (parse_rate, format_rate), (parse_size, format_size))


@dataclass(frozen=True)
class Difference:
    """A setting with another value."""

    path: str
    """Dotted, as for `--set`."""
    before: str | None
    """Null: not set."""
    after: str | None


def differences(before: Scenario, after: Scenario) -> tuple[Difference, ...]:
    """The settings that differ, as authors wrote them, in the order of the files.

    `5 s` and `5000 ms` are one value. What a link does not say is what its profile says. Variants
    that only one of the two has are left out.
    """
    mine, theirs = _every(before), _every(after)
    shared = before.variants.keys() & after.variants.keys()
    found = []
    for path in dict.fromkeys([*mine, *theirs]):
        if path[0] == "variants" and len(path) > 1 and path[1] not in shared:
            continue
        if mine.get(path) != theirs.get(path):
            found.append(Difference(".".join(path), mine.get(path), theirs.get(path)))
    return tuple(found)


def of_tree(tree: Any) -> dict[tuple[str, ...], str]:
    """The settings of a scenario's tree that say what is run, by path, in words."""
    return dict(_settings(tree))


def _every(scenario: Scenario) -> dict[tuple[str, ...], str]:
    """All settings by path, with those that links have from their profiles."""
    of_profiles = {
        path: value
        for name, link in scenario.links.items()
        if link.profile is not None
        for path, value in _settings(written(link.profile), ("links", name))
        if path[2] not in _WORDS
    }
    return of_profiles | dict(_settings(scenario.provenance.tree))


def _settings(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each value of a tree with its path."""
    if isinstance(tree, dict):
        items = [(str(key), value) for key, value in tree.items()]
    elif isinstance(tree, list):
        items = [(str(place), value) for place, value in enumerate(tree)]
    else:
        yield path, _shown(tree)
        return
    for key, value in items:
        if path or key not in _WORDS:
            current = OLDER_KEYS.get(key, key) if path[:1] == ("traffic",) else key
            yield from _settings(value, (*path, current))


def _shown(value: object) -> str:
    """A value in words, the same for all ways of writing a quantity."""
    if value is None:
        return "null"
    if not isinstance(value, str):
        return str(value).lower()
    for parse, form in _UNITS:
        try:
            return form(parse(value))
        except UnitError:
            continue
    return value
