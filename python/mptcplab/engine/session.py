"""A session: every repetition of every variant of a scenario, into one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.engine.task import Job, Task
from mptcplab.recording import Result
from mptcplab.scenario import Scenario


@dataclass(frozen=True)
class Choice:
    """What the command line chose of a scenario."""

    variants: Sequence[str]
    repetitions: int
    seed: int


def jobs(scenario: Scenario, choice: Choice, result: Result, *, captures: bool) -> list[Job]:
    """The runs, in order.

    Repetitions are the outer loop, so that a machine that grows slower in the course of a session
    does not favour the variant that comes first. The variants of one repetition share its seed:
    they see the same random losses as far as their packets allow.
    """
    return [
        Job(
            Task(scenario, variant, repetition, choice.seed + repetition - 1),
            result.recording_folder(variant, repetition),
            captures,
        )
        for repetition in range(1, choice.repetitions + 1)
        for variant in choice.variants
    ]
