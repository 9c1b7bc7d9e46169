"""The same command works for an ordinary user, where the system allows user namespaces."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.engine.cell import cover, is_root, needed_folders, shell
from tests.engine.launch import environment, run
from tests.engine.system import mptcp_missing, needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording, Status

pytestmark = needs_mptcp

NOBODY = 65534
TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 1 s}
  - ftp: {from: client, to: server, way: down, size: 100 kB}
  - command: {on: client, run: id -u}
"""


def ordinary_user() -> list[str]:
    """Words before a command that is to run as an ordinary user; the interpreter may lie in a
    folder of root's, of which only what is needed is then opened, in a private mount namespace."""
    if not is_root():
        return []
    closed = {
        parent: [other for other in needed_folders() if other.is_relative_to(parent)]
        for folder in needed_folders()
        for parent in folder.parents
        if not parent.stat().st_mode & 0o001
    }
    outermost = [one for one in closed if not any(parent in closed for parent in one.parents)]
    covers = [line for folder in outermost for line in cover(folder, closed[folder], "mode=0755")]
    ids = f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"
    return ["unshare", "--mount", *shell(covers, ["setpriv", *ids])]


def why_not() -> str | None:
    """Why an ordinary user cannot run anything here; null if one can."""
    words = [*ordinary_user(), "unshare", "--user", "--map-root-user", "--net", "true"]
    tried = subprocess.run(words, capture_output=True, text=True)
    return None if tried.returncode == 0 else tried.stderr.strip()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is the ordinary user's; pytest's own is closed to others."""
    made = Path(tempfile.mkdtemp(prefix="mptcplab-user-"))
    yield made
    shutil.rmtree(made)


def test_an_ordinary_user_runs_a_scenario(folder: Path) -> None:
    if reason := why_not() or mptcp_missing():
        pytest.skip(f"no user namespaces for an ordinary user: {reason}")
    scenario = two_paths(folder, "ordinary", TRAFFIC + MPTCP)
    env = environment(folder / "home")
    if is_root():
        for file in (folder, *folder.rglob("*")):
            shutil.chown(file, NOBODY, NOBODY)
    words: list[str | Path] = ["run", scenario, "--out", folder / "out", "--capture"]
    ended = run(words, folder, prefix=ordinary_user(), env=env)

    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(folder / "out/mptcp/1")
    assert recording.manifest.status is Status.COMPLETE
    transfers = recording.scan("transfers").collect()
    assert sorted(transfers["kind"]) == ["bulk", "ftp"]
    assert transfers["error"].null_count() == 2
    bulk = transfers.filter(pl.col("kind") == "bulk").row(0, named=True)
    assert bulk["joins"] == 1
    assert bulk["bytes"] > 0
    if is_root():
        assert (folder / "out/mptcp/1/manifest.json").stat().st_uid == NOBODY
    # Root of its own user namespace, whoever it is outside.
    assert recording.scan("outputs").collect()["text"].to_list() == ["0"]
