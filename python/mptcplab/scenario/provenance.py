"""Where a scenario came from, and where in it each key stands."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from mptcplab.scenario.problem import Problem
from mptcplab.scenario.tree import Path as KeyPath
from mptcplab.scenario.tree import dotted

_ABSENT = object()


@dataclass(frozen=True)
class Provenance:
    """A scenario's file and what was changed on top of it."""

    origin: str
    folder: Path = Path()
    original: str = ""
    tree: Any = None
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Dotted path → value, from `--set` and the like."""
    variant_of: KeyPath = ()
    """For a variant's scenario: the path of its `set:`."""
    variant_sets: Mapping[str, Any] = field(default_factory=dict)
    reads_files: bool = True
    """Whether the checks read the files of traces and of policies."""

    def text(self) -> str:
        """The file's text, or YAML of the tree where it was changed."""
        if not self.overrides and not self.variant_sets:
            return self.original
        out = io.StringIO()
        yaml = YAML(typ="safe", pure=True)
        # Addresses are assigned in the order of the links: it must survive.
        yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
        yaml.dump(self.tree, out)
        return out.getvalue()

    def problem(self, path: Iterable[str | int], text: str, *, missing: bool = False) -> Problem:
        """A problem at a path, with its line.

        The path is cut to what the author wrote (`jitter: 3` is no `jitter.uniform`); the last
        part of a `missing` one is kept.
        """
        full: KeyPath = tuple(path)
        last: KeyPath = full[-1:] if missing else ()
        full = full[: len(full) - len(last)]
        for sets, start, origin in (
            (self.variant_sets, self.variant_of, self.origin),
            (self.overrides, (), "--set"),
        ):
            for key in sets:
                if dotted(full).startswith(key) and dotted(full)[len(key) :][:1] in ("", "."):
                    line = self.lines.get((*start, key)) if start else None
                    return Problem(origin, line, dotted((*start, *full, *last)), text)
        while full and full not in self.lines and _at(self.tree, full) is _ABSENT:
            full = full[:-1]
        if not full and _at(self.tree, ("topology",)) is not _ABSENT:
            full = ("topology",)
        return Problem(self.origin, self.line(full), dotted((*full, *last)), text)

    def value(self, path: KeyPath, default: object) -> object:
        """The value at the path as it was written."""
        found: object = _at(self.tree, path)
        return default if found is _ABSENT else found

    def line(self, path: KeyPath) -> int | None:
        """Line of the nearest key at or above the path."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1 if self.lines else None)


def _at(tree: Any, path: KeyPath) -> Any:
    """The value at the path, `_ABSENT` where there is none."""
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return tree
