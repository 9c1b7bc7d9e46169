"""A campaign on a cluster, as the display sees it; and what its tasks carry."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.campaign.dask_processes import DaskProcesses, wait_for
from tests.campaign.tables import contents
from tests.engine.system import needs_mptcp

import mptcplab as lab
from mptcplab.campaign import cluster as module
from mptcplab.campaign.cluster_address import Cluster
from mptcplab.campaign.cluster_connection import connected
from mptcplab.campaign.cluster_files import Files
from mptcplab.campaign.description import described
from mptcplab.campaign.session import Outcome, carry_out, prepare_sweep
from mptcplab.engine.choice import EngineName
from mptcplab.interruption import Interruption
from mptcplab.scenario import loads
from mptcplab.session import Prepared, Settings, describe

SCENARIO = """\
name: shown
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 1 ms}
  b: {between: [client.b, server.b], trace: b.trace, delay: 1 ms}
traffic: [{http: {from: client, to: server, size: 100 kB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 1
sweep:
  axes:
    links.b.trace: [b.trace, c.trace, d.trace]
    links.a.delay: {from: 1 ms, to: 20 ms, count: 10}
"""
TASKS = 8


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    made = DaskProcesses(tmp_path / "dask")
    yield made
    made.end()


class Shown:
    """A display that only calls a function with what is shown."""

    def __init__(self, seen: Any) -> None:
        self.show = seen

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass


def prepared(folder: Path, engine: EngineName) -> Prepared:
    for name in ("b", "c", "d"):
        (folder / f"{name}.trace").write_text(f"{ord(name)}\n")
    own = loads(SCENARIO, "shown.yaml", folder)
    return prepare_sweep(own, Settings(engine))


def carried_out(
    folder: Path, engine: EngineName, address: str, interruption: Interruption, seen: Any
) -> Outcome:
    return carry_out(
        prepared(folder, engine),
        folder / "out",
        samples=False,
        workers=None,
        command=(),
        interruption=interruption,
        shown=lambda *_: Shown(seen),
        cluster=Cluster(address),
    )


def stop(interruption: Interruption) -> None:
    assert interruption.stop is not None
    interruption.stop()


def test_results_that_wait_when_the_command_is_interrupted_are_kept(
    tmp_path: Path, cluster: DaskProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = []

    @contextmanager
    def kept(address: Cluster) -> Iterator[Any]:
        with connected(address) as client:
            clients.append(client)
            yield client

    monkeypatch.setattr(module, "connected", kept)
    cluster.start_worker()
    interruption = Interruption()

    def seen(_: str, ended: float) -> None:
        # Two runs a task; one of the tasks may have been taken.
        futures = clients[0].futures
        waiting = TASKS - ended / 2
        wait_for("results", lambda: is_finished(futures, waiting))
        stop(interruption)

    outcome = carried_out(tmp_path, EngineName.SIM, cluster.address, interruption, seen)
    assert (outcome.done, outcome.runs) == (2 * TASKS, 60)


def is_finished(futures: Any, count: float) -> bool:
    statuses = [one.status for one in futures.copy().values()]
    return statuses.count("finished") >= count


def test_a_sweep_from_python_has_the_tables_of_one_machine(
    tmp_path: Path, cluster: DaskProcesses
) -> None:
    own = prepared(tmp_path, EngineName.SIM).scenario
    cluster.start_worker()
    swept = lab.sweep(own, cluster=cluster.address, out=tmp_path / "out")
    lab.sweep(own, engine="sim", out=tmp_path / "whole")
    assert swept.campaign.result.engine == "sim"
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@needs_mptcp
def test_what_is_waited_for_is_shown(tmp_path: Path, cluster: DaskProcesses) -> None:
    interruption = Interruption()
    words: list[str] = []

    def seen(shown: str, _: float) -> None:
        words.append(shown)
        if len(words) == 1:
            cluster.start_worker()
        if "without" in shown:
            stop(interruption)

    outcome = carried_out(tmp_path, EngineName.KERNEL, cluster.address, interruption, seen)
    assert outcome.done == 0
    assert words[0] == "shown (0/60), waits for a worker"
    waits = "waits for a worker with --resources mptcplab-kernel=1: 1 worker without"
    assert words[-1] == f"shown (0/60), {waits}"


def test_a_task_carries_the_traces_of_its_points_only(tmp_path: Path) -> None:
    made = prepared(tmp_path, EngineName.SIM)
    ((engine, choice),) = made.choices.items()
    campaign = described(made.scenario, describe(made, choice, engine, ()), samples=False)
    traces = Files(made.scenario, campaign)
    assert traces.of([1]) == {"b.trace": b"98\n"}
    assert set(traces.of([1, 11])) == {"b.trace", "c.trace"}
    # The scenario itself names the first one.
    assert set(traces.of([30])) == {"b.trace", "d.trace"}
