"""The grammar of filters: `mptcp and (bytes > 1 MB or not server.port == 443)`.

filter     = all { "or" all }
all        = one { "and" one }
one        = "not" one | "(" filter ")" | comparison | WORD
comparison = NAME ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
VALUE      = number [ unit ] | address [ "/" bits ] | word
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mptcplab.trace.errors import TraceError

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_SIGN = re.compile(r"==|!=|<=|>=|<|>")
_QUANTITY = re.compile(
    r"[+-]?(?:0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.:/])"
    r"(?:\s*(?!and\b|or\b|not\b)[A-Za-zµμ]+(?:/s)?)?"
    r"|\d+(?:\.\d+)?[A-Za-zµμ]+(?:/s)?(?![\w.:/])"
)
_OTHER = re.compile(r"[^\s()<>=!]+")
_MISTAKES = {"=": "==", "&&": "and", "||": "or", "&": "and", "|": "or", "!": "not"}
_DEEPEST = 50
"""Levels of parentheses and of `not`."""


class FilterError(TraceError):
    """A filter that cannot be read."""

    def __init__(self, message: str, text: str, place: int) -> None:
        """`place` is the character of `text`, from 0, where the mistake stands."""
        self.place = place
        super().__init__(f"{message}\n  {text}\n  {' ' * place}^ character {place + 1}")


@dataclass(frozen=True)
class Word:
    """A word that stands alone."""

    name: str
    place: int


@dataclass(frozen=True)
class Comparison:
    """A field, a sign and a value as it was written."""

    name: str
    sign: str
    value: str
    place: int
    sign_place: int
    value_place: int


@dataclass(frozen=True)
class Not:
    """A condition that must not hold."""

    of: Node


@dataclass(frozen=True)
class Several:
    """Conditions of which all, or one, must hold."""

    sign: Literal["and", "or"]
    parts: tuple[Node, ...]


Node = Word | Comparison | Not | Several


def parse(text: str) -> Node:
    """Reads a filter.

    Raises:
        FilterError: it cannot be read; the text shows where.

    """
    parser = _Parser(text)
    tree = parser.any(0)
    parser.end()
    return tree


class _Parser:
    """Recursive descent over one line; values are read as what they look like."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def any(self, depth: int) -> Node:
        parts = [self._all(depth)]
        while self._take_word("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Several("or", tuple(parts))

    def end(self) -> None:
        self._skip()
        if self._place < len(self._text):
            raise self._error("expected `and`, `or` or the end")

    def _all(self, depth: int) -> Node:
        parts = [self._one(depth)]
        while self._take_word("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else Several("and", tuple(parts))

    def _one(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._error("too deep")
        if self._take_word("not"):
            return Not(self._one(depth + 1))
        self._skip()
        if self._text.startswith("(", self._place):
            self._place += 1
            inner = self.any(depth + 1)
            self._skip()
            if not self._text.startswith(")", self._place):
                raise self._error("expected )")
            self._place += 1
            return inner
        return self._named()

    def _named(self) -> Node:
        place = self._place
        found = _NAME.match(self._text, place)
        if found is None or found[0] in ("and", "or"):
            raise self._error("expected a field, such as `bytes > 1 MB`, or a word such as `mptcp`")
        self._place = found.end()
        self._skip()
        sign_place = self._place
        sign = _SIGN.match(self._text, sign_place)
        if sign is None:
            if self._text[sign_place : sign_place + 1] == "=":
                raise self._error("expected a sign")
            return Word(found[0], place)
        self._place = sign.end()
        self._skip()
        value_place = self._place
        value = _QUANTITY.match(self._text, value_place) or _OTHER.match(self._text, value_place)
        if value is None:
            raise self._error("expected a value")
        self._place = value.end()
        return Comparison(found[0], sign[0], value[0], place, sign_place, value_place)

    def _take_word(self, word: str) -> bool:
        self._skip()
        found = _NAME.match(self._text, self._place)
        if found is None or found[0] != word:
            return False
        self._place = found.end()
        return True

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._place)
        self._place = found.end() if found is not None else self._place

    def _error(self, message: str) -> FilterError:
        rest = self._text[self._place :]
        meant = next((right for wrong, right in _MISTAKES.items() if rest.startswith(wrong)), None)
        hint = f": did you mean {meant}?" if meant is not None else ""
        return FilterError(message + hint, self._text, self._place)
