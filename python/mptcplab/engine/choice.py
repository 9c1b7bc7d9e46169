"""Which engine runs a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mptcplab.engine.kernel import refuse as kernel
from mptcplab.engine.refusal import Refusal
from mptcplab.engine.sim import refuse as sim
from mptcplab.scenario import Scenario, ScenarioError, for_variant

KERNEL, SIM = "kernel", "sim"
_MENDS = {
    KERNEL: f"use the sim engine (--engine {SIM})",
    SIM: f"use the kernel engine (--engine {KERNEL})",
}


class EngineName(StrEnum):
    """What a user can ask for."""

    AUTO = "auto"
    KERNEL = "kernel"
    SIM = "sim"
    BOTH = "both"


@dataclass(frozen=True)
class Choice:
    """The engines that run a scenario, one after the other."""

    engines: tuple[str, ...]
    why: str | None = None
    """Why the kernel was not taken although it could have been; one sentence."""


def choose(wanted: EngineName, scenario: Scenario, variants: Sequence[str]) -> Choice:
    """The engines for these variants.

    Raises:
        ScenarioError: an engine that is needed cannot do what the scenario asks; names the keys.

    """
    match wanted:
        case EngineName.AUTO:
            return _automatic(scenario, variants)
        case EngineName.BOTH:
            engines: tuple[str, ...] = (KERNEL, SIM)
        case _:
            engines = (wanted.value,)
    found = [
        refusal.problem(_MENDS[engine], engine)
        for engine in engines
        for refusal in refusals(engine, scenario, variants)
    ]
    if found:
        raise ScenarioError(found)
    return Choice(engines)


def refusals(engine: str, scenario: Scenario, variants: Sequence[str]) -> list[Refusal]:
    """Why an engine cannot run these variants on this machine; the machine is tried last."""
    found = impossible(engine, scenario, variants)
    if found or engine == SIM:
        return found
    made = ((variant, for_variant(scenario, variant)) for variant in variants)
    return _each_once(r for name, one in made for r in kernel.lacking(one, name))


def impossible(engine: str, scenario: Scenario, variants: Sequence[str]) -> list[Refusal]:
    """Why an engine can run these variants on no machine."""
    asked = kernel.impossible if engine == KERNEL else sim.impossible
    return _each_once(r for name in variants for r in asked(for_variant(scenario, name)))


def _automatic(scenario: Scenario, variants: Sequence[str]) -> Choice:
    by_kernel = refusals(KERNEL, scenario, variants)
    if not by_kernel:
        return Choice((KERNEL,))
    by_sim = refusals(SIM, scenario, variants)
    if not by_sim:
        reasons = list(dict.fromkeys(refusal.reason for refusal in by_kernel))
        return Choice((SIM,), f"{scenario.name} runs on the sim engine: {_listed(reasons)}.")
    mend = "neither engine can run all of this: take it out"
    found = [(KERNEL, refusal) for refusal in by_kernel] + [(SIM, refusal) for refusal in by_sim]
    raise ScenarioError(refusal.problem(mend, engine) for engine, refusal in found)


def _each_once(found: Iterator[Refusal]) -> list[Refusal]:
    """The first refusal of each key, and of each reason without one."""
    first: dict[object, Refusal] = {}
    for refusal in found:
        first.setdefault(refusal.path or refusal.reason, refusal)
    return list(first.values())


def _listed(reasons: list[str]) -> str:
    if len(reasons) == 1:
        return reasons[0]
    return f"{', '.join(reasons[:-1])} and {reasons[-1]}"
