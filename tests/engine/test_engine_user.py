"""The same command works for an ordinary user, where the system allows user namespaces."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.engine.cell import is_root
from tests.engine.launch import environment, run
from tests.engine.system import mptcp_missing, needs_mptcp
from tests.engine.user import NOBODY, folder_for_user, give, ordinary_user
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording, Status

pytestmark = needs_mptcp

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 1 s}
  - ftp: {from: client, to: server, way: down, size: 100 kB}
  - command: {on: client, run: id -u}
"""


def why_not() -> str | None:
    """Why an ordinary user cannot run anything here; null if one can."""
    words = [*ordinary_user(), "unshare", "--user", "--map-root-user", "--net", "true"]
    tried = subprocess.run(words, capture_output=True, text=True)
    return None if tried.returncode == 0 else tried.stderr.strip()


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_for_user() as made:
        yield made


def test_an_ordinary_user_runs_a_scenario(folder: Path) -> None:
    if reason := why_not() or mptcp_missing():
        pytest.skip(f"no user namespaces for an ordinary user: {reason}")
    scenario = two_paths(folder, "ordinary", TRAFFIC + MPTCP)
    env = environment(folder / "home")
    give(folder)
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
