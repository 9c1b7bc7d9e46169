"""The task that a worker of a Dask cluster carries out for a campaign.

A task is a batch of runs: a function of the scenario's text, its files, and the runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from mptcplab.shortage import shortage_of

if TYPE_CHECKING:
    from distributed import Worker

    from mptcplab.campaign.description import Versions
    from mptcplab.campaign.record import Record

RESOURCE = "mptcplab-kernel"
"""Dask's resource of the workers that carry out runs on the kernel; each has one of it."""
_LOOKS_EVERY_S = 0.2
"""Longest time until a run on the kernel is told to end."""


class TaskError(Exception):
    """A worker cannot carry out a task; the text says which one, and why."""


@dataclass(frozen=True)
class Done:
    """The result of a batch."""

    records: list[tuple[int, bytes]]
    """Run → its record as a line of JSON. Runs that were cancelled are left out."""
    time_s: float
    """Wall-clock time."""
    worker: str
    """Address."""
    refused: str | None = None
    """Why this worker cannot carry out runs on the kernel, null where it can."""


def carry_out(setup: Mapping[str, Any], runs: list[Record]) -> Done:
    """Carries out a batch of runs, as of `pending.identity`.

    `setup` is that of `pending.setup`, with the content of each file that they need by its name.

    Raises:
        TaskError: this worker would have other figures than the client, or lacks something.

    """
    # A worker has one core for each of its tasks.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from distributed import get_worker

    here = get_worker()
    different = difference(setup["versions"], versions_of(setup["versions"]))
    if different is not None:
        raise TaskError(f"the worker {here.address} has {different}")
    try:
        return _carried_out(setup, runs, here)
    except BaseException as error:
        # Any error, a panic of a library in Rust among them, may be one that cannot be pickled.
        why = shortage_of(error) or f"{type(error).__name__}: {error}"
    raise TaskError(f"the worker {here.address}: {why}")


def _carried_out(setup: Mapping[str, Any], runs: list[Record], here: Worker) -> Done:
    begun_s = monotonic()
    records = []
    key = here.get_current_task()

    def is_cancelled() -> bool:
        task = here.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    with placed(setup["files"]) as folder:
        scenario = setup["scenario"] | {"folder": str(folder)}
        refused = None
        if is_on_kernel(setup["versions"]):
            refused = _refused(scenario, {known["variant"] for known in runs})
        if refused is not None:
            return Done([], 0.0, here.contact_address, refused)
        with _runner({**setup, "scenario": scenario}, is_cancelled) as run:
            for known in runs:
                record = None if is_cancelled() else run(known)
                if record is not None:
                    records.append((record["run"], json.dumps(record).encode()))
    return Done(records, monotonic() - begun_s, here.contact_address)


def _refused(scenario: dict[str, Any], variants: Iterable[str]) -> str | None:
    """Why this machine cannot carry out variants on the kernel, null where it can."""
    from mptcplab.campaign.worker import loaded
    from mptcplab.engine.job import EngineError
    from mptcplab.engine.kernel.refuse import unsupported_here
    from mptcplab.scenario import for_variant

    own = loaded(scenario)
    try:
        found = [
            refusal.reason
            for name in variants
            for refusal in unsupported_here(for_variant(own, name), name)
        ]
    except EngineError as error:
        found = [str(error)]
    return "; ".join(dict.fromkeys(found)) or None


@contextmanager
def _runner(
    setup: dict[str, Any], is_cancelled: Callable[[], bool]
) -> Iterator[Callable[[Record], Record | None]]:
    """The function that carries out a run."""
    from mptcplab.campaign.kernel import KernelRuns
    from mptcplab.campaign.worker import Runner, loaded

    if not is_on_kernel(setup["versions"]):
        yield Runner(setup, is_cancelled).run
        return
    with TemporaryDirectory(prefix="mptcplab-") as made:
        runs = KernelRuns(loaded(setup["scenario"]), setup["versions"], Path(made), samples=False)
        with _watched(is_cancelled, runs.stop):
            yield runs.run


@contextmanager
def _watched(is_cancelled: Callable[[], bool], stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` where the task is cancelled meanwhile: a run on the kernel does not ask."""
    is_over = Event()

    def watch() -> None:
        while not is_over.wait(_LOOKS_EVERY_S):
            if is_cancelled():
                stop()
                return

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


@contextmanager
def placed(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder in which the files are found by their names, which may begin with `..`."""
    with TemporaryDirectory(prefix="mptcplab-") as root:
        ups = [PurePath(name).parts.count("..") for name in files]
        folder = Path(root, *["scenario"] * max(ups, default=0))
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = folder / name
            assert Path(os.path.normpath(path)).is_relative_to(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield folder


def versions_of(client: Mapping[str, Any]) -> dict[str, Any]:
    """The versions here, of what those of the client have."""
    return _versions("kernel" if is_on_kernel(client) else "sim").model_dump()


def is_on_kernel(versions: Mapping[str, Any]) -> bool:
    """Whether the campaign of these versions runs on the kernel."""
    return versions["kernel"] is not None


def difference(client: Mapping[str, Any], worker: Mapping[str, Any]) -> str | None:
    """The version in which a worker differs from the client, null where it is the same."""
    words = {"mptcplab": "mptcplab", "kernel": "Linux", "extension": "the extension module"}
    words |= {"code": "the modules of mptcplab"}
    for name, told in words.items():
        here, there = client[name], worker[name]
        if here != there:
            if name in ("extension", "code"):
                here, there = here[:12], there[:12]
            return f"{told} {there}, and this machine {here}: install the same on both"
    return None


@cache
def _versions(engine: str) -> Versions:
    from mptcplab.campaign.description import versions

    return versions(engine)
