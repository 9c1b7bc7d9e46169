"""The workers of a Dask scheduler: which there are, and which of them a campaign can have."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from mptcplab.campaign.cluster_address import Cluster, check_place
from mptcplab.campaign.cluster_connection import CONNECTS_S, answers, gone
from mptcplab.campaign.cluster_task import RESOURCE, difference, is_on_kernel, versions_of
from mptcplab.engine.job import EngineError

if TYPE_CHECKING:
    from distributed import Client

_LOOKS_EVERY_S = 1.0


class Workers:
    """The workers as of the last look."""

    def __init__(self, client: Client, cluster: Cluster, versions: Mapping[str, Any]) -> None:
        self._client = client
        self._cluster = cluster
        self._versions = versions
        self._is_on_kernel = is_on_kernel(versions)
        self._threads: dict[str, int] = {}
        """Address → tasks that it does at once; of runs on the kernel one, or none."""
        self._refused: dict[str, str] = {}
        """Address → why it cannot carry out runs on the kernel."""
        self._looked_s: float | None = None

    @property
    def places(self) -> int:
        """How many tasks they do at once."""
        return sum(self._threads.values())

    @property
    def words(self) -> str:
        """How many there are, or what is waited for."""
        able, others = len(self._able), len(self._threads) - len(self._able)
        if able:
            return _counted(able)
        if others:
            return f"waits for a worker with --resources {RESOURCE}=1: {_counted(others)} without"
        return "waits for a worker"

    @property
    def notes(self) -> list[str]:
        """Sentences on workers that were given no more runs."""
        return [
            f"the worker {one} cannot run on the kernel: {why}"
            for one, why in self._refused.items()
        ]

    @property
    def _able(self) -> list[str]:
        return [one for one, threads in self._threads.items() if threads]

    def check(self) -> None:
        """Looks whether the workers that are there already can work, and have the same versions.

        Raises:
            EngineError: one of them has other versions, or none can work.

        """
        with answers(self._cluster):
            scheduler = self._client.scheduler_info(n_workers=-1)
        check_place("scheduler", scheduler["address"])
        self._find(scheduler["workers"])
        if self._threads and not self._able:
            raise EngineError(
                "no worker runs on the kernel: start one a machine with "
                f"dask worker ADDRESS --nworkers 1 --nthreads 1 --resources {RESOURCE}=1, "
                "or use the sim engine (--engine sim)"
            )
        for address, versions in self._asked().items():
            if isinstance(versions, OSError):
                # It has gone. Each task compares the versions, too.
                continue
            if isinstance(versions, ImportError):
                raise EngineError(f"the worker {address} lacks a package: {versions}")
            if isinstance(versions, Exception):
                raise EngineError(f"the worker {address} does not answer: {versions}")
            different = difference(self._versions, versions)
            if different is not None:
                raise EngineError(f"the worker {address} has {different}")

    def look(self) -> None:
        """Looks now and then which there are.

        Raises:
            EngineError: the scheduler has gone, or the last one that declared it cannot run on the
                kernel.

        """
        if self._client.status != "running":
            raise EngineError(gone(self._cluster))
        if self._looked_s is not None and monotonic() - self._looked_s < _LOOKS_EVERY_S:
            return
        with answers(self._cluster):
            self._find(self._client.scheduler_info(n_workers=-1)["workers"])
        self._looked_s = monotonic()
        refused = next((one for one in self._refused if one in self._threads), None)
        if refused is not None and not self._able:
            raise EngineError(
                f"no worker is left that runs on the kernel: {refused}: {self._refused[refused]}: "
                "ask `mptcplab doctor` there, and start the worker again"
            )

    def refuse(self, address: str, why: str) -> None:
        """Gives no more runs on the kernel to a worker."""
        self._refused[address] = why
        none = {RESOURCE: 0}
        # It may have gone already.
        with answers(self._cluster), suppress(KeyError):
            # The worker itself still has the resource for the tasks that wait there.
            self._client.sync(self._client.scheduler.set_resources, worker=address, resources=none)

    def _find(self, told: Mapping[str, Any]) -> None:
        for address in told:
            check_place("worker", address)
        self._threads = {
            address: int(one["resources"].get(RESOURCE, 0) >= 1)
            if self._is_on_kernel
            else one["nthreads"]
            for address, one in told.items()
        }

    def _asked(self) -> Mapping[str, Any]:
        """The versions of the workers, or why there is no answer; none where one hangs."""
        if not self._able:
            return {}
        asked = {"workers": self._able, "on_error": "return", "callback_timeout": CONNECTS_S}
        with answers(self._cluster), suppress(TimeoutError):
            found: dict[str, Any] = self._client.sync(
                self._client._run, versions_of, self._versions, **asked
            )
            return found
        return {}


def _counted(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"
