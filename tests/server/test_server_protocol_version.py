"""The versions of the agents' protocol that a server takes: the current one and the one before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.running import run, started
from tests.server.test_server_real_agent import agent, program

from mptcplab.server.protocol_version import OURS, Versions

__all__ = ["program"]
CURRENTS = st.integers(min_value=1, max_value=10**6)
OF_VERSION = """\
from mptcplab.cli import main
from mptcplab.server import protocol_version

protocol_version.OURS = protocol_version.Versions({current})
main()
"""
"""The server as it will be at this version, as far as the versions that it takes."""


@given(CURRENTS)
def test_the_current_version_and_the_one_before_are_taken(current: int) -> None:
    versions = Versions(current)
    near = range(current - 3, current + 4)
    taken = {number for number in near if versions.refusal(str(number)) is None}
    assert taken == set(versions.taken) == {current, max(1, current - 1)}


@given(CURRENTS, st.integers(min_value=1, max_value=10**7))
def test_a_refusal_names_the_versions_and_the_remedy(current: int, version: int) -> None:
    versions = Versions(current)
    reason = versions.refusal(str(version))
    assert (reason is None) is (version in versions.taken)
    if reason is not None:
        assert f"Version {version} of the protocol is not spoken here" in reason
        assert f"this server takes {versions}; " in reason
        assert reason.endswith(f"update the {'agent' if version < current else 'server'}")


@given(CURRENTS, st.none() | st.text(max_size=12).filter(lambda text: not text.isdecimal()))
def test_anything_else_is_no_version(current: int, told: str | None) -> None:
    reason = Versions(current).refusal(told)
    assert reason is not None
    assert str(Versions(current)) in reason


def test_versions_are_told_in_words() -> None:
    told = [str(Versions(current)) for current in (1, 2, 9)]
    assert told == ["version 1", "versions 1 and 2", "versions 8 and 9"]


@pytest.mark.parametrize("newer", [0, 1, 2])
def test_an_agent_is_taken_by_the_next_version_of_the_server(
    program: str, tmp_path: Path, newer: int
) -> None:
    versions = Versions(OURS.current + newer)
    code = OF_VERSION.format(current=versions.current)
    with started(tmp_path / "state", code=code) as server:
        line = run("enrol", "--state", str(server.state)).strip()
        ended = agent(program, tmp_path / "agent", "--enrol", line, "--name", "old")
        listed = json.loads(run("agents", "--state", str(server.state), "--json"))["agents"]
        if newer < 2:
            assert ended.returncode == 0, ended.stderr
            assert [one["name"] for one in listed] == ["old"]
        else:
            assert ended.returncode != 0
            assert listed == []
            reason = versions.refusal(str(OURS.current))
            assert reason is not None
            assert f"({reason}): update the agent" in ended.stderr
