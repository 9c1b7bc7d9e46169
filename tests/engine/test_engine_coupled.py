"""Coupled congestion controls come to the kernel with the run that asks for them, and go with it.

They are the machine's: another run may have one at the same time, and then it stays a little.
"""

import json
import os
import signal
from pathlib import Path

import polars
import pytest
from tests.engine.cell import CELL, cell_refused
from tests.engine.launch import finish, run, start, wait_for
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.engine.kernel.coupled import COUPLED, load_refused
from mptcplab.recording import Recording

pytestmark = needs_mptcp
REFUSED = load_refused("wvegas")
needs_bpf = pytest.mark.skipif(REFUSED is not None, reason=str(REFUSED))

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def is_there(control: str) -> bool:
    return control in AVAILABLE.read_text().split()


def scenario(folder: Path, control: str, duration: str) -> Path:
    traffic = f"traffic: [bulk: {{from: client, to: server, duration: {duration}}}]\n"
    file = two_paths(folder, control, traffic + MPTCP)
    text = file.read_text().replace("client: {", f"client: {{congestion_control: {control}, ")
    file.write_text(text)
    return file


@needs_bpf
@pytest.mark.parametrize("control", COUPLED)
def test_a_run_brings_the_control_that_it_asks_for(control: str, tmp_path: Path) -> None:
    file = scenario(tmp_path, control, "2 s")
    ended = run(["run", file, "--engine", "kernel", "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.manifest.settings["congestion_control"] == sorted([control, "cubic"])
    samples = recording.frame("subflow_samples").filter(polars.col("node") == "client")
    assert samples["congestion_control"].unique().to_list() == [control]
    wait_for(f"{control} to go", lambda: not is_there(control))


@needs_bpf
def test_two_runs_share_one(tmp_path: Path) -> None:
    file = scenario(tmp_path, "balia", "4 s")
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    words: list[str | Path] = ["run", file, "--engine", "kernel", "--out", "out"]
    for ended in [finish(one) for one in [start(words, folder) for folder in folders]]:
        assert ended.returncode == 0, ended.stderr
    wait_for("balia to go", lambda: not is_there("balia"))


@needs_bpf
def test_it_goes_when_the_command_line_is_killed(tmp_path: Path) -> None:
    file = scenario(tmp_path, "wvegas", "60 s")
    process = start(["run", file, "--engine", "kernel", "--out", "out"], tmp_path)
    tables = tmp_path / "out/mptcp/1"
    wait_for("the run", lambda: is_there("wvegas") and tables.exists())
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for("wvegas to go", lambda: not is_there("wvegas"))


@needs_bpf
def test_what_is_loaded_stays_until_it_is_unloaded(tmp_path: Path) -> None:
    if is_there("olia"):
        pytest.skip("olia is loaded already")
    assert run(["cc", "load", "olia"], tmp_path).returncode == 0
    try:
        again = run(["cc", "load", "olia"], tmp_path)
        assert (again.returncode, again.stderr) == (
            1,
            "olia is loaded already: `mptcplab cc unload olia` unloads it\n",
        )
        listed = json.loads(run(["cc", "list", "--json"], tmp_path).stdout)
        assert {"name": "olia", "state": "loaded"} in listed
        # Whoever may load nothing may use it.
        words: list[str | Path] = ["run", scenario(tmp_path, "olia", "1 s"), "--engine", "kernel"]
        for prefix in [(), CELL] if cell_refused() is None else [()]:
            folder = f"out-{len(prefix)}"
            ended = run([*words, "--out", folder], tmp_path, prefix=prefix)
            assert ended.returncode == 0, ended.stderr
            assert is_there("olia")
    finally:
        unloaded = run(["cc", "unload", "olia"], tmp_path)
    assert unloaded.returncode == 0, unloaded.stderr
    assert not is_there("olia")
    again = run(["cc", "unload", "olia"], tmp_path)
    assert (again.returncode, again.stderr) == (
        1,
        "olia is not loaded: `mptcplab cc list` shows what is\n",
    )


def test_a_name_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    ended = run(["cc", "load", "cubic"], tmp_path)
    assert (ended.returncode, ended.stderr) == (
        1,
        "no coupled congestion control 'cubic': lia, olia, balia, wvegas\n",
    )


@pytest.mark.skipif(cell_refused() is not None, reason=str(cell_refused()))
def test_who_may_not_load_it_is_told_why_and_simulates(tmp_path: Path) -> None:
    if is_there("balia"):
        pytest.skip("balia is loaded already")
    file = scenario(tmp_path, "balia", "1 s")
    words: list[str | Path] = ["run", file, "--out", "out"]
    refused = run([*words, "--engine", "kernel"], tmp_path, prefix=CELL)
    why = "this kernel has no congestion control balia"
    assert refused.returncode == 1
    assert why in refused.stderr
    reasons = ("BPF is not permitted here", "built without BPF", "libbpf.so.1")
    assert any(f"it cannot be loaded: {reason}" in refused.stderr for reason in reasons)
    simulated = run(words, tmp_path, prefix=CELL)
    assert simulated.returncode == 0, simulated.stderr
    assert Recording.open(tmp_path / "out/mptcp/1").manifest.engine == "sim"
