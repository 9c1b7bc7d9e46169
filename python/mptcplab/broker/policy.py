"""The broker's policy: who may do what with his own connections. Read from YAML."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictStr,
    ValidationError,
    model_validator,
)

from mptcplab.broker.options import OPTIONS
from mptcplab.scenario.check.shape import problems
from mptcplab.scenario.fields import LONGEST_INTERFACE_NAME_BYTES, Model, RefusalError
from mptcplab.scenario.problem import Problem, ScenarioError, did_you_mean, quoted
from mptcplab.scenario.provenance import Provenance
from mptcplab.scenario.tree import parse_tree
from mptcplab.user_file import LARGEST_YAML_BYTES, FileError, read_text

ALL = "all"
_LARGEST_ID = 2**32 - 2
_MOST_SUBFLOWS = 256
"""What MPTCP_FULL_INFO is asked for."""
_NOT_IN_INTERFACE_NAMES = b" /:%\xa0"
"""Linux takes each byte for a character of Latin-1: the last is a space, too."""


def _number(find: Callable[[str], int], kind: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"expected a {kind}'s name or number")
    if isinstance(value, str):
        try:
            return find(value)
        except KeyError:
            raise ValueError(f"there is no {kind} of this name") from None
    if not 0 <= value <= _LARGEST_ID:
        raise ValueError(f"numbers of {kind}s go from 0 to {_LARGEST_ID}")
    return value


def user_number(value: object) -> int:
    """Number of a user, given by name or number. Raises `ValueError`."""
    return _number(lambda name: pwd.getpwnam(name).pw_uid, "user", value)


def _group_number(value: object) -> int:
    return _number(lambda name: grp.getgrnam(name).gr_gid, "group", value)


def _numbers(one: Callable[[object], int]) -> Callable[[object], list[int] | str]:
    def numbers(value: object) -> list[int] | str:
        if value == ALL:
            return ALL
        if not isinstance(value, list):
            return [one(value)]
        found = []
        for entry in value:
            try:
                found.append(one(entry))
            except ValueError as error:
                raise ValueError(f"{quoted(entry)}: {error}") from None
        return found

    return numbers


def _yes_or_no(value: object) -> object:
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


def _interface(name: str) -> str:
    """Refuses what dev_valid_name() and dev_alloc_name() of Linux refuse, and what has no glyph."""
    encoded = name.encode(errors="replace")
    if (
        not 1 <= len(encoded) <= LONGEST_INTERFACE_NAME_BYTES
        or name in (".", "..")
        or not name.isprintable()
        or any(byte in _NOT_IN_INTERFACE_NAMES for byte in encoded)
    ):
        raise ValueError(
            "no name of an interface: 1 to 15 bytes without spaces, /, : and %; * for anything"
        )
    return name


def _option(name: str) -> str:
    if name not in OPTIONS:
        raise ValueError(did_you_mean(name, OPTIONS))
    return name


def _congestion_control(name: str) -> str:
    if not name.isascii() or not name.isprintable() or not 1 <= len(name) <= 15:
        raise ValueError("no name of a congestion control: 1 to 15 letters")
    return name


Named = list[int] | Literal["all"]


class Rule(Model):
    """What those whom it names may do."""

    users: Annotated[Named, BeforeValidator(_numbers(user_number))] = Field(default_factory=list)
    groups: Annotated[Named, BeforeValidator(_numbers(_group_number))] = Field(default_factory=list)
    interfaces: list[Annotated[StrictStr, AfterValidator(_interface)]] = Field(
        default_factory=lambda: ["*"]
    )
    max_subflows: Annotated[int, Field(ge=1, le=_MOST_SUBFLOWS)] = 8
    backup: Annotated[bool, BeforeValidator(_yes_or_no)] = True
    announce: Literal["no", "own", "any"] = "own"
    options: list[Annotated[StrictStr, AfterValidator(_option)]] = Field(default_factory=list)
    congestion_controls: list[Annotated[StrictStr, AfterValidator(_congestion_control)]] | None = (
        None
    )

    @model_validator(mode="after")
    def _names_somebody(self) -> Rule:
        if not self.users and not self.groups:
            raise RefusalError("", "names nobody: add `users: all`, say, or `groups: [staff]`")
        if self.congestion_controls is not None and "TCP_CONGESTION" not in self.options:
            raise RefusalError(
                "congestion_controls", "says nothing without `options: [TCP_CONGESTION]`"
            )
        return self


class Limits(Model):
    """What one user may have at once."""

    sessions: Annotated[int, Field(ge=1, le=100_000)] = 2048
    opens: Annotated[int, Field(ge=1, le=10_000)] = 256
    watches: Annotated[int, Field(ge=0, le=100_000)] = 1024
    requests_per_second: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000


class Policy(Model):
    """Rules, of which the first that names a client decides, and limits."""

    rules: list[Rule]
    limits: Limits = Limits()


def load_policy(path: Path) -> tuple[Policy, list[str]]:
    """Reads a policy; also tells the place of each rule.

    Raises:
        ScenarioError: every problem that was found, with line and mend.

    """
    try:
        text = read_text(path, LARGEST_YAML_BYTES)
    except FileError as error:
        raise ScenarioError([Problem(str(path), None, "", str(error))]) from None
    return parse_policy(text, str(path))


def parse_policy(text: str, origin: str) -> tuple[Policy, list[str]]:
    """As `load_policy`, of text that comes from `origin`."""
    tree = parse_tree(text, origin, kind="policy")
    if not isinstance(tree.value, dict):
        mend = "a policy is a mapping: `rules: [{users: all}]`, say"
        raise ScenarioError([Problem(origin, 1, "", mend)])
    source = Provenance(origin, Path(), text, tree.value, tree.lines)
    try:
        policy = Policy.model_validate(tree.value)
    except ValidationError as error:
        raise ScenarioError(problems(error, Policy, source)) from None
    places = [
        f"{origin}:{tree.lines.get(('rules', number), 1)}" for number in range(len(policy.rules))
    ]
    return policy, places


def own_policy() -> tuple[Policy, list[str]]:
    """What holds without a policy: the broker's own user may do everything."""
    rule = Rule(users=[os.getuid()], max_subflows=_MOST_SUBFLOWS, options=list(OPTIONS))
    return Policy(rules=[rule]), ["without --policy"]


def for_native(policy: Policy, places: list[str]) -> dict[str, Any]:
    """The policy as the native side reads it."""

    def named(numbers: list[int] | str) -> object:
        return ALL if isinstance(numbers, str) else {"these": numbers}

    return {
        "policy": {
            "rules": [
                {
                    "place": place,
                    "users": named(rule.users),
                    "groups": named(rule.groups),
                    "interfaces": rule.interfaces,
                    "max_subflows": rule.max_subflows,
                    "backup": rule.backup,
                    "announce": rule.announce,
                    "options": [OPTIONS[name] for name in rule.options],
                    "congestion_controls": rule.congestion_controls,
                }
                for rule, place in zip(policy.rules, places, strict=True)
            ]
        },
        "limits": policy.limits.model_dump(),
    }
