"""Reading scenarios: from a file, from the catalogue, from text; and changing them afterwards."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mptcplab.scenario import overrides
from mptcplab.scenario.check import check, shape
from mptcplab.scenario.entries import (
    CATALOGUE_SUFFIX,
    catalogue_folder,
    names,
    read_scenario,
    shown,
)
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.problem import Problem, ScenarioError, did_you_mean, quoted
from mptcplab.scenario.provenance import Provenance
from mptcplab.scenario.tree import parse_tree

SUFFIXES = (".yaml", ".yml")
"""Suffixes by which an argument is a path rather than a name of the catalogue."""
CHANGED_BY_VARIANTS = (
    "topology", "hosts", "routers", "switches", "controller", "links", "traffic", "events",
    "sample_interval",
)  # fmt: skip
"""Keys that a variant may set; the rest belongs to the scenario as a whole."""
_NAMELESS = "scenario"


def load(path_or_name: str | os.PathLike[str]) -> Scenario:
    """Reads a scenario's file, or an entry of the catalogue by name.

    Raises `ScenarioError` with every problem that was found.
    """
    text = os.fspath(path_or_name)
    path = Path(text)
    is_file = path.suffix in SUFFIXES or (path.exists() and not path.is_dir())
    if not is_file:
        known = names()
        if text not in known:
            raise ScenarioError(
                [
                    Problem(
                        text,
                        None,
                        "",
                        f"neither a file nor in the catalogue: {_nearest(text, known)}",
                    )
                ]
            )
        path = catalogue_folder() / f"{text}{CATALOGUE_SUFFIX}"
    return loads(read_scenario(path), shown(path), path.parent, default_name=path.stem)


def new_text() -> str:
    """A commented scenario to start from, as YAML."""
    return Path(__file__).with_name("new.yaml").read_text(encoding="utf-8")


def loads(
    text: str, origin: str = _NAMELESS, folder: Path = Path(), *, default_name: str = _NAMELESS
) -> Scenario:
    """Reads a scenario from YAML text; `origin` names it in messages, `folder` holds its files."""
    tree = parse_tree(text, origin)
    source = Provenance(origin, folder, text, tree.value, tree.lines)
    return _checked(source, default_name)


def loads_kept(text: str) -> Scenario:
    """Reads the text that a result keeps, whose files may be elsewhere: they are not read.

    The scenario can be shown and compared; to compile a trace or a policy needs its file.
    """
    tree = parse_tree(text, _NAMELESS)
    source = Provenance(_NAMELESS, Path(), text, tree.value, tree.lines, reads_files=False)
    return _checked(source, _NAMELESS)


def with_overrides(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with other values at dotted paths, validated like the file.

    Raises `ScenarioError` naming the path.
    """
    source = scenario.provenance
    try:
        tree = overrides.applied(source.tree, values)
    except overrides.PathError:
        raise ScenarioError(_path_problems(source.tree, values)) from None
    every = {**source.overrides, **values}
    return _checked(dataclasses.replace(source, tree=tree, overrides=every), scenario.name)


def for_variant(scenario: Scenario, variant: str) -> Scenario:
    """The scenario as the variant's `set:` makes it."""
    if variant not in scenario.variants:
        text = f"there is no variant {quoted(variant)}: {did_you_mean(variant, scenario.variants)}"
        raise ScenarioError([Problem(scenario.origin, None, "variants", text)])
    values = scenario.variants[variant].set
    if not values:
        return scenario
    source = scenario.provenance
    start = ("variants", variant, "set")
    foreign = [path for path in values if path.split(".")[0] not in CHANGED_BY_VARIANTS]
    if foreign:
        text = f"a variant changes {', '.join(CHANGED_BY_VARIANTS)} only"
        raise ScenarioError(source.problem((*start, path), text) for path in foreign)
    try:
        tree = overrides.applied(source.tree, values)
    except overrides.PathError:
        found = [
            source.problem((*start, key), problem.text)
            for key, problem in zip(values, _each_path(source.tree, values), strict=True)
            if problem is not None
        ]
        raise ScenarioError(found) from None
    changed = dataclasses.replace(source, tree=tree, variant_of=start, variant_sets=dict(values))
    try:
        made = _validated(changed, scenario.name)
        found = list(check(made, [variant]))
    except ScenarioError as error:
        found = list(error.problems)
    if found:
        raise ScenarioError(_in_variant(problem, variant) for problem in found)
    return made


def _in_variant(problem: Problem, variant: str) -> Problem:
    """Say which variant has the problem where its place does not."""
    if problem.key.startswith("variants."):
        return problem
    return dataclasses.replace(problem, text=f"{problem.text} (in variant {variant})")


def _checked(source: Provenance, default_name: str) -> Scenario:
    scenario = _validated(source, default_name)
    plain = [name for name, variant in scenario.variants.items() if not variant.set]
    found = list(check(scenario, plain))
    if not found:
        for variant in scenario.variants:
            try:
                for_variant(scenario, variant)
            except ScenarioError as error:
                found.extend(error.problems)
    if found:
        raise ScenarioError(found)
    return scenario


def _validated(source: Provenance, default_name: str) -> Scenario:
    if not isinstance(source.tree, dict):
        text = "a scenario is a mapping with hosts, links and traffic"
        raise ScenarioError([Problem(source.origin, 1, "", text)])
    tree = source.tree if "name" in source.tree else {"name": default_name, **source.tree}
    try:
        return Scenario.model_validate(tree, context={"provenance": source})
    except ValidationError as error:
        raise ScenarioError(shape.problems(error, Scenario, source)) from None


def _each_path(tree: Any, values: Mapping[str, Any]) -> Iterator[Problem | None]:
    for path, value in values.items():
        try:
            overrides.applied(tree, {path: value})
            yield None
        except overrides.PathError as error:
            yield Problem("--set", None, path, str(error))


def _path_problems(tree: Any, values: Mapping[str, Any]) -> list[Problem]:
    return [problem for problem in _each_path(tree, values) if problem is not None]


def _nearest(text: str, known: list[str]) -> str:
    return did_you_mean(text, known) if known else "the catalogue is empty"
