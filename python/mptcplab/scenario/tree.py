"""YAML text as plain dicts, lists and scalars, with the line of every key.

Built from the parser's events rather than by a constructor: it costs no recursion, finds duplicate
keys, bounds size, nesting and the expansion of aliases, and takes no tags. Plain scalars are read
by the core schema of YAML 1.2 (so `no` and `off` are text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from mptcplab.printable import UNPRINTABLE, escaped
from mptcplab.scenario.problem import Problem, ScenarioError, quoted
from mptcplab.user_file import LARGEST_YAML_BYTES

DEEPEST_NESTING = 20
MOST_VALUES = 20_000

Path = tuple[str | int, ...]
"""Keys and list indices from the top."""

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,18}|[0-9]{1,18}(\.[0-9]{0,18})?)([eE][-+]?[0-9]{1,2})?")
_CONSTANTS: dict[str, bool | None] = {
    word: value
    for words, value in (
        (("", "~", "null", "Null", "NULL"), None),
        (("true", "True", "TRUE"), True),
        (("false", "False", "FALSE"), False),
    )
    for word in words
}


@dataclass(frozen=True)
class Tree:
    """A YAML document."""

    value: Any
    """Dicts, lists, text, numbers, booleans and None."""
    lines: dict[Path, int] = field(default_factory=dict)
    """Line (from 1) of each key and list item."""


@dataclass
class _Open:
    """A mapping or sequence that is being read."""

    value: dict[str, Any] | list[Any]
    path: Path
    anchor: str | None
    values_before: int
    key: str | None = None


class _RefusedError(Exception):
    def __init__(self, line: int | None, text: str, path: Path = ()) -> None:
        self.line, self.text, self.path = line, text, path


def dotted(path: Path) -> str:
    """`("links", "wifi", "rate")` as `links.wifi.rate`."""
    return ".".join(str(part) for part in path)


def parse_tree(text: str, origin: str) -> Tree:
    """Reads one YAML document.

    Raises `ScenarioError` where the text is no YAML, too large, too deep, has duplicate keys, tags,
    keys that are not text, or characters that cannot be printed.
    """
    if len(text.encode(errors="surrogatepass")) > LARGEST_YAML_BYTES:
        raise _error(origin, None, f"larger than {LARGEST_YAML_BYTES // 1024} KiB")
    builder = _Builder()
    try:
        for event in _events(text):
            builder.take(event)
    except _RefusedError as refused:
        raise _error(origin, refused.line, refused.text, dotted(refused.path)) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else int(mark.line) + 1
        raise _error(origin, line, f"not valid YAML: {_first_line(error.problem)}") from None
    except (YAMLError, ValueError) as error:
        raise _error(origin, None, f"not valid YAML: {_first_line(error)}") from None
    if builder.duplicates:
        raise ScenarioError(
            Problem(origin, line, dotted(path), f"given twice (first in line {first})")
            for path, line, first in builder.duplicates
        )
    return Tree(builder.top, builder.lines)


def parse_value(text: str, origin: str) -> Any:
    """A value as given on the command line: a scalar, or a mapping or list in YAML's flow style."""
    return parse_tree(text, origin).value


def _error(origin: str, line: int | None, text: str, key: str = "") -> ScenarioError:
    return ScenarioError([Problem(origin, line, key, text)])


def _first_line(error: object) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else "unreadable"


def _events(text: str) -> Iterator[Event]:
    yield from YAML(typ="safe", pure=True).parse(text)


class _Builder:
    """Puts the tree together from events."""

    def __init__(self) -> None:
        self.top: Any = None
        self.lines: dict[Path, int] = {}
        self.duplicates: list[tuple[Path, int, int]] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0
        self._values = 0

    def take(self, event: Event) -> None:
        line = int(event.start_mark.line) + 1 if event.start_mark is not None else None
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _RefusedError(line, "a second document: a file holds one scenario")
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close()
        elif isinstance(event, NodeEvent):
            self._node(event, line or 1)

    def _node(self, event: NodeEvent, line: int) -> None:
        container = self._stack[-1] if self._stack else None
        if container is not None and isinstance(container.value, dict) and container.key is None:
            container.key = self._key(event, line, container)
            return
        path = self._child_path(container)
        if isinstance(container.value if container else None, list):
            self.lines[path] = line
        if isinstance(event, AliasEvent):
            if event.anchor not in self._anchors:
                raise _RefusedError(line, f'"*{event.anchor}" refers to nothing before it', path)
            value, values = self._anchors[event.anchor]
            self._count(values, line)
            self._attach(value)
            return
        tag = getattr(event, "tag", None)
        if tag is not None and tag != "!":
            raise _RefusedError(line, f"tags such as {quoted(str(tag))} are not used here", path)
        self._count(1, line)
        if isinstance(event, ScalarEvent):
            _check_printable(event.value, line, path)
            value = event.value if event.style is not None else _resolve(event.value)
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, 1)
            self._attach(value)
        else:
            if len(self._stack) >= DEEPEST_NESTING:
                raise _RefusedError(line, f"nested deeper than {DEEPEST_NESTING} levels", path[:3])
            empty: dict[str, Any] | list[Any]
            empty = [] if isinstance(event, SequenceStartEvent) else {}
            assert isinstance(event, SequenceStartEvent | MappingStartEvent)
            self._stack.append(_Open(empty, path, event.anchor, self._values))

    def _key(self, event: NodeEvent, line: int, container: _Open) -> str:
        if not isinstance(event, ScalarEvent):
            raise _RefusedError(line, "a key must be plain text", container.path)
        key = str(event.value)
        _check_printable(key, line, container.path)
        path = (*container.path, key)
        if key in container.value:
            self.duplicates.append((path, line, self.lines[path]))
        else:
            self.lines[path] = line
        return key

    def _child_path(self, container: _Open | None) -> Path:
        if container is None:
            return ()
        if isinstance(container.value, list):
            return (*container.path, len(container.value))
        return (*container.path, container.key or "")

    def _count(self, values: int, line: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise _RefusedError(line, f"more than {MOST_VALUES} values (aliases counted in full)")

    def _attach(self, value: Any) -> None:
        if not self._stack:
            self.top = value
            return
        container = self._stack[-1]
        if isinstance(container.value, list):
            container.value.append(value)
        else:
            container.value[container.key or ""] = value
            container.key = None

    def _close(self) -> None:
        closed = self._stack.pop()
        if closed.anchor is not None:
            # Registered when complete, so that an alias inside its own anchor refers to nothing.
            self._anchors[closed.anchor] = (closed.value, self._values - closed.values_before + 1)
        self._attach(closed.value)


def _check_printable(text: str, line: int, path: Path) -> None:
    found = UNPRINTABLE.search(text)
    if found is not None:
        name = escaped(found[0])
        raise _RefusedError(line, f"holds {name}, which cannot be printed: take it out", path)


def _resolve(text: str) -> str | int | float | bool | None:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
