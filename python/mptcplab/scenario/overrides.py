"""Values given on top of a scenario: `--set PATH=VALUE` and the `set:` of a variant."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from mptcplab.scenario.problem import did_you_mean, quoted
from mptcplab.scenario.traffic import OLDER_KEYS

_NAMED = {
    ("hosts", "*"): "host",
    ("hosts", "*", "interfaces", "*"): "interface",
    ("routers", "*"): "router",
    ("switches", "*"): "switch",
    ("links", "*"): "link",
    ("variants", "*"): "variant",
}
"""Paths whose last part is a name that must exist already, and what it is the name of."""
_SAME_KEYS = OLDER_KEYS | {key: older for older, key in OLDER_KEYS.items()}
"""Two keys of traffic with one meaning: a value at one of them replaces that at the other."""


class PathError(ValueError):
    """A path that leads nowhere; the text says where it ends."""


def applied(tree: Any, values: Mapping[str, Any]) -> Any:
    """A copy of the tree with the values at their dotted paths. Raises `PathError`."""
    changed = copy.deepcopy(tree)
    for path, value in values.items():
        _put(changed, path, copy.deepcopy(value))
    return changed


def _put(tree: Any, path: str, value: Any) -> None:
    parts = path.split(".")
    if not all(parts):
        raise PathError("is no path: write it like links.wifi.rate")
    here = tree
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if isinstance(here, list):
            position = _position(here, part, ".".join(parts[:index]))
            if last:
                here[position] = value
            else:
                here = here[position]
        elif isinstance(here, dict):
            _check_named(parts[: index + 1], here)
            if last:
                if parts[0] == "traffic":
                    here.pop(_SAME_KEYS.get(part, part), None)
                here[part] = value
            else:
                if here.get(part) is None:
                    here[part] = {}
                here = here[part]
        else:
            whole = ".".join(parts[:index])
            raise PathError(f"{whole} is {quoted(here)}, which has no {part}: set {whole} itself")


def _position(items: list[Any], part: str, where: str) -> int:
    if part.isascii() and part.isdigit() and len(part) < 7 and int(part) < len(items):
        return int(part)
    known = f"0 to {len(items) - 1}" if len(items) > 1 else "0"
    raise PathError(f"{where} is a list: give a position ({known}) instead of {quoted(part)}")


def _check_named(parts: list[str], here: dict[str, Any]) -> None:
    for pattern, kind in _NAMED.items():
        if len(pattern) == len(parts) and parts[-1] not in here:
            fixed = [word for word, shape in zip(parts, pattern, strict=True) if shape != "*"]
            if fixed == [shape for shape in pattern if shape != "*"]:
                raise PathError(
                    f"there is no {kind} {quoted(parts[-1])}: {did_you_mean(parts[-1], here)}"
                )
