"""A page for each scenario of the catalogue, with its picture, and one that shows them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mptcplab.engine.choice import KERNEL, SIM, unsupported
from mptcplab.scenario import Scenario, load
from mptcplab.scenario.entries import Entry, catalogue
from mptcplab.scenario.topology.svg import draw_svg
from mptcplab.scenario.topology.text import draw_text

GALLERY = "gallery"
MOST_VARIANTS = 40
"""Rows of a page's table of variants."""


def write_gallery(folder: Path, pattern: str = "*") -> dict[str, list[str]]:
    """Writes all pages below `gallery`; gives them by the first part of their names."""
    entries = catalogue(pattern)
    families: dict[str, list[str]] = {}
    for entry in entries:
        scenario = load(entry.name)
        page = folder / GALLERY / f"{entry.name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.with_suffix(".svg").write_text(draw_svg(scenario), encoding="utf-8")
        page.write_text("\n".join(_page(entry, scenario)) + "\n", encoding="utf-8")
        families.setdefault(family(entry), []).append(page.relative_to(folder).as_posix())
    (folder / GALLERY / "README.md").write_text("\n".join(_index(entries)), encoding="utf-8")
    return families


def family(entry: Entry) -> str:
    """The first part of its name."""
    return entry.name.partition("/")[0]


def _index(entries: list[Entry]) -> Iterator[str]:
    yield "# Scenarios of the catalogue"
    yield ""
    yield (
        f"All {len(entries)}, with their networks. `mptcplab list` names them; "
        "[scenarios](../docs/scenario.md) tells how to write one."
    )
    for name, own in groupby(entries, family):
        yield f'\n## {name}\n\n<div class="gallery" markdown>\n'
        for entry in own:
            short = entry.name.removeprefix(f"{name}/")
            picture = f"![Network of {entry.name}]({entry.name}.svg){{ loading=lazy }}"
            yield f"[{picture} **{short}** {_escaped(entry.title)}]({entry.name}.md)\n"
        yield "</div>\n"


def _page(entry: Entry, scenario: Scenario) -> Iterator[str]:
    stem = Path(entry.name).name
    yield f"# {entry.name}\n"
    yield f"{_escaped(scenario.title)}.\n"
    if scenario.source:
        yield f"*{_escaped(scenario.source)}*\n"
    yield f"{_escaped(scenario.description)}\n"
    yield f"![Network of {entry.name}]({stem}.svg){{ .topology }}\n"
    yield f"```sh\nmptcplab run {entry.name}\nmptcplab show {entry.name}\n```\n"
    yield "\n".join(f"- {words}" for words in _engines(scenario)) + "\n"
    yield "## Variants\n\n| | protocol | |\n|---|---|---|"
    for name, variant in list(scenario.variants.items())[:MOST_VARIANTS]:
        yield f"| `{name}` | {variant.protocol} | {_escaped(variant.title)} |"
    if len(scenario.variants) > MOST_VARIANTS:
        yield f"\nand {len(scenario.variants) - MOST_VARIANTS} more."
    if scenario.expect:
        yield "\n## Findings\n"
        for one in scenario.expect:
            note = f": {_escaped(one.note)}" if one.note else ""
            yield f"- `{one.finding}`{note}"
    if scenario.reference:
        yield "\n## Figures of the document\n\n| variant | metric | value | |\n|---|---|---|---|"
        for row in scenario.reference:
            value = f"{row.value.value:g} {row.value.unit}".rstrip()
            note = _escaped(row.note)
            yield f"| `{row.variant}` | `{row.metric}` | {value} | {note} |"
    yield f"\n## In words\n\n```text\n{draw_text(scenario).strip()}\n```\n"
    yield f"## The file\n\n```yaml\n{scenario.text.strip()}\n```"


def _engines(scenario: Scenario) -> Iterator[str]:
    """Each engine, with what it cannot do of the scenario."""
    for engine in (KERNEL, SIM):
        refused = unsupported(engine, scenario, list(scenario.variants))
        reasons = "; ".join(dict.fromkeys(one.reason for one in refused))
        able = f"not on the engine `{engine}`: {_escaped(reasons)}" if refused else ""
        yield able or f"runs on the engine `{engine}`"


def _escaped(text: str) -> str:
    """Text of a scenario in Markdown, in one line; what stands between backticks is code."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return _plain("`".join(parts))
    return "`".join(_plain(part) if at % 2 == 0 else part for at, part in enumerate(parts))


def _plain(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|" else letter for letter in text)
