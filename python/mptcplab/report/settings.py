"""Differences of a result from its scenario, and from other results, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mptcplab.recording.result import Description
from mptcplab.scenario import ScenarioError, differences, loads_kept

if TYPE_CHECKING:
    from mptcplab.report.model import Report


def beside_document(report: Report) -> str:
    """Title of the table of the document's figures; it says where they are of other settings."""
    words = "beside the document"
    return f"{words}, whose settings are not these" if report.changes else words


def changed(description: Description) -> tuple[str, ...]:
    """The settings that are not the scenario's own."""
    return tuple(_words(one.path, one.own, one.here) for one in description.scenario.changes)


def labels(reports: Sequence[Report]) -> list[str]:
    """A name for each of the reports that are shown together: with its engine, and its folder.

    The folder stands only where scenario and engine are the same as another one's, and a number
    where a folder is shown again.
    """
    keys = [(one.description.scenario.name, one.description.engine) for one in reports]
    alike = Counter(keys)
    named = [
        name
        if len(reports) == 1
        else f"{name} ({engine}, {report.folder})"
        if alike[name, engine] > 1
        else f"{name} ({engine})"
        for report, (name, engine) in zip(reports, keys, strict=True)
    ]
    before = [named[:place].count(label) for place, label in enumerate(named)]
    return [
        f"{label}, no. {again + 1}" if again else label
        for label, again in zip(named, before, strict=True)
    ]


def unlike(reports: Sequence[Report]) -> list[tuple[str, tuple[str, ...]]]:
    """For each report the label of the first one of its scenario, and the settings that differ.

    Empty where there is no earlier one, or nothing differs.
    """
    known = labels(reports)
    first: dict[str, int] = {}
    found = []
    for place, one in enumerate(reports):
        earlier = first.setdefault(one.description.scenario.name, place)
        other = reports[earlier].description
        found.append((known[earlier], unlike_settings(other, one.description)))
    return found


def unlike_settings(first: Description, second: Description) -> tuple[str, ...]:
    """The settings of the second that are not the first's, in words."""
    try:
        scenarios = loads_kept(first.scenario.text), loads_kept(second.scenario.text)
    except ScenarioError:
        return ()
    words = [_words(one.path, one.before, one.after) for one in differences(*scenarios)]
    if first.seed != second.seed:
        words.append(_words("seed", str(first.seed), str(second.seed)))
    return tuple(words)


def _words(path: str, before: str | None, after: str | None) -> str:
    if after is None:
        return f"without {path} ({before})"
    return (
        f"{path} {after}, not {before}"
        if before is not None
        else f"{path} {after}, where none was set"
    )
