"""Opening a socket never waits for the process's table of descriptors to grow."""

import resource
from pathlib import Path

from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import TCP, two_paths

from mptcplab.recording import Recording

pytestmark = needs_mptcp

TRAFFIC = """\
traffic:
  - command: {on: client, run: grep FDSize /proc/1/status}
"""


def test_the_table_of_descriptors_is_large_before_the_run_begins(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "table", TRAFFIC + TCP)
    ended = run(["run", scenario, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    (line,) = Recording.open(tmp_path / "out/tcp/1").frame("outputs")["text"]
    name, size = line.split()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert name == "FDSize:"
    assert int(size) >= min(most, 16_384)
