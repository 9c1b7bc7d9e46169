"""The study's experiments by real agents: carried out once each, whatever cut them short."""

import json
from pathlib import Path

import pytest
from tests.engine.system import needs_namespaces

from benches import agent_experiments
from mptcplab.cli.host_program import find_program


@needs_namespaces
def test_experiments_go_on_where_they_were_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_program() is None:
        pytest.skip("mptcplab-host is not installed")
    monkeypatch.setattr(agent_experiments, "_MOST_S", 0.5)
    monkeypatch.setattr("sys.argv", ["agent_experiments", str(tmp_path), "1"])
    kept = tmp_path / "experiments.jsonl"
    agent_experiments.main()
    lines = kept.read_text().splitlines(keepends=True)
    done = [json.loads(line) for line in lines]
    assert [one["number"] for one in done] == [1, 2]
    assert not any("failed" in one for one in done)
    for one in done:
        assert all(time_s > 0 for time_s in one["agent"]["paths_s"])
        assert one["agent"]["mptcp_s"] > 0
        assert one["simulator"]["mptcp_s"] > 0
    assert "2 experiments, 0 failed" in capsys.readouterr().out
    # The second one was cut while it was written.
    kept.write_text(lines[0] + lines[1][:40])
    agent_experiments.main()
    again = [json.loads(line) for line in kept.read_text().splitlines()]
    assert again[0] == done[0]
    assert again[1]["number"] == 2
