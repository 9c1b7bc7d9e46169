"""A run that goes on, on outputs that are kept."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console
from tests.live.rows import session

from mptcplab.live import terminal
from mptcplab.live.terminal import RunLines, Screen

UP = "\x1b[1A"
"""Moves the cursor to the line above."""


def test_a_second_series_of_runs_leaves_what_stands_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "DRAWN_EVERY_S", 3600)
    file = io.StringIO()
    screen = Screen(session(), Console(file=file, width=100, height=24, force_terminal=True))
    screen.begin()
    screen._draw()
    screen.end()
    first = len(file.getvalue())
    screen.begin()
    screen._draw()
    drawn = file.getvalue()[first:]
    screen.end()
    assert "RTT ms" in drawn
    assert UP not in drawn
    assert UP in file.getvalue()[first + len(drawn) :], "the table goes"


def test_an_output_that_takes_nothing_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LINE_EVERY_S", 0.001)
    monkeypatch.setattr(terminal, "PATIENCE_S", 0.01)
    begun, taken = threading.Event(), threading.Event()
    written: list[str] = []

    def write(words: str) -> None:
        written.append(words)
        begun.set()
        taken.wait()

    late = threading.Timer(10.0, taken.set)
    late.start()
    lines = RunLines(session(), write)
    for _ in range(2):
        lines.begin()
        begun.wait()
        lines.end()
    was_taken = taken.is_set()
    late.cancel()
    taken.set()
    assert not was_taken
    assert len(written) == 1
