"""Our figures of what differs from a document: what the reasons for the differences are about.

`expected/` has a file for each document and engine, by length of the runs, scenario and figure. It
is written from measurements (`python -m benches.expected`), never by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mptcplab.scenario.problem import Problem, ScenarioError
from mptcplab.scenario.tree import Tree, parse_tree
from mptcplab.user_file import LARGEST_YAML_BYTES, read_text

FOLDER = Path(__file__).parent / "expected"
MARGIN = 0.05
"""Part of the expected figure by which another may differ beyond its interval."""
WIDEST = 0.25
"""The same that an interval may add at most: a wide one would let any figure pass."""
LEAST_MARGIN = 0.01
"""The same, as a part of the document's figure, for those of ours that are near 0."""
NEVER = "never"
"""In a file: what does not come, such as a recovery or the end of a transfer."""


@dataclass(frozen=True)
class Expected:
    """A figure as it was measured."""

    mean: float | None
    """Null: what did not come, such as a recovery or the end of a transfer."""
    half_width: float = 0.0
    """Half its 95 % confidence interval; 0 where there is none."""

    def __str__(self) -> str:
        if self.mean is None:
            return NEVER
        interval = f" ± {self.half_width:.2g}" if self.half_width else ""
        return f"{self.mean:.4g}{interval}"

    def bounds(self, theirs: float | None = None) -> tuple[float, float] | None:
        """Between which figures another is as expected; null where none is to come."""
        if self.mean is None:
            return None
        apart = min(self.half_width, WIDEST * abs(self.mean)) + self.margin(theirs)
        return self.mean - apart, self.mean + apart

    def margin(self, theirs: float | None = None) -> float:
        """By how much another may differ beyond the interval, beside a figure of the document."""
        return max(MARGIN * abs(self.mean or 0), LEAST_MARGIN * abs(theirs or 0))

    def holds(self, ours: float | None, theirs: float | None = None) -> bool:
        """Whether a figure of ours is as expected, beside one of the document."""
        bounds = self.bounds(theirs)
        if bounds is None or ours is None:
            return bounds is None and ours is None
        return bounds[0] <= ours <= bounds[1]


ByFigure = Mapping[str, Expected]
ByScenario = Mapping[str, ByFigure]
"""A scenario that was measured is there, also where nothing in it differs."""
ByLength = Mapping[str, ByScenario]


def path_of(document: str, engine: str) -> Path:
    """The file of a document and an engine."""
    return FOLDER / f"{document}-{engine}.yaml"


def read(document: str, engine: str) -> ByLength:
    """The expected figures of a document on an engine; empty where nothing was measured.

    Raises:
        ScenarioError: the file has mistakes.

    """
    path = path_of(document, engine)
    if not path.is_file():
        return {}
    tree = parse_tree(read_text(path, LARGEST_YAML_BYTES), path.name)
    return {
        length: {
            scenario: {
                figure: _parsed(text, tree, (length, scenario, figure), path.name)
                for figure, text in (own or {}).items()
            }
            for scenario, own in scenarios.items()
        }
        for length, scenarios in (tree.value or {}).items()
    }


def written(expected: ByLength) -> str:
    """The text of a file."""
    lines = [
        "# Made by `python -m benches.expected`: our figures of what differs from the document."
    ]
    for length, scenarios in expected.items():
        lines.append(f"{length}:")
        for scenario, figures in scenarios.items():
            lines.append(f"  {scenario}:{'' if figures else ' {}'}")
            lines += [f"    {figure}: {one}" for figure, one in figures.items()]
    return "\n".join(lines) + "\n"


def _parsed(text: object, tree: Tree, place: tuple[str, ...], origin: str) -> Expected:
    if text == NEVER:
        return Expected(None)
    mean, _, half_width = str(text).partition(" ± ")
    try:
        return Expected(float(mean), float(half_width or 0))
    except ValueError:
        problem = Problem(origin, tree.lines.get(place), ".".join(place), f"no figure: {text}")
        raise ScenarioError([problem]) from None
