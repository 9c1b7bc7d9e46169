"""A session's progress is told where no terminal shows a bar."""

from pathlib import Path

import pytest

from mptcplab.engine.job import Job, Task
from mptcplab.progress import Lines, RunProgress, in_words
from mptcplab.scenario import load


class Clock:
    """A clock that is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_line_every_ten_seconds_at_most(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    scenario = load("lisbon/A1")
    jobs = [Job(Task(scenario, "mptcp", n, n), Path(str(n))) for n in (1, 2, 3, 4)]
    with RunProgress(jobs, "x", Lines(4, clock)) as progress:
        for number in range(4):
            progress.begun(number, 8.0)
            for second in (1, 3, 5, 7):
                clock.now_s = 8.0 * number + second
                progress.reached(number, float(second))
            clock.now_s = 8.0 * (number + 1)
            progress.ended(number)
    assert capsys.readouterr().err.splitlines() == [
        "lisbon/A1 mptcp 2 (2/4): 34 % done, about 21 s left",
        "lisbon/A1 mptcp 3 (3/4): 66 % done, about 11 s left",
        "lisbon/A1 mptcp 4 (4/4): 97 % done, about 1 s left",
    ]


def test_a_session_that_is_soon_over_writes_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(1, Clock())
    lines.show("x", 0.5)
    lines.show("x", 1.0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7261, "2 h 1 min")],
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
