"""Names of a package that are loaded when they are first used, so that importing it stays cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` for a package: `homes` are its modules, by name."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find


def call(place: str, *arguments: Any) -> Any:
    """Calls a function by its full name, which is loaded now.

    For what a notebook shows of an object, which is made by packages that build on the object's.
    """
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)(*arguments)
