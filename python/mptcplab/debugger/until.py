"""Goals of a session, as people write them: times, packets, decisions, conditions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab._native import DebugSession
from mptcplab.debugger.problem import DebugError
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.units import UnitError, parse_rate, parse_size, parse_time

_ROOTS = ("connections", "links", "hosts", "now_ns")
_PATH = re.compile(r"[a-z_0-9]+(?:\[[^\]]*\]|\.[a-z_0-9]+)*")
_COMPARISON = re.compile(rf"\s*({_PATH.pattern})\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*", re.DOTALL)
_TIME = re.compile(r"(\+)?\s*([0-9.]+\s*(?:ns|us|µs|μs|ms|s|min))")
_PARSERS = {"_bytes": parse_size, "_ns": parse_time, "_bps": parse_rate}
_WORDS = {"true": True, "false": False, "none": None}
_HOW = (
    'a time ("500 ms", "+10 ms"), "packet", "packet on LINK", "packet at HOST", a decision such as '
    '"subflow opened", or a condition such as "connections[0].subflows[1].cwnd_bytes < 6000"'
)


@dataclass(frozen=True)
class Until:
    """A goal of a session: a time, or something to stop at."""

    text: str
    """As it was asked for."""
    time_ns: int | None
    stop: dict[str, Any] | None


def is_time(text: str) -> bool:
    """Whether a goal is a time."""
    return _TIME.fullmatch(" ".join(text.split())) is not None


def parse_until(text: str, now_ns: int) -> Until:
    """Reads what a session runs to.

    Raises:
        DebugError: it cannot be read; says how to write it.

    """
    plain = " ".join(text.split())
    time = _TIME.fullmatch(plain)
    if time is not None:
        begin = now_ns if time[1] else 0
        return Until(plain, begin + _quantity(parse_time, time[2], plain), None)
    if plain == "packet" or plain.startswith("packet "):
        return Until(plain, None, {"packet": _packet(plain)})
    decision = _decision(plain)
    if decision is not None:
        return Until(plain, None, {"decision": decision})
    if re.search(r"[<>=]", plain):
        return Until(plain, None, {"condition": parse_condition(plain)})
    kinds = DebugSession.decisions()
    raise DebugError(f'"{plain}": give {_HOW}; as decisions there are {", ".join(kinds)}')


def duration_ns(time: str | int) -> int:
    """Nanoseconds of a time; a number is that already.

    Raises:
        DebugError: it is no time.

    """
    return time if isinstance(time, int) else _quantity(parse_time, time, time)


def parse_condition(text: str) -> dict[str, Any]:
    """Reads a condition: comparisons that are joined by `and` and `or`, of which `and` binds more.

    Raises:
        DebugError: it cannot be read.

    """
    either = [
        _joined("all", [_comparison(one) for one in re.split(r"\s+and\s+", part)])
        for part in re.split(r"\s+or\s+", text)
    ]
    return _joined("any", either)


def parse_path(text: str) -> list[str | int]:
    """The parts of a value's name: `connections[0].subflows[1].cwnd_bytes`.

    Raises:
        DebugError: it is no name.

    """
    if _PATH.fullmatch(text) is None:
        raise DebugError(f'"{text}" is no name of a value')
    parts: list[str | int] = []
    for word, bracket in re.findall(r"([a-z_0-9]+)|\[([^\]]*)\]", text):
        part = word or bracket.strip().strip("\"'")
        parts.append(int(part) if part.isascii() and part.isdigit() and not word else part)
    return parts


def _joined(how: str, conditions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return conditions[0] if len(conditions) == 1 else {how: list(conditions)}


def _comparison(text: str) -> dict[str, Any]:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        raise DebugError(f'"{text.strip()}" compares nothing: write NAME < VALUE, say')
    left, operator, right = found.groups()
    path = parse_path(left)
    if str(path[0]) not in _ROOTS:
        raise DebugError(f'"{left}": {did_you_mean(str(path[0]), list(_ROOTS))}')
    return {"compare": [{"path": path}, operator, _right(str(path[-1]), right)]}


def _right(name: str, text: str) -> dict[str, Any]:
    """The right side of a comparison with the value of a name, whose ending says its unit."""
    if text.split("[")[0].split(".")[0] in _ROOTS:
        return {"path": parse_path(text)}
    if text in _WORDS:
        return {"value": _WORDS[text]}
    if text.isascii() and text.isdigit():
        return {"value": int(text)}
    if text[0] in "\"'":
        return {"value": text.strip(text[0])}
    for ending, parse in _PARSERS.items():
        if name.endswith(ending):
            return {"value": _quantity(parse, text, text)}
    if text[0].isdigit():
        raise DebugError(f'"{text}": {name} has no unit: give a whole number')
    return {"value": text}


def _quantity(parse: Any, text: str, whole: str) -> int:
    try:
        return int(parse(text))
    except UnitError as error:
        raise DebugError(f'"{whole}": {error}') from error


def _packet(text: str) -> dict[str, Any]:
    found = re.fullmatch(r"packet(?: on (?P<link>\S+))?(?: at (?P<host>\S+))?", text)
    if found is None:
        raise DebugError(f'"{text}": write packet, packet on LINK, or packet at HOST')
    return found.groupdict()


def _decision(text: str) -> dict[str, Any] | None:
    for kind in DebugSession.decisions():
        if text == kind or text.startswith(f"{kind} "):
            rest = text.removeprefix(kind)
            form = r"(?: of connection (?P<connection>\d{1,9}))?(?: at (?P<host>\S+))?"
            found = re.fullmatch(form, rest)
            if found is None:
                how = f"{kind}, {kind} of connection 0, or {kind} at HOST"
                raise DebugError(f'"{text}": write {how}')
            number = found["connection"]
            connection = None if number is None else int(number)
            return {"kind": kind, "connection": connection, "host": found["host"]}
    return None
