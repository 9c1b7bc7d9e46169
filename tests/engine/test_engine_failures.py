"""A run that cannot be ends with exit status 1 and a sentence, never with a traceback."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.engine.cell import CELL, cell_refused, shell
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, TCP, two_paths

from mptcplab.recording import Recording, Status

pytestmark = needs_mptcp
needs_cell = pytest.mark.skipif(cell_refused() is not None, reason=str(cell_refused()))

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 1 s}
"""


def refusal(ended: subprocess.CompletedProcess[str]) -> str:
    """The message of a command that failed, as one line."""
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    return " ".join(ended.stderr.split())


def test_a_result_is_never_overwritten(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "again", TRAFFIC + TCP)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/result.json").write_text("precious")
    words = refusal(run(["run", scenario, "--out", "out"], tmp_path))
    assert words == (
        "out/result.json: exists already; recordings are never overwritten: choose another folder"
    )
    assert (tmp_path / "out/result.json").read_text() == "precious"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "nowhere", TRAFFIC + TCP)
    words = refusal(run(["run", scenario, "--out", f"{scenario}/out"], tmp_path))
    assert words == f"{scenario}/out: cannot be made: Not a directory"


@needs_cell
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "closed", TRAFFIC + TCP)
    out = tmp_path / "out"
    out.mkdir()
    cell = [*CELL, *shell([f"mount -t tmpfs -o ro tmpfs {out}"], [])]
    words = refusal(run(["run", scenario, "--out", out], tmp_path, prefix=cell))
    assert words == f"{out}/result.json: cannot be written: Read-only file system"


@needs_cell
@pytest.mark.parametrize("more", [[], ["--capture"], ["--json"], ["--workers", "2"]])
@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_a_full_disk_is_named_and_what_is_left_tells_of_it(
    tmp_path: Path, engine: str, more: list[str]
) -> None:
    scenario = two_paths(tmp_path, "full", TRAFFIC + TCP)
    out, left = tmp_path / "out", tmp_path / "left"
    out.mkdir()
    then = f'"$@" || status=$?; cp -r {out} {left}; exit $status'
    kept = ["sh", "-c", then, "sh"]
    cell = [*CELL, *shell([f"mount -t tmpfs -o size=32k tmpfs {out}"], kept)]
    words: list[str | Path] = [
        "run",
        scenario,
        "--engine",
        engine,
        "--repeat",
        "1",
        "--out",
        out,
        *more,
    ]
    ended = run(words, tmp_path, prefix=cell)
    told = refusal(ended)
    assert f"full, variant tcp: {out}/tcp/1/" in told
    assert "cannot be written: No space left on device" in told
    names = sorted(path.name for path in (left / "tcp/1").iterdir())
    if "--capture" in more:
        # Captures may have taken the last room, that of the manifest too.
        captures = [name for name in names if name.endswith(".pcapng")]
        names = [name for name in names if name not in captures]
        names = names or ["manifest.json"] * bool(captures)
    assert names == ["manifest.json"]
    manifest = Recording.open(left / "tcp/1").manifest
    assert manifest.status is Status.FAILED
    assert manifest.warnings[-1].startswith(f"{out}/tcp/1/")
    assert manifest.warnings[-1].endswith(": cannot be written: No space left on device")
    assert manifest.warnings[-1] in told
    reported = run(["report", left, "--json"], tmp_path)
    assert reported.returncode == 0, reported.stderr
    (variant,) = json.loads(reported.stdout)["variants"]
    assert variant["warnings"] == [
        "0 of 1 repetitions complete",
        f"repetition 1 failed: {'; '.join(manifest.warnings)}",
    ]
    if "--json" in more:
        assert json.loads(ended.stdout)["variants"] == [variant]


def test_a_congestion_control_that_the_kernel_lacks_is_named(tmp_path: Path) -> None:
    listed = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if "yeah" in listed:
        pytest.skip("this kernel has the congestion control yeah")
    scenario = two_paths(tmp_path, "control", TRAFFIC + TCP)
    text = scenario.read_text().replace("client: {", "client: {congestion_control: yeah, ")
    scenario.write_text(text)
    words = refusal(run(["run", scenario, "--engine", "kernel", "--out", "out"], tmp_path))
    assert "this kernel has no congestion control yeah" in words
    for known in {"reno", "cubic"} & set(listed):
        assert known in words
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_the_kernel_lacks_is_named(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "scheduler", TRAFFIC + MPTCP)
    text = scenario.read_text().replace("client: {", "client: {mptcp: {scheduler: round-robin}, ")
    scenario.write_text(text)
    words = refusal(run(["run", scenario, "--engine", "kernel", "--out", "out"], tmp_path))
    known = Path("/proc/sys/net/mptcp/available_schedulers").read_text().strip()
    assert f"this kernel has no MPTCP scheduler round-robin (it has: {known})" in words


@needs_cell
def test_a_system_that_allows_no_namespaces_is_told_what_to_allow(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "walls", TRAFFIC + TCP)
    none = "echo 0 > /proc/sys/user/max_user_namespaces"
    powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    cell = [*CELL, *shell([none], powerless)]
    words = refusal(
        run(["run", scenario, "--engine", "kernel", "--out", "out"], tmp_path, prefix=cell)
    )
    assert "this system allows no namespaces here" in words
    assert "user.max_user_namespaces" in words
    assert "mptcplab doctor" in words


def test_a_server_without_mptcp_is_reported_as_fallback(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "fallback", TRAFFIC + MPTCP)
    text = scenario.read_text().replace("server: {", "server: {mptcp: {enabled: false}, ")
    scenario.write_text(text)
    ended = run(["run", scenario, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    shown = " ".join(ended.stdout.split())
    assert "Attention: mptcp was not really multipath in 1 of 1 repetitions." in shown
    assert "fell back to TCP" in shown
    recording = Recording.open(tmp_path / "out/mptcp/1")
    transfers = recording.scan("transfers").collect()
    assert transfers["fallback"].to_list() == [True]


def test_a_client_without_mptcp_is_refused_before_anything_runs(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "without", TRAFFIC + MPTCP)
    text = scenario.read_text().replace("client: {", "client: {mptcp: {enabled: false}, ")
    scenario.write_text(text)
    words = refusal(run(["run", scenario, "--out", "out"], tmp_path))
    assert "hosts.client.mptcp.enabled: is false, but variant mptcp opens MPTCP" in words
