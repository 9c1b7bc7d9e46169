"""A server with the agent that is shipped, which measures against the target that is shipped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.server.running import Running, run, started
from tests.server.test_server_recordings import assert_same_figures, figures

import mptcplab
from mptcplab.cli.host_program import find_program
from mptcplab.metrics import VariantMetrics

PLAN = """\
target: {{host: 127.0.0.1, port: {port}, token: "{token}"}}
sizes: [100 kB]
repeat: 2
schedule: {{every: 1 h}}
budget: 5 MB
daily: 50 MB
"""


@pytest.fixture(scope="module")
def program() -> str:
    found = find_program()
    if found is None or subprocess.run([found, "agent", "--help"], capture_output=True).returncode:
        pytest.skip("mptcplab-host has no agent")
    return found


@pytest.fixture
def target(program: str, tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The port and the token of a target."""
    state = tmp_path / "target"
    process = subprocess.Popen(
        [program, "target", "--listen", "127.0.0.1:0", "--data-port", "0", "--state", str(state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    token = process.stdout.readline().strip()
    port = int(process.stderr.readline().partition(",")[0].rpartition(":")[2])
    yield port, token
    process.terminate()
    process.wait()
    process.stdout.close()
    process.stderr.close()


def agent(program: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [program, "agent", "--state", str(folder), "--once", "--leave-endpoints", *options]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def test_a_result_of_the_agent_is_that_of_a_probe(
    program: str, target: tuple[int, str], tmp_path: Path
) -> None:
    port, token = target
    with started(tmp_path / "state") as server:
        _plan(server, port, token, tmp_path)
        line = run("enrol", "--state", str(server.state)).strip()
        ended = agent(program, tmp_path / "agent", "--enrol", line, "--name", "loop")
        assert ended.returncode == 0, ended.stderr
        (row,) = server.get("/api/v1/results?plan=lines").json["results"]
        assert (row["outcome"], row["interfaces"]) == ("complete", ["lo"]), row
        found = server.get(f"/api/v1/results/{row['id']}/summary").json
        assert assert_same_figures(_exported(server, tmp_path), found) == 2
        for way in ("down", "up"):
            assert found["benefit"][way][0]["mptcp_subflows"] == [1, 1]
        (size,) = found["benefit"]["down"]
        assert size["bytes"] == 100_000
        assert found["paths"][0]["down_mbps"]["mean"] > 0
        assert found["mptcp"]["used_bytes"] == row["used_bytes"] <= 5_000_000
        told = json.loads(run("agents", "--state", str(server.state), "--json"))["agents"]
        (one,) = [one for one in told if one["name"] == "loop"]
        assert (one["results"], one["missing"], one["contact"]["quarantined"]) == (1, 0, [])
        # The line was good for one agent.
        again = agent(program, tmp_path / "other", "--enrol", line)
        assert again.returncode != 0


def _exported(server: Running, folder: Path) -> Mapping[str, VariantMetrics]:
    """The figures of the recordings."""
    run("export", str(folder / "out"), "--recording", "--state", str(server.state))
    found = figures(mptcplab.open(folder / "out"))
    for way in ("down", "up"):
        assert found[f"tcp-lo-{way}-100kB"].single_path == "lo"
    return found


def _plan(server: Running, port: int, token: str, folder: Path) -> None:
    file = folder / "lines.yaml"
    file.write_text(PLAN.format(port=port, token=token))
    assert run("plan", "add", str(file), "--state", str(server.state)) == "lines@1\n"
