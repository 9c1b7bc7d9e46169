"""State as names and values, and what has changed between two states."""

from __future__ import annotations

import re
from typing import Any


def flat(state: Any, begin: str = "") -> dict[str, Any]:
    """The values of a state by their names, as conditions have them.

    Packets are left out.
    """
    found: dict[str, Any] = {}
    if isinstance(state, dict):
        for name, value in state.items():
            if name != "packets":
                is_named = begin in ("links", "hosts")
                place = f"[{name}]" if is_named else f".{name}" if begin else name
                found |= flat(value, begin + place)
    elif isinstance(state, list):
        for place, value in enumerate(state):
            found |= flat(value, f"{begin}[{place}]")
    else:
        found[begin] = state
    return found


def difference(before: dict[str, Any], now: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Name → the value before and now, where they differ; null where there is none."""
    names = [*now, *(name for name in before if name not in now)]
    pairs = {name: (before.get(name), now.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def shortened(changes: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    """The changes for people: of subflows that have come or gone only their state."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, pair in changes.items():
        subflow = _SUBFLOW.match(name)
        if subflow is None:
            found[name] = pair
            continue
        state = changes.get(f"{subflow[0]}.state")
        if state is None or None not in state:
            found[name] = pair
        else:
            found[subflow[0]] = state
    return found


_SUBFLOW = re.compile(r"connections\[\d+\]\.(?:client|server)\.subflows\[\d+\]")
