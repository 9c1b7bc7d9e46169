"""A scheduler and workers of Dask, as processes on the loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.engine import launch

_DASK = Path(sys.executable).with_name("dask")


T = TypeVar("T")
_ENDS_S = 5.0
_WAITS_S = 200.0
"""Several interpreters with large libraries start at once, on a machine that may be busy."""


class DaskProcesses:
    """Starts them, and ends all that is left of them by id."""

    def __init__(self, folder: Path, *options: str, scheme: str = "tcp", **env: str) -> None:
        """`options` are for each of the processes, such as certificates; `env` too."""
        folder.mkdir()
        self._folder = folder
        self._options = options
        self._env = env
        self._started: list[subprocess.Popen[bytes]] = []
        self.address = f"{scheme}://127.0.0.1:0"
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """Starts the scheduler, at the port that it had before, and waits until it listens."""
        log = self._folder / f"scheduler-{len(self._started)}.log"
        scheme, _, rest = self.address.partition("://")
        listens = ["--host", f"{scheme}://127.0.0.1", "--port", rest.partition(":")[2]]
        self.scheduler = self._start(["scheduler", *listens, "--no-dashboard"], log)

        def found() -> str | None:
            lines = (line.split() for line in log.read_text().splitlines(keepends=True)[:-1])
            return next((words[-1] for words in lines if "Scheduler at:" in " ".join(words)), None)

        self.address = wait_for("the scheduler", found)
        return self.scheduler

    def start_worker(
        self, *words: str, prefix: Sequence[str] = (), **env: str
    ) -> subprocess.Popen[bytes]:
        """Starts a worker, and waits until the scheduler knows it; `words` are its options."""
        log = self._folder / f"worker-{len(self._started)}.log"
        own = words or ("--nthreads", "1", "--no-nanny")
        options = [self.address, "--no-dashboard", *own]
        process = self._start(["worker", *options], log, prefix, **env)
        wait_for("the worker", lambda: "Registered to:" in log.read_text())
        return process

    def end(self) -> None:
        """Ends them all."""
        # Workers take leave of their scheduler.
        workers = [one for one in self._started if one is not self.scheduler]
        for ending in (workers, [self.scheduler]):
            for process in ending:
                # A nanny that is asked to end has its worker end as well.
                process.terminate()
            for process in ending:
                try:
                    process.wait(_ENDS_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _start(
        self, words: Sequence[str], log: Path, prefix: Sequence[str] = (), **env: str
    ) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*prefix, _DASK, *words, *self._options],
                cwd=self._folder,
                env=launch.environment(self._folder / "home", **self._env, **env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._started.append(process)
        return process


def python_path(first: Path) -> str:
    """The module path of a process that finds the modules in `first` before all others."""
    return os.pathsep.join([str(first), os.environ.get("PYTHONPATH", "")])


def wait_for(what: str, probe: Callable[[], T | None]) -> T:
    """As of `launch`, but with more patience."""
    return launch.wait_for(what, probe, _WAITS_S)
