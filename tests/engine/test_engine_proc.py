"""Where `/proc` is not as it should be, the message names the file."""

from pathlib import Path

import pytest
from tests.engine.cell import is_root
from tests.engine.launch import run
from tests.engine.worlds import MPTCP, two_paths

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 300 ms}
"""


@pytest.mark.skipif(not is_root(), reason="mounts")
@pytest.mark.parametrize(
    ("mount", "reason"),
    [
        ("mount --bind empty /proc", "No such file or directory"),
        ("mount -o remount,ro,bind /proc", "Read-only file system"),
    ],
)
def test_the_file_is_named(tmp_path: Path, mount: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    scenario = two_paths(tmp_path, "few", TRAFFIC + MPTCP)
    prefix = ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    ended = run(["run", scenario, "--engine", "kernel", "--out", "out"], tmp_path, prefix=prefix)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"--engine kernel: /proc/self/setgroups: {reason} (os error ")
