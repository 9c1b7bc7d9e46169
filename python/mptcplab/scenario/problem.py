"""Mistakes in a scenario, in words for its author."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing to fix: where it stands and what to do about it."""

    origin: str
    """File as the user named it, or the option that brought the value (`--set`)."""
    line: int | None
    """Line in the file, from 1; None where there is no file or no one line."""
    key: str
    """Dotted path of the key, empty for the file as a whole."""
    text: str
    """The mistake, and the hint."""

    def __str__(self) -> str:
        if self.origin.startswith("--"):
            return f"{self.origin} {self.key}".rstrip() + f": {self.text}"
        place = self.origin if self.line is None else f"{self.origin}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.text) if part)


class ScenarioError(Exception):
    """A scenario that cannot be used; carries every problem that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def quoted(value: object) -> str:
    """The value as its author would recognise it, on one line and not longer than 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def near(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that an unknown one resembles; null where it resembles none.

    `cutoff` is the share of the letters of both, in order, that has to be the same.
    """
    lowered = {name.lower(): name for name in reversed(list(known))}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, or all of them."""
    names = list(dict.fromkeys(known))
    meant = near(word, names)
    if meant is not None:
        return f'did you mean "{meant}"?'
    return f"known: {', '.join(names)}" if names else "there is none"
