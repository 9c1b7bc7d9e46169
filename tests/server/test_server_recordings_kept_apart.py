"""Recordings of results that are not to be mixed, and of transfers that do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.made import steps
from tests.server.running import Agent, Running, run
from tests.server.test_server_recordings import BOTH, exported


@pytest.fixture
def agent(server: Running) -> Agent:
    return server.enrolled()


def test_a_folder_is_of_one_congestion_control(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    for control in ("reno", "bbr"):
        assert agent.put(agent.result(congestion_control=control)).status == 201
    words = ("--recording", "--state", str(server.state))
    refused = run("export", str(tmp_path / "both"), *words, status=1)
    assert "of 2 congestion controls: choose one by --congestion-control: bbr, reno" in refused
    folder = exported(server, tmp_path / "one", agent, "--congestion-control", "bbr")
    assert len(folder) > 0
    for name in folder:
        for recording in folder[name]:
            assert recording.manifest.settings == {"congestion_control": ["bbr"]}


def test_a_transfer_on_other_paths_is_no_recording_that_counts(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    every = steps()
    mptcp = next(one for one in every if one["kind"] == "mptcp")
    mptcp["result"]["connections"][0]["sources"] = ["10.0.1.1", "10.0.3.1"]
    assert agent.put(agent.result(steps=every)).status == 201
    folder = exported(server, tmp_path / "out", agent)
    manifest = folder[f"mptcp-{BOTH}-down-1MB"][0].manifest
    assert manifest.status == "failed"
    assert manifest.warnings == ("MPTCP was on other paths, too: 10.0.3.1",)
