"""Agents, a target and a server in all kinds of trouble, until each result is accounted for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mptcplab.cli.host_program import NOT_INSTALLED, find_program

from .effort import Effort
from .figures import Figure, figure
from .served.chaos.run import Account, run

_AGENTS = 20
_RESULTS = 2_000


def measure(effort: Effort) -> list[Figure]:
    """The account of each seed. A result that is lost or comes twice ends it with an error."""
    program = find_program()
    if program is None:
        raise RuntimeError(NOT_INSTALLED)
    accounts = [_account(effort, program, seed) for seed in range(1, effort.repeat + 1)]
    for reason in accounts[0].left_out:
        print(f"left out: {reason}", file=sys.stderr)
    troubles = sorted(set().union(*(one.troubles for one in accounts)))
    outcomes = sorted(set().union(*(one.outcomes for one in accounts)))
    return [
        figure("results, each once", "", [one.results for one in accounts]),
        *(
            figure(f"{name} ones", "", [one.outcomes[name] for one in accounts])
            for name in outcomes
        ),
        figure("counted as dropped", "", [one.dropped for one in accounts]),
        figure("those of them that had arrived", "", [one.dropped_and_here for one in accounts]),
        figure("seen on disks before the server had them", "", [one.witnessed for one in accounts]),
        figure("delivered again", "", [one.repeated for one in accounts]),
        *(figure(name, "", [one.troubles[name] for one in accounts]) for name in troubles),
        figure("starts of programs", "", [one.starts for one in accounts]),
        figure("time", "s", [one.took_s for one in accounts]),
    ]


def _account(effort: Effort, program: str, seed: int) -> Account:
    with TemporaryDirectory(prefix="server-chaos-", dir=os.environ.get("TMPDIR")) as folder:
        return run(
            Path(folder), program, seed, effort.sized(_AGENTS, 3), effort.sized(_RESULTS, 10)
        )
