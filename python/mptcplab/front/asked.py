"""Arguments of a function's caller: checked, and named in messages as they were written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from mptcplab.engine.choice import EngineName
from mptcplab.scenario import Problem, Scenario, ScenarioError
from mptcplab.scenario.problem import did_you_mean
from mptcplab.session import Prepared, Settings

MOST_REPETITIONS = 1000
_ENGINES = (EngineName.AUTO, EngineName.KERNEL, EngineName.SIM)
_ARGUMENTS = {"--variant": "variants", "--duration": "duration"}


def asked(
    *,
    engine: str,
    variants: str | Sequence[str] | None,
    repeat: int | None,
    seed: int,
    duration: str | None,
    vary: Mapping[str, Any] | None,
    set: Mapping[str, Any] | None,  # noqa: A002
    capture: bool,
    workers: int | None,
) -> Settings:
    """The arguments of `mptcplab.run` as settings of a session.

    Raises:
        ValueError: one of them is out of its range.

    """
    if engine == EngineName.BOTH:
        raise ValueError('engine="both": run on each engine, and compare the two results')
    if engine not in _ENGINES:
        raise ValueError(f"engine={engine!r}: {did_you_mean(str(engine), list(_ENGINES))}")
    if repeat is not None and not 1 <= repeat <= MOST_REPETITIONS:
        raise ValueError(f"repeat={repeat}: give 1 to {MOST_REPETITIONS}")
    if seed < 0:
        raise ValueError(f"seed={seed}: give 0 or more")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers}: give 1 or more")
    names = () if variants is None else (variants,) if isinstance(variants, str) else variants
    if variants is not None and not names:
        raise ValueError("variants is empty: name some, or leave it out for all of them")
    return Settings(
        engine=EngineName(engine),
        variants=tuple(names),
        repetitions=repeat,
        seed=seed,
        duration=duration,
        vary=vary,
        overrides=dict(set or {}),
        captures=capture,
        workers=workers,
    )


def engine_called(prepared: Prepared) -> str:
    """The engine that runs a scenario that was prepared for one alone."""
    (engine,) = prepared.choices
    return engine


def in_python(error: ScenarioError) -> ScenarioError:
    """The error with arguments in place of the command's options."""
    return ScenarioError(map(_as_argument, error.problems))


def words_in_python(text: str) -> str:
    """A message with arguments in place of the command's options."""
    text = re.sub(r"--engine (\w+)", r'engine="\1"', text)
    return re.sub(r"--(cluster|tls-ca|tls-cert|tls-key|out)\b", _argument, text)


def _argument(option: re.Match[str]) -> str:
    return option[1].replace("-", "_")


def _as_argument(problem: Problem) -> Problem:
    text = problem.text.replace(
        ", or run each variant where it can be run (--engine both)",
        ", or run each variant where it can be run (variants=[...])",
    )
    text = words_in_python(text)
    option, _, word = problem.origin.partition(" ")
    match option:
        case "--set":
            return Problem(f'set["{problem.key}"]', None, "", text)
        case "--axis":
            argument = f'axes["{problem.key}"]' if problem.key else "axes"
            return Problem(argument, None, "", text)
        case "--vary":
            return Problem(f'vary["{problem.key}"]', None, "", text)
        case "--engine":
            return Problem(f'engine="{word}"', None, problem.key, text)
        case _:
            origin = _ARGUMENTS.get(option, problem.origin)
            return Problem(origin, problem.line, problem.key, text)


def call_text(
    function: str,
    scenario: Scenario | str | PathLike[str],
    arguments: Mapping[str, Any],
    *first: object,
) -> str:
    """The call as the caller wrote it, for the record: without what is as usual."""
    name = scenario.name if isinstance(scenario, Scenario) else str(scenario)
    usual: dict[str, Any] = {"engine": "auto", "seed": 1, "capture": False}
    told = [repr(name), *map(repr, first)]
    for word in ("engine", "variants", "repeat", "seed", "duration", "vary", "set", "capture"):
        value = arguments[word]
        if value is not None and value != usual.get(word):
            told.append(f"{word}={value!r}")
    return f"mptcplab.{function}({', '.join(told)})"
