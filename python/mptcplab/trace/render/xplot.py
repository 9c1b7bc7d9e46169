"""Graphs in the language of xplot, as tcptrace writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

COLOURS = {
    "new": "white",
    "fast_retransmission": "red",
    "timeout_retransmission": "orange",
    "out_of_order": "pink",
    "keep_alive": "blue",
    "window_probe": "blue",
    "reinjected": "magenta",
    "acknowledgement": "green",
    "window": "yellow",
    "sack": "purple",
}
"""By what is drawn. Points of round trips and data in flight have the colour of their subflow."""
SUBFLOWS = ("white", "green", "red", "yellow", "purple", "orange", "magenta", "pink", "blue")
"""Colours of subflows in turn."""
STEPS = ("acknowledgement", "window")
"""Drawn as lines that stay at a value until the next one."""


@dataclass(frozen=True)
class Labels:
    """Title of a graph, and the word at its vertical axis."""

    title: str
    value: str


def xplot(graph: pl.DataFrame, labels: Labels, divisor: int = 1) -> Iterator[str]:
    """Returns the lines of a graph; values are divided by `divisor`, times are since the epoch."""
    yield "timeval unsigned"
    yield from ("title", labels.title, "xlabel", "time", "ylabel", labels.value)
    steps: dict[str, tuple[int, int]] = {}
    columns = graph.select("t_ns", "what", "subflow", "low", "high")
    for at, what, subflow, low, high in columns.iter_rows():
        first, last = low // divisor, high // divisor
        if what in STEPS:
            before = steps.get(what)
            steps[what] = (at, first)
            yield COLOURS[what]
            yield from _step(before, at, first)
        elif what in COLOURS:
            yield COLOURS[what]
            yield from _segment(what, at, first, last)
        else:
            yield _colour(subflow)
            yield f"dot {_time(at)} {max(0, first)}"
    yield "go"


def _segment(what: str, at: int, low: int, high: int) -> Iterator[str]:
    time, low, high = _time(at), max(0, low), max(0, high)
    yield f"line {time} {low} {time} {high}"
    if what == "sack":
        yield f"htick {time} {high}"
        return
    yield f"darrow {time} {low}"
    yield f"uarrow {time} {high}"
    if what.endswith("retransmission"):
        yield from (f"atext {time} {high}", "R")


def _step(before: tuple[int, int] | None, at: int, value: int) -> Iterator[str]:
    if before is None:
        yield f"dot {_time(at)} {max(0, value)}"
        return
    then, last = before
    yield f"line {_time(then)} {max(0, last)} {_time(at)} {max(0, last)}"
    if value != last:
        yield f"line {_time(at)} {max(0, last)} {_time(at)} {max(0, value)}"


def _colour(subflow: int | None) -> str:
    return "blue" if subflow is None else SUBFLOWS[subflow % len(SUBFLOWS)]


def _time(at_ns: int) -> str:
    """Returns seconds and microseconds, the finest that xplot knows."""
    micros = max(0, at_ns) // 1000
    return f"{micros // 10**6}.{micros % 10**6:06d}"


def text(lines: Iterable[str]) -> str:
    """Returns the lines as a file."""
    return "\n".join(lines) + "\n"
