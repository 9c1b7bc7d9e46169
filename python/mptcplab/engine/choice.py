"""Which engine runs a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from mptcplab.engine.kernel import refuse as kernel
from mptcplab.engine.refusal import Refusal
from mptcplab.engine.sim import refuse as sim
from mptcplab.scenario import Scenario, ScenarioError, for_variant

KERNEL, SIM = "kernel", "sim"
_OTHER = {KERNEL: SIM, SIM: KERNEL}


class EngineName(StrEnum):
    """The choices of a user."""

    AUTO = "auto"
    KERNEL = "kernel"
    SIM = "sim"
    BOTH = "both"


@dataclass(frozen=True)
class Choice:
    """The engines that run a scenario, one after the other, and what a user is to know of that."""

    variants: Mapping[str, tuple[str, ...]]
    """By engine: those that it runs."""
    notes: tuple[str, ...] = ()
    """Why the kernel was not taken, or what an engine leaves out; a sentence each."""

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines, in order."""
        return tuple(self.variants)


def choose(wanted: EngineName, scenario: Scenario, variants: Sequence[str]) -> Choice:
    """The engines for these variants.

    Raises:
        ScenarioError: an engine that is needed cannot do what the scenario asks; names the keys.

    """
    match wanted:
        case EngineName.AUTO:
            return _automatic(scenario, variants)
        case EngineName.BOTH:
            return _both(scenario, variants)
        case _:
            engine = wanted.value
    if refusals(engine, scenario, variants):
        raise _unable(engine, scenario, variants)
    return Choice({engine: tuple(variants)})


def refusals(engine: str, scenario: Scenario, variants: Sequence[str]) -> list[Refusal]:
    """Why an engine cannot run these variants on this machine; the machine is tried last."""
    found = unsupported(engine, scenario, variants)
    if found or engine == SIM:
        return found
    return _each_once(
        variants, lambda name: kernel.unsupported_here(for_variant(scenario, name), name)
    )


def unsupported(engine: str, scenario: Scenario, variants: Sequence[str]) -> list[Refusal]:
    """Why an engine can run these variants on no machine."""
    asked = kernel.unsupported if engine == KERNEL else sim.unsupported
    return _each_once(variants, lambda name: asked(for_variant(scenario, name)))


def missing(scenario: Scenario, variants: Sequence[str]) -> list[Refusal]:
    """The congestion controls and schedulers that this machine's kernel lacks."""
    return _each_once(variants, lambda name: kernel.missing(for_variant(scenario, name)))


def _automatic(scenario: Scenario, variants: Sequence[str]) -> Choice:
    by_kernel = refusals(KERNEL, scenario, variants)
    if not by_kernel:
        return Choice({KERNEL: tuple(variants)})
    if refusals(SIM, scenario, variants):
        raise _neither(scenario, variants)
    why = f"{scenario.name} runs on the sim engine: {_listed(_reasons(by_kernel))}."
    return Choice({SIM: tuple(variants)}, (why,))


def _both(scenario: Scenario, variants: Sequence[str]) -> Choice:
    """Each engine runs what it can, if that is something and nothing is left to neither."""
    found = {
        engine: {name: refusals(engine, scenario, [name]) for name in variants}
        for engine in (KERNEL, SIM)
    }
    homeless = _homeless(scenario, variants)
    if homeless:
        raise _neither(scenario, homeless)
    able, notes = {}, []
    for engine, of in found.items():
        able[engine] = tuple(name for name in variants if not of[name])
        left_out = [name for name in variants if of[name]]
        if not able[engine]:
            raise _unable(engine, scenario, variants)
        if left_out:
            why = _listed(_reasons(refusal for name in left_out for refusal in of[name]))
            notes.append(
                f"{scenario.name}: the {engine} engine leaves out {_listed(left_out)}: {why}."
            )
    return Choice(able, tuple(notes))


def _unable(engine: str, scenario: Scenario, variants: Sequence[str]) -> ScenarioError:
    """Why an engine cannot run these variants, with the other one as the hint if that can."""
    if refusals(_OTHER[engine], scenario, variants):
        return _neither(scenario, variants)
    hint = f"use the {_OTHER[engine]} engine (--engine {_OTHER[engine]})"
    found = refusals(engine, scenario, variants)
    return ScenarioError(refusal.problem(hint, engine) for refusal in found)


def _neither(scenario: Scenario, variants: Sequence[str]) -> ScenarioError:
    hint = "neither engine can run all of this: take it out"
    if not _homeless(scenario, variants):
        hint += ", or run each variant where it can be run (--engine both)"
    return ScenarioError(
        refusal.problem(hint, engine)
        for engine in (KERNEL, SIM)
        for refusal in refusals(engine, scenario, variants)
    )


def _homeless(scenario: Scenario, variants: Sequence[str]) -> list[str]:
    """The variants that no engine can run."""
    return [
        name for name in variants if all(refusals(one, scenario, [name]) for one in (KERNEL, SIM))
    ]


def _each_once(variants: Sequence[str], ask: Callable[[str], Iterator[Refusal]]) -> list[Refusal]:
    """Refusals of the variants, each reason once a key, with the variants it is of."""
    first: dict[object, Refusal] = {}
    names: dict[object, list[str]] = {}
    for name in variants:
        for refusal in ask(name):
            what = (refusal.path, refusal.reason)
            first.setdefault(what, refusal)
            names.setdefault(what, []).append(name)
    return [
        replace(refusal, variants=_some(names[what], variants)) for what, refusal in first.items()
    ]


def _some(names: list[str], variants: Sequence[str]) -> tuple[str, ...]:
    """The names, each once; none where they are all."""
    found = tuple(dict.fromkeys(names))
    return () if len(found) == len(variants) else found


def _reasons(found: Iterable[Refusal]) -> list[str]:
    return list(dict.fromkeys(refusal.reason for refusal in found))


def _listed(reasons: list[str]) -> str:
    if len(reasons) == 1:
        return reasons[0]
    return f"{', '.join(reasons[:-1])} and {reasons[-1]}"
