"""FTP servers of a kernel run listen before its time begins."""

from pathlib import Path

from tests.engine.launch import run
from tests.engine.system import needs_mptcp, warnings_of_the_run
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording

pytestmark = needs_mptcp

FLOWS = 16

TRAFFIC = "traffic:\n" + "".join(
    f"  - ftp: {{name: f{number}, from: client, to: server, size: 1 kB}}\n"
    for number in range(FLOWS)
)


def test_sixteen_servers_that_start_at_once_refuse_no_client(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "many", TRAFFIC + MPTCP)
    ended = run(["run", scenario, "--engine", "kernel", "--out", tmp_path / "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")
    transfers = recording.scan("transfers").collect()
    assert transfers["error"].null_count() == FLOWS
    assert transfers["bytes"].to_list() == [1000] * FLOWS
    assert warnings_of_the_run(recording) == []
