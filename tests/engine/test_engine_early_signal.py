"""A signal of the terminal that reaches the lab process before it stands apart does it no harm."""

import functools
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.kernel import lab
from mptcplab.scenario import load

TRAFFIC = """\
traffic:
  - ping: {from: client, to: server, count: 1, interval: 10 ms}
"""


@needs_mptcp
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_lab_outlives_a_signal_that_comes_while_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    hit = functools.partial(subprocess.Popen, preexec_fn=lambda: os.kill(os.getpid(), number))
    monkeypatch.setattr(subprocess, "Popen", hit)
    scenario = load(two_paths(tmp_path, "early", TRAFFIC + MPTCP))
    started = lab.Lab(compile_plan(scenario, "mptcp", 1, None))
    try:
        assert list(started.rows())[-1]["record"] == "done"
    finally:
        started.end()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
