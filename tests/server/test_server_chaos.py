"""Agents, target and server in all kinds of trouble: every result arrives once, or is counted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benches.served.chaos.run import run

from mptcplab.cli.host_program import find_program


def test_every_result_arrives_once_or_is_counted_as_dropped(tmp_path: Path) -> None:
    program = find_program()
    if (
        program is None
        or subprocess.run([program, "agent", "--help"], capture_output=True).returncode
    ):
        pytest.skip("mptcplab-host has no agent")
    account = run(tmp_path, program, seed=1, agents=4, results=25)
    assert account.results >= 25
    # There was trouble.
    assert account.troubles.total() >= 5
    assert account.starts > 6
