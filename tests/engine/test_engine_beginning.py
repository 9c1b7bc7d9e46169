"""Long preparations are done before a run begins: no transfer waits for them."""

import resource
from pathlib import Path

import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import TCP, two_paths

from mptcplab.engine.compile import Capture, compile_plan
from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.lab import Lab
from mptcplab.engine.recorder import Row
from mptcplab.recording import Recording
from mptcplab.scenario import load

pytestmark = needs_mptcp

TRAFFIC = """\
traffic:
  - command: {on: client, run: grep FDSize /proc/1/status}
"""


def test_the_table_of_descriptors_is_large(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "table", TRAFFIC + TCP)
    ended = run(["run", scenario, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    (line,) = Recording.open(tmp_path / "out/tcp/1").frame("outputs")["text"]
    name, size = line.split()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert name == "FDSize:"
    assert int(size) >= min(most, 16_384)


def test_the_files_of_captures_are_open(tmp_path: Path) -> None:
    scenario = load(two_paths(tmp_path, "captured", TRAFFIC + TCP))
    lab = Lab(compile_plan(scenario, "tcp", 1, Capture(tmp_path / "nowhere")))
    rows: list[Row] = []
    try:
        with pytest.raises(EngineError, match=r"client-.*\.pcapng: No such file"):
            rows += lab.rows()
    finally:
        lab.end()
    assert rows == []
