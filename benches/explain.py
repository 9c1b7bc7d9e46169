"""Does `mptcplab explain` name the cause that was put in by hand, and does its remedy help?

`--repeat` is the seed of the cases; `--seconds` does not matter. The causes of each case are
written to `out/explain.csv`.
"""

from __future__ import annotations

import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine import run
from mptcplab.explain import Explanation, explain
from mptcplab.scenario import loads

from .effort import Effort
from .explain_cases import Case, cases
from .figures import Figure, figure

_NUMBER = 33


@dataclass(frozen=True)
class Judged:
    """A case and its explanation."""

    case: Case
    told: Explanation

    @property
    def is_right(self) -> bool:
        """Whether the first cause is that of the case, or none was found for a healthy one."""
        if self.case.cause is None or not self.told.causes:
            return self.case.cause is None and not self.told.causes
        first = self.told.causes[0]
        right = {(self.case.cause, self.case.path)}
        if self.case.cause == "head_of_line_blocking":
            # A path with a long delay, and buffers too small for it, are one matter.
            right.add(("send_buffer_too_small", None))
        return (first.name, first.path) in right


def measure(effort: Effort) -> list[Figure]:
    """Shares of the cases, of the seed that `effort.repeat` is."""
    found = [judged(case) for case in cases(effort.repeat, effort.sized(_NUMBER, 2))]
    path = Path("out/explain.csv")
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("case", "cause", "path", "right", "found"))
        for one in found:
            names = [f"{cause.name}:{cause.path or ''}" for cause in one.told.causes]
            case = one.case
            rows.writerow((case.name, case.cause, case.path, one.is_right, " ".join(names)))
    ill = [one for one in found if one.case.cause is not None]
    healthy = [one for one in found if one.case.cause is None]
    return [
        figure("first cause right", "of 1", [_share(ill)], low=0.95),
        figure("healthy without a cause", "of 1", [_share(healthy)], low=1),
    ]


def judged(case: Case) -> Judged:
    """Runs a case and explains it."""
    scenario = loads(case.text, case.name)
    with tempfile.TemporaryDirectory() as folder:
        recording = run(scenario, "mptcp", Path(folder) / "run", seed=1, engine="sim")
        return Judged(case, explain(recording, scenario, remedies=False))


def _share(of: list[Judged]) -> float:
    return sum(one.is_right for one in of) / len(of)
