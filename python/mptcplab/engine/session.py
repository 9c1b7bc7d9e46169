"""A session: every repetition of every variant of a scenario, into one result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mptcplab.engine.kernel.run import Task
from mptcplab.scenario import Scenario


@dataclass(frozen=True)
class Choice:
    """What the command line chose of a scenario."""

    variants: Sequence[str]
    repetitions: int
    seed: int


def tasks(scenario: Scenario, choice: Choice) -> Iterator[Task]:
    """The runs, in order.

    Repetitions are the outer loop, so that a machine that grows slower in the course of a session
    does not favour the variant that comes first. The variants of one repetition share its seed:
    they see the same random losses as far as their packets allow.
    """
    for repetition in range(1, choice.repetitions + 1):
        for variant in choice.variants:
            yield Task(scenario, variant, repetition, choice.seed + repetition - 1)
