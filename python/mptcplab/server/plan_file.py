"""A plan as a YAML file: quantities with units, mistakes with their place and their fix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from mptcplab.scenario.check import shape
from mptcplab.scenario.problem import Problem, ScenarioError, quoted
from mptcplab.scenario.provenance import Provenance
from mptcplab.scenario.tree import parse_tree
from mptcplab.scenario.units import parse_size
from mptcplab.server.fields import Name
from mptcplab.server.period import parse_period
from mptcplab.server.plan import PORT, Plan, as_list
from mptcplab.user_file import LARGEST_YAML_BYTES, FileError, read_text

_KEYS = {
    "sizes": "sizes_bytes",
    "every": "every_s",
    "spread": "spread_s",
    "budget": "budget_bytes",
    "daily": "daily_bytes",
    "until": "until_unix_s",
}
"""Keys of a file, and those of the API, in base units."""
_FILE_KEYS = {api: own for own, api in _KEYS.items()}
_HINTS = {
    "host": "write the name or the address of the target, such as t.example.org",
    "port": "write a number from 1 to 65535",
    "token": "write the line that the target has in its file `tokens`, mptcplab1-…",
    "interfaces": "write names of interfaces, such as [wifi, lte]",
    "addresses": "write addresses of the agent, such as [192.0.2.7, 2001:db8::7]",
    "namespace": "write the name of a network namespace, as `ip netns list` prints it",
    "sizes": "write sizes from 1 B to 1000 GB, such as 100 kB",
    "directions": "write down, up, or both of them",
    "congestion_control": "write names of congestion controls, such as cubic or [cubic, bbr]",
    "seed": "write a whole number from 0 on",
    "every": "write a time from 1 s to 366 d, such as 1 h",
    "spread": "write a time from 0 s to 366 d, such as 10 min",
    "from": 'write a time of the day (UTC), such as "22:00"',
    "to": 'write a time of the day (UTC), such as "06:00"',
    "budget": "write a size from 1 B on, such as 50 MB",
    "daily": "write a size from 1 B on, such as 500 MB",
    "until": 'write a time that is to come, such as "2027-01-31 12:00" (UTC)',
    "agents": "write ids of agents, as `mptcplab server agents` prints them",
}
"""The fix for a value that is beyond its limits or has another form."""
_OF_LIMITS = (
    "enum",
    "greater_than_equal",
    "less_than_equal",
    "string_pattern_mismatch",
    "string_too_long",
    "string_too_short",
    "value_error",
)
_API_KEY = re.compile(r"\b(" + "|".join(_FILE_KEYS) + r")\b")


def parse_time(value: object) -> int:
    """Unix seconds of `2027-01-31 12:00` (UTC, unless it has a zone).

    Raises:
        ValueError: it is no time.

    """
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise ValueError('not a time: write "2027-01-31 12:00" (UTC)')
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


Size = Annotated[int, BeforeValidator(parse_size)]
Period = Annotated[int, BeforeValidator(parse_period)]
Time = Annotated[int, BeforeValidator(parse_time)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TargetFile(_Part):
    """The end to measure against."""

    host: str
    port: int = PORT
    token: str


class ScheduleFile(_Part):
    """The time between experiments."""

    every: Period
    spread: Period = 0


class WindowFile(_Part):
    """A part of each day."""

    from_: Annotated[str, Field(alias="from")]
    to: str


class PlanFile(_Part):
    """The keys of a file; their limits are those of `Plan`."""

    name: str | None = None
    target: TargetFile
    interfaces: list[str] | None = None
    addresses: list[str] | None = None
    namespace: str | None = None
    sizes: list[Size]
    directions: list[str] = Field(default_factory=lambda: ["down", "up"])
    repeat: int = 3
    congestion_control: Annotated[list[str] | None, BeforeValidator(as_list)] = None
    order: str = "random"
    seed: int = 1
    schedule: ScheduleFile
    windows: list[WindowFile] = Field(default_factory=list)
    budget: Size
    daily: Size
    most_experiments: int | None = None
    until: Time | None = None
    agents: list[str] | None = None


def read_plan(path: Path) -> tuple[str, Plan]:
    """A plan's name and the plan; the name is the file's where it has none.

    Raises:
        ScenarioError: every mistake that was found.

    """
    origin = str(path)
    try:
        text = read_text(path, LARGEST_YAML_BYTES)
    except FileError as error:
        raise ScenarioError([Problem(origin, None, "", str(error))]) from None
    return parse_plan(text, origin, path.stem)


def parse_plan(text: str, origin: str, default_name: str) -> tuple[str, Plan]:
    """As `read_plan`, of YAML text; `origin` names it in messages."""
    tree = parse_tree(text, origin)
    source = Provenance(origin, Path(), text, tree.value, tree.lines)
    if not isinstance(tree.value, dict):
        told = "a plan is a mapping with target, sizes, schedule, budget and daily"
        raise ScenarioError([Problem(origin, 1, "", told)])
    try:
        written = PlanFile.model_validate(tree.value)
    except ValidationError as error:
        raise ScenarioError(shape.problems(error, PlanFile, source)) from None
    told_name = written.name or default_name
    try:
        name = TypeAdapter(Name).validate_python(told_name)
    except ValidationError:
        hint = f'"{told_name}" is no name: up to 40 small letters, digits, "-" and "_"'
        raise ScenarioError([source.problem(("name",), hint)]) from None
    told = _in_base_units(written.model_dump(by_alias=True, exclude={"name"}))
    try:
        return name, Plan.model_validate_json(json.dumps(told))
    except ValidationError as error:
        raise ScenarioError(_problems(error, source)) from None


def _in_base_units(value: Any) -> Any:
    if isinstance(value, dict):
        return {_KEYS.get(key, key): _in_base_units(inner) for key, inner in value.items()}
    return value


def _problems(error: ValidationError, source: Provenance) -> Iterator[Problem]:
    given = error.errors(include_url=False)
    for entry, problem in zip(given, shape.problems(error, Plan, _in_file(source)), strict=True):
        text = _API_KEY.sub(lambda found: _FILE_KEYS[found[0]], problem.text)
        key = next((part for part in reversed(entry["loc"]) if isinstance(part, str)), "")
        hint = _HINTS.get(_FILE_KEYS.get(key, key))
        if hint is not None and entry["type"] in _OF_LIMITS:
            written = _written(source, _path_in_file(entry["loc"]), entry["input"])
            # A token that is mistyped may still be a secret.
            text = hint if key == "token" else f"{quoted(written)}: {hint}"
        yield Problem(problem.origin, problem.line, problem.key, text)


def _written(source: Provenance, path: tuple[Any, ...], default: object) -> object:
    """The value of a file at a path; of a single name in the place of a list it is all of it."""
    whole = source.value(path[:-1], None)
    return whole if isinstance(whole, str) else source.value(path, default)


def _path_in_file(path: Any) -> tuple[Any, ...]:
    return tuple(_FILE_KEYS.get(part, part) for part in path)


class _FileProvenance(Provenance):
    """The file, for paths of the API's keys."""

    def problem(self, path: Any, text: str, *, missing: bool = False) -> Problem:
        return super().problem(_path_in_file(path), text, missing=missing)

    def value(self, path: Any, default: object) -> object:
        return super().value(_path_in_file(path), default)


def _in_file(source: Provenance) -> Provenance:
    return _FileProvenance(source.origin, source.folder, source.original, source.tree, source.lines)
