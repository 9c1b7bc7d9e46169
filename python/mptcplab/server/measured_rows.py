"""A result as the tables of recordings, each of one way in which its experiment measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mptcplab.measure import plan as measure
from mptcplab.measure.figures import LEAST_LOAD_S
from mptcplab.measure.other_addresses import Addresses, other_addresses_of_all
from mptcplab.measure.plan import LOADED_MS, LONGEST_MS, LOOKS, Direction, Kind
from mptcplab.measure.survival import address
from mptcplab.measure.transfer import Delivered, delivered, transfer
from mptcplab.recording.manifest import Measured
from mptcplab.server.intake import measured_of
from mptcplab.server.result import Result

CLIENT, SERVER = "agent", "target"
"""Names of both hosts."""
TRANSFER, LOAD, ECHO = "transfer", "load", "echo"
"""Names of flows."""
_TRANSFERS = (Kind.TCP, Kind.MPTCP, Kind.AT_ONCE)
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 15
"""Of an interface, in Linux."""
_UNITS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1))

Row = tuple[str, dict[str, Any]]
"""Name of its table, and its values."""
Protocol = Literal["tcp", "mptcp"]


@dataclass(frozen=True)
class Taken:
    """One recording of a result."""

    variant: str
    protocol: Protocol
    repetition: int
    """Of the experiment, from 0."""
    measured: Measured
    rows: tuple[Row, ...]
    problem: str | None = None
    """The reason for which no figure rests on it, as none does on the page of its result."""
    warning: str | None = None


def taken(result: Result) -> Iterator[Taken]:
    """The recordings of a result, in the order of its steps.

    What a recording has no table for, such as the options that survive, is left out.
    """
    names = path_names([path.interface for path in result.paths])
    every = measured_of(result)
    known = other_addresses_of_all(every.done, every.paths)
    for step, accounts in every.done:
        if step.kind in LOOKS:
            continue
        rows, problem, warning = _rows(step, accounts, every.paths, names, known)
        yield Taken(
            variant=_variant(step, names),
            protocol="mptcp" if step.kind is Kind.MPTCP else "tcp",
            repetition=step.repetition,
            measured=_measured(step, result, names),
            rows=rows,
            problem=problem,
            warning=warning,
        )


_Rows = tuple[tuple[Row, ...], str | None, str | None]
"""With a problem, and a warning."""


def _rows(
    step: measure.Step,
    accounts: Mapping[str, Any],
    paths: Sequence[measure.Path],
    names: Sequence[str],
    known: Addresses,
) -> _Rows:
    connections = accounts["connections"]
    if step.kind is Kind.IDLE:
        return tuple(_echoes(connections[0])), None, connections[0]["failure"]
    if step.kind is Kind.LOADED:
        return _loaded(step, connections)
    by_source = {path.source: name for path, name in zip(paths, names, strict=True)}
    samples = tuple(row for one in connections for row in _samples(step, one, by_source))
    row, problem = _transfer(step, accounts, paths, known)
    if step.kind is Kind.MPTCP and samples:
        row["joins"] = len(samples) - 1
    return (("transfers", row), *samples), problem, None


def path_names(interfaces: Sequence[str]) -> tuple[str, ...]:
    """Names of paths that can be those of folders: their interfaces, numbered where several are."""
    names: list[str] = []
    for interface in interfaces:
        plain = _NO_NAME.sub("_", interface)[:_LONGEST_NAME]
        numbered = (f"{plain}-{number}" for number in range(2, len(interfaces) + 2))
        names.append(next(one for one in (plain, *numbered) if one not in names))
    return tuple(names)


def _variant(step: measure.Step, names: Sequence[str]) -> str:
    """`mptcp-wifi+lte-down-1MB`, `tcp-wifi-down-1MB`, `idle-wifi`."""
    words = [step.kind.value, "+".join(names) if step.path is None else names[step.path]]
    if step.kind in _TRANSFERS:
        assert step.direction is not None
        words += [step.direction.value, _size(step.size_bytes)]
    return "-".join(words)


def _size(size_bytes: int) -> str:
    unit, factor = next(one for one in _UNITS if size_bytes % one[1] == 0)
    return f"{size_bytes // factor}{unit}"


def _measured(step: measure.Step, result: Result, names: Sequence[str]) -> Measured:
    longest_ms = LOADED_MS if step.kind is Kind.LOADED else LONGEST_MS
    assert step.kind not in LOOKS
    return Measured(
        kind=step.kind.value,
        paths=tuple(names),
        path=None if step.path is None else names[step.path],
        way=None if step.direction is None else step.direction.value,
        bytes=step.size_bytes if step.kind in _TRANSFERS else None,
        longest_s=longest_ms / 1e3,
        agent=result.agent,
        plan=result.plan,
        result=result.id,
    )


def _transfer(
    step: measure.Step,
    accounts: Mapping[str, Any],
    paths: Sequence[measure.Path],
    known: Addresses,
) -> tuple[dict[str, Any], str | None]:
    """By one connection, or by TCP over all paths at once: by several that share its size."""
    connections = accounts["connections"]
    came = delivered(step, connections)
    row = _row(TRANSFER, step, came) | {"error": _error(step, connections, came)}
    if step.kind is not Kind.MPTCP:
        is_alone = len(connections) == 1
        return row | {"fallback": False} | (_places(connections[0]) if is_alone else {}), None
    told = transfer(step, accounts, paths, known)
    row["fallback"] = None if told.is_mptcp is None else not told.is_mptcp
    if told.is_mptcp is False:
        return row, "MPTCP fell back to TCP"
    if told.other_addresses:
        return row, f"MPTCP was on other paths, too: {', '.join(sorted(told.other_addresses))}"
    return row, None


def _loaded(step: measure.Step, connections: Sequence[Mapping[str, Any]]) -> _Rows:
    """The load ends with its time or its size, which is no error."""
    load, echoes = connections
    row = _row(LOAD, step, delivered(step, [load])) | {"fallback": False} | _places(load)
    row["error"] = load["failure"]
    lasted_s = load["probe"]["duration_us"] / 1e6
    problem = None
    if lasted_s < LEAST_LOAD_S:
        problem = f"the load lasted {lasted_s:.3g} s, which fills no queue"
    return (("transfers", row), *_echoes(echoes)), problem, echoes["failure"]


def _row(flow: str, step: measure.Step, came: Delivered | None) -> dict[str, Any]:
    """A row of `transfers`; its zero is the first request, when all connections were open."""
    return {
        "traffic": flow,
        "kind": "bulk",
        "index": 0,
        "client": CLIENT,
        "server": SERVER,
        "way": (step.direction or Direction.UP).value,
        "protocol": "mptcp" if step.kind is Kind.MPTCP else "tcp",
        "start_ns": 0,
        "end_ns": None if came is None else came.lasted_ns,
        "bytes": None if came is None else came.payload_bytes,
    }


def _places(connection: Mapping[str, Any]) -> dict[str, str]:
    subflows = connection["probe"]["seen"]["subflows"][:1]
    return {key: one[end] for one in subflows for key, end in _ENDS}


_ENDS = (("source", "local"), ("target", "remote"))


def _error(
    step: measure.Step, connections: Sequence[Mapping[str, Any]], came: Delivered | None
) -> str | None:
    if came is None:
        return "the accounts of both ends contradict each other"
    if came.is_whole:
        return None
    ends = [one[end] for one in connections for end in ("probe", "target")]
    told = [
        *(one["failure"] for one in connections),
        *(end["failure"] for end in ends if end is not None),
    ]
    why = next((text for text in told if text), None)
    missing = f"{came.all_bytes} of {step.size_bytes} bytes came"
    return missing if why is None else f"{missing}: {why}"


def _samples(
    step: measure.Step, connection: Mapping[str, Any], by_source: Mapping[str, str]
) -> Iterator[Row]:
    """The subflows that its receiving end had at last; those of the sending end have closed.

    None where the end does not tell when that was. `by_source` has the agent's paths
    by their addresses.
    """
    is_down = step.direction is Direction.DOWN
    end = connection["probe" if is_down else "target"]
    if end is None or "ended_us" not in end:
        return
    for one in end["seen"]["subflows"]:
        yield (
            "subflow_samples",
            {
                "t_ns": end["ended_us"] * 1_000,
                "node": CLIENT if is_down else SERVER,
                "subflow": f"{one['local']}-{one['remote']}",
                "interface": by_source.get(address(one["local"])) if is_down else None,
                "final": True,
                "bytes_received": one["received_bytes"],
            },
        )


def _echoes(connection: Mapping[str, Any]) -> Iterator[Row]:
    for sequence, rtt_us in enumerate(connection["rtts_us"]):
        yield (
            "latencies",
            {
                "traffic": ECHO,
                "kind": "request_response",
                "sequence": sequence,
                "rtt_ns": rtt_us * 1_000,
            },
        )
