"""Connections, links and hosts of a session, each read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, overload

from mptcplab._native import DebugSession
from mptcplab.debugger.problem import DebugError
from mptcplab.debugger.state import Connection
from mptcplab.scenario.problem import did_you_mean

_T = TypeVar("_T")


class Connections(Sequence[Connection]):
    """The connections, each read when it is asked for."""

    def __init__(self, core: DebugSession) -> None:
        self._core = core

    def __len__(self) -> int:
        return self._core.connection_count

    @overload
    def __getitem__(self, place: int) -> Connection: ...
    @overload
    def __getitem__(self, place: slice) -> list[Connection]: ...
    def __getitem__(self, place: int | slice) -> Connection | list[Connection]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        told = self._core.connection(number) if number >= 0 else None
        if told is None:
            raise IndexError(f"there is no connection {place}: {len(self)} were opened so far")
        return Connection.read(json.loads(told))


class Named(Mapping[str, _T]):
    """Things by their names, each read when it is asked for."""

    def __init__(self, kind: str, names: list[str], read: Callable[[int], _T]) -> None:
        self._kind, self._names, self._read = kind, names, read

    def __getitem__(self, name: str) -> _T:
        if name not in self._names:
            hint = did_you_mean(name, self._names)
            raise DebugError(f"there is no {self._kind} '{name}': {hint}")
        return self._read(self._names.index(name))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
