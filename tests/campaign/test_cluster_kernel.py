"""A sweep on the kernel, on a cluster: on workers that can, one run after the other."""

import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.campaign.dask_processes import DaskProcesses, wait_for
from tests.engine.cell import cell_refused
from tests.engine.launch import MARK, finish, run, start
from tests.engine.system import marked, needs_mptcp

from mptcplab.campaign.result import Sweep

SCENARIO = """\
name: short
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 1 ms}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 1 ms}
traffic: [{http: {from: client, to: server, size: 100 kB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 1
"""
AXIS = ["--axis", "links.a.delay=1ms,2ms"]
WITHOUT_NAMESPACES = [
    *["unshare", "--user", "--map-root-user", "sh", "-ec"],
    "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_net_namespaces; "
    'exec "$@"',
    "sh",
]
"""Prefix of a command that is allowed no namespaces."""
ABLE = ["--nthreads", "2", "--no-nanny", "--resources", "mptcplab-kernel=1"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    (tmp_path / "short.yaml").write_text(SCENARIO)
    made = DaskProcesses(tmp_path / "dask")
    yield made
    made.end()


@needs_mptcp
def test_only_workers_that_declare_it_run_on_the_kernel(
    tmp_path: Path, cluster: DaskProcesses
) -> None:
    words = ["sweep", "short.yaml", *AXIS, "--engine", "kernel", "--cluster", cluster.address]
    cluster.start_worker()
    refused = run([*words, "--out", "out"], tmp_path)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert line.startswith("no worker runs on the kernel: start one a machine with dask worker")
    mark = uuid.uuid4().hex
    worker = cluster.start_worker(*ABLE, **{MARK: mark})
    ended = run([*words, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "out: 4 runs: 0 found, 4 done" in ended.stderr
    runs = Sweep.open(tmp_path / "out").store.scan("runs").collect()
    assert set(runs["status"]) == {"complete"}

    # A run that is cancelled ends at its worker, too.
    long = ["--set", "traffic.0={bulk: {from: client, to: server, duration: 200 s}}"]
    process = start([*words, *long, "--out", "long"], tmp_path)
    wait_for("the run", lambda: len(marked(f"{MARK}={mark}")) > 1)
    process.send_signal(signal.SIGINT)
    assert finish(process).returncode == 130
    wait_for("its end", lambda: marked(f"{MARK}={mark}") == [worker.pid])


@needs_mptcp
@pytest.mark.skipif(cell_refused() is not None, reason=str(cell_refused()))
def test_a_worker_that_cannot_run_on_the_kernel_is_given_no_more(
    tmp_path: Path, cluster: DaskProcesses
) -> None:
    words = ["sweep", "short.yaml", *AXIS, "--engine", "kernel", "--cluster", cluster.address]
    cluster.start_worker(*ABLE, prefix=WITHOUT_NAMESPACES)
    alone = run([*words, "--out", "out"], tmp_path)
    assert alone.returncode == 1
    (line,) = alone.stderr.splitlines()
    assert line.startswith("no worker is left that runs on the kernel: tcp://127.0.0.1:")
    assert "this system allows no namespaces here" in line
    # It no longer declares what it cannot do, so that another one beside it has all runs.
    cluster.start_worker(*ABLE, prefix=WITHOUT_NAMESPACES)
    cluster.start_worker(*ABLE)
    ended = run([*words, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "out: 4 runs: 0 found, 4 done" in ended.stderr
    runs = Sweep.open(tmp_path / "out").store.scan("runs").collect()
    assert set(runs["status"]) == {"complete"}
    assert "cannot run on the kernel: this system allows no namespaces" in ended.stderr
