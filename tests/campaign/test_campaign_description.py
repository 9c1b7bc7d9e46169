"""The description of a campaign: the code that it holds for, and its way to the disk."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.campaign.dask_processes import python_path
from tests.engine.launch import REPOSITORY, environment, run

from mptcplab.campaign import description, ledger
from mptcplab.campaign.description import opened
from mptcplab.campaign.pending import identity, setup
from mptcplab.campaign.session import carry_out, prepare_sweep
from mptcplab.engine.choice import EngineName
from mptcplab.interruption import Interruption
from mptcplab.scenario import load
from mptcplab.session import Settings

SCENARIO = """\
name: two
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 5 ms}
traffic: [{http: {from: client, to: server, size: 200 kB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  tcp-b: {protocol: tcp, via: b}
  mptcp: {}
sweep: {axes: {links.a.delay: [1 ms, 20 ms]}}
"""
WORDS = ["sweep", "two.yaml", "--engine", "sim", "--repeat", "1", "--out", "out"]
_ROOTS_RIGHTS = "-dac_override,-dac_read_search"
ORDINARY = ["setpriv", f"--bounding-set={_ROOTS_RIGHTS}", f"--inh-caps={_ROOTS_RIGHTS}"]
"""Prefix of a command that has no more rights to files than their modes say."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    return tmp_path


def carried_out(folder: Path) -> None:
    carry_out(
        prepare_sweep(load(folder / "two.yaml"), Settings(EngineName.SIM, repetitions=1)),
        folder / "out",
        samples=False,
        workers=1,
        command=(),
        interruption=Interruption(),
        shown=None,
    )


def test_other_modules_do_not_go_on_with_a_campaign(folder: Path) -> None:
    package = folder / "other" / "mptcplab"
    ignored = shutil.ignore_patterns("__pycache__", "scenarios")
    shutil.copytree(REPOSITORY / "python" / "mptcplab", package, ignore=ignored)
    env = environment(folder / "home", PYTHONPATH=python_path(package.parent))
    assert run(WORDS, folder).returncode == 0
    with (package / "cli" / "sweep.py").open("a") as file:
        file.write("# Says the same in other words.\n")
    same = run(WORDS, folder, env=env)
    assert "out: 6 runs: 6 found, 0 done" in same.stderr
    with (package / "metrics" / "latency.py").open("a") as file:
        file.write("# Has other figures.\n")
    other = run(WORDS, folder, env=env)
    assert other.returncode == 1
    assert "out: holds another sweep: it was made by other modules of mptcplab" in other.stderr


def test_no_record_depends_on_a_part_that_is_left_out(folder: Path) -> None:
    carried_out(folder)
    campaign = opened(folder / "out")
    told = [
        setup(load(folder / "two.yaml"), campaign, None),
        [identity(campaign.grid(), run, 1) for run in range(3)],
    ]
    times = folder / "times"
    command = [sys.executable, "-X", "importtime", "-m", "mptcplab.campaign.worker"]
    with (
        times.open("wb") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as worker,
    ):
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write("".join(json.dumps(one) + "\n" for one in told))
        worker.stdin.flush()
        records = [json.loads(line) for line in iter(worker.stdout.readline, "null\n")]
        worker.stdin.close()
    assert [one["status"] for one in records[1:]] == ["complete"] * 3
    loaded = set(imported(times.read_text()))
    assert {"campaign", "engine", "metrics", "plan", "recording", "scenario"} <= loaded
    assert not loaded & description.NOT_OF_FIGURES


def imported(times: str) -> Iterator[str]:
    """The parts of the package in the output of `-X importtime`."""
    for line in times.splitlines():
        name = line.rpartition("|")[2].strip().split(".")
        if name[0] == "mptcplab" and len(name) > 1:
            yield name[1]


def test_description_and_records_reach_the_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def fsync(file: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{file}").readlink().relative_to(folder)))
        sync(file)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(ledger, "SYNC_EVERY_S", 0.0)
    carried_out(folder)
    assert {"out/sweep.json", "out", ".", "out/journal", "out/runs/000000.parquet"} <= set(synced)
    # Before the next run has ended.
    assert "out/journal/000000.jsonl" in synced


def test_a_folder_may_be_in_one_that_cannot_be_read(folder: Path) -> None:
    (folder / "closed" / "out").mkdir(parents=True)
    words = [*WORDS[:-1], "closed/out"]
    (folder / "closed").chmod(0o311)
    try:
        ended = run(words, folder, prefix=ORDINARY if os.geteuid() == 0 else ())
    finally:
        (folder / "closed").chmod(0o755)
    assert ended.returncode == 0, ended.stderr
