"""Findings to check: `mptcp.goodput >= 0.95 * (tcp-wifi.goodput + tcp-eth.goodput)`.

    finding    = comparison { "and" comparison }
    comparison = sum ( ">=" | "<=" | ">" | "<" | "==" ) sum
    sum        = product { ( "+" | "-" ) product }
    product    = factor { ( "*" | "/" ) factor }
    factor     = number [ unit ] | name | "(" sum ")" | "|" sum "|" | "abs" "(" sum ")" | "-" factor
    name       = VARIANT "." METRIC, such as tcp-wifi.goodput or mptcp.share.wifi

A hyphen inside a name belongs to it, so a subtraction has spaces around its sign. Quantities count
in the units of the metrics: rates in Mbit/s, times in seconds, sizes in bytes, percentages as
fractions of 1.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from mptcplab.scenario.problem import quoted
from mptcplab.scenario.quantity import parse_quantity
from mptcplab.scenario.units import UnitError

Lookup = Callable[[str, str], float | None]
"""Variant and metric path → value, None where it is not known."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*)"
    r"|(?P<sign>>=|<=|==|[><+*/()|%-]))"
)
_UNIT = re.compile(r"\s*(%|[kMG]?bit/s|ns|us|µs|μs|ms|s\b|min\b|[kMG]i?B\b|B\b|[A-Za-zµ]+(?:/s)?)")
_WORDS = ("and", "abs")
_MOST_TOKENS = 150
_MISTAKES = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "=": "==", "&&": "and", ",": "and"}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


class ExpectationError(ValueError):
    """A finding that cannot be read; the text says what is wrong and where."""


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True)
class Name:
    """A metric of a variant."""

    variant: str
    metric: str


@dataclass(frozen=True)
class Unary:
    """`-x` or `|x|`."""

    sign: Literal["-", "abs"]
    of: Expression


@dataclass(frozen=True)
class Binary:
    """An arithmetic operation."""

    sign: Literal["+", "-", "*", "/"]
    left: Expression
    right: Expression


Expression = Number | Name | Unary | Binary


@dataclass(frozen=True)
class Comparison:
    """Two expressions and what should hold between them."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Finding:
    """Comparisons that should all hold."""

    text: str
    comparisons: tuple[Comparison, ...]

    def names(self) -> Iterator[Name]:
        """Every metric that the finding speaks of."""
        for comparison in self.comparisons:
            yield from names_in(comparison.left)
            yield from names_in(comparison.right)


def parse(text: str) -> Finding:
    """Reads a finding; raises `ExpectationError`."""
    parser = _Parser(text)
    comparisons = [parser.comparison()]
    while parser.take("and"):
        comparisons.append(parser.comparison())
    parser.end()
    return Finding(text, tuple(comparisons))


def parse_expression(text: str) -> Expression:
    """Reads one side of a comparison; raises `ExpectationError`."""
    parser = _Parser(text)
    read = parser.expression()
    parser.end()
    return read


def names_in(expression: Expression) -> Iterator[Name]:
    """Every metric that an expression speaks of."""
    match expression:
        case Name():
            yield expression
        case Unary(_, of):
            yield from names_in(of)
        case Binary(_, left, right):
            yield from names_in(left)
            yield from names_in(right)


def evaluate(finding: Finding, lookup: Lookup) -> bool | None:
    """Whether the finding holds; None where a value that decides it is not known."""
    results = [holds(comparison, lookup) for comparison in finding.comparisons]
    if False in results:
        return False
    return None if None in results else True


def value_of(expression: Expression, lookup: Lookup) -> float | None:
    """The value of one side; None where it rests on an unknown one, or divides by zero."""
    match expression:
        case Number(value):
            return value
        case Name(variant, metric):
            return lookup(variant, metric)
        case Unary(sign, of):
            inner = value_of(of, lookup)
            return None if inner is None else abs(inner) if sign == "abs" else -inner
        case Binary(sign, left_side, right_side):
            left, right = value_of(left_side, lookup), value_of(right_side, lookup)
            if left is None or right is None:
                return None
            return _arithmetic(sign, left, right)


def _arithmetic(sign: str, left: float, right: float) -> float | None:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return None if right == 0 else left / right


def holds(comparison: Comparison, lookup: Lookup) -> bool | None:
    """Whether one comparison holds; None where a side is not known."""
    left, right = value_of(comparison.left, lookup), value_of(comparison.right, lookup)
    if left is None or right is None or math.isnan(left) or math.isnan(right):
        return None
    return _COMPARISONS[comparison.sign](left, right)


class _Parser:
    """Recursive descent over the tokens of one line."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._next = 0

    def comparison(self) -> Comparison:
        left = self._sum()
        sign = self._peek()
        if not isinstance(sign, str) or sign not in _COMPARISONS:
            raise ExpectationError(f"expected >=, <=, >, < or == {self._before()}")
        self._next += 1
        return Comparison(sign, left, self._sum())

    def expression(self) -> Expression:
        return self._sum()

    def end(self) -> None:
        if self._next < len(self._tokens):
            raise ExpectationError(f"expected the end or `and` {self._before()}")

    def take(self, token: str) -> bool:
        if self._peek() == token:
            self._next += 1
            return True
        return False

    def _sum(self) -> Expression:
        left = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._next += 1
            left = Binary(sign, left, self._product())  # type: ignore[arg-type]
        return left

    def _product(self) -> Expression:
        left = self._factor()
        while (sign := self._peek()) in ("*", "/"):
            self._next += 1
            left = Binary(sign, left, self._factor())  # type: ignore[arg-type]
        return left

    def _factor(self) -> Expression:
        token = self._peek()
        if isinstance(token, Number | Name):
            self._next += 1
            return token
        if self.take("-"):
            return Unary("-", self._factor())
        if self.take("("):
            return self._closed(self._sum(), ")")
        if self.take("|"):
            return Unary("abs", self._closed(self._sum(), "|"))
        if self.take("abs"):
            if not self.take("("):
                raise ExpectationError("abs needs parentheses: abs(a - b)")
            return Unary("abs", self._closed(self._sum(), ")"))
        raise ExpectationError(f"expected a number or variant.metric {self._before()}")

    def _closed(self, inner: Expression, end: str) -> Expression:
        if not self.take(end):
            raise ExpectationError(f"expected {end} {self._before()}")
        return inner

    def _peek(self) -> str | Number | Name | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _before(self) -> str:
        match self._peek():
            case None:
                return "at the end"
            case Number(value):
                return f"before {value:g}"
            case Name(variant, metric):
                return f"before {quoted(f'{variant}.{metric}')}"
            case str(sign):
                return f"before {quoted(sign)}"


def _tokens(text: str) -> Iterator[str | Number | Name]:
    position, count = 0, 0
    while text[position:].strip():
        found = _TOKEN.match(text, position)
        if found is None:
            rest = text[position:].strip()
            meant = next(
                (right for wrong, right in _MISTAKES.items() if rest.startswith(wrong)), ""
            )
            hint = f": did you mean {meant}?" if meant else ""
            raise ExpectationError(f"cannot be read from {quoted(rest)}{hint}")
        count += 1
        if count > _MOST_TOKENS:
            raise ExpectationError(f"longer than {_MOST_TOKENS} words and signs")
        position = found.end()
        if found["number"]:
            number, position = _number(text, found["number"], position)
            yield number
        elif found["name"]:
            yield _name(found["name"])
        else:
            yield found["sign"]


def _number(text: str, digits: str, position: int) -> tuple[Number, int]:
    unit = _UNIT.match(text, position)
    if unit is None or unit[1] in _WORDS:
        return Number(float(digits)), position
    if unit[1] == "%":
        return Number(float(digits) / 100), unit.end()
    quantity = f"{digits} {unit[1]}"
    try:
        return Number(parse_quantity(quantity).value), unit.end()
    except UnitError as error:
        raise ExpectationError(f"{quoted(quantity)}: {error}") from None


def _name(word: str) -> str | Name:
    if word in _WORDS:
        return word
    variant, dot, metric = word.partition(".")
    if not dot:
        raise ExpectationError(
            f"{quoted(word)} names no metric: write variant.metric, such as {word}.goodput"
        )
    return Name(variant, metric)
