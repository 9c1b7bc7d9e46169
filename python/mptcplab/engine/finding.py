"""Findings about a machine, each with a hint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a finding stands."""

    GOOD = "good"
    LIMITED = "limited"
    """Something is missing; what needs it says so."""
    BAD = "bad"
    """The engine cannot run."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    verdict: Verdict
    detail: str
    hint: str = ""
    """How to fix it; empty where nothing is to be done."""

    def as_dict(self) -> dict[str, str]:
        """The finding as JSON's types; programs know the hint as `mend`."""
        told = asdict(self)
        return told | {"mend": told.pop("hint")}
