"""Runs of the engines that the tests of captures share: each is carried out once a session."""

import json
import os
import shutil
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from tests.engine.launch import environment, finish, start
from tests.engine.system import mptcp_missing, namespaces_refused
from tests.trace import shark

SCENARIOS = Path(__file__).with_name("scenarios")
KERNEL = (
    "tcp",
    "fullmesh",
    "upwards",
    "checksum",
    "ipv6",
    "signal",
    "ndiffports",
    "backup",
    "failure",
    "unplugged",
    "fallback",
    "requests",
)
SIMULATED = ("fullmesh", "upwards", "ipv6", "ndiffports", "backup", "failure", "requests")
MIDDLEBOXES = (
    "syn-stripped",
    "syn-ack-stripped",
    "data-stripped",
    "join-stripped",
    "split",
    "coalesced",
    "proxied",
    "translated",
    "changed",
)
RUNS = {
    "kernel": ("paths", "kernel"),
    "sim": ("paths", "sim"),
    "middleboxes": ("middleboxes", "sim"),
    "fast-close": ("fast-close", "kernel"),
}
"""By name: the scenario and the engine."""
CASES = (
    *(f"sim/{variant}" for variant in SIMULATED),
    *(f"middleboxes/{variant}" for variant in MIDDLEBOXES),
    *(f"kernel/{variant}" for variant in KERNEL),
    "fast-close/fast-close",
)
"""Those first that are over first."""


class Runs:
    """All runs, begun together: those of the kernel engine mostly wait."""

    def __init__(self, folder: Path):
        self._folder = folder
        wanted = {
            name: (SCENARIOS / f"{scenario}.yaml", engine)
            for name, (scenario, engine) in RUNS.items()
            if not (engine == "kernel" and kernel_refused())
        }
        home = environment(folder / "home")
        self._started = {
            name: start(
                ["run", scenario, "--engine", engine, "--capture", "--out", name], folder, env=home
            )
            for name, (scenario, engine) in wanted.items()
        }
        self._over: set[str] = set()
        self._readers = ThreadPoolExecutor(os.cpu_count())
        self._shown: dict[str, Future[list[shark.Row]]] = {}

    def recording(self, case: str) -> Path:
        """The recording of a case, when its run is over; skips where it cannot be had."""
        name, variant = case.split("/")
        if name not in self._started:
            pytest.skip(str(kernel_refused()))
        if name not in self._over:
            ended = finish(self._started[name])
            assert ended.returncode == 0, ended.stderr
            self._over.add(name)
        return self._folder / name / variant / "1"

    def shown(self, case: str) -> list[shark.Row]:
        """The rows of tshark for the client's captures; it reads those that come next meanwhile."""
        name, _ = case.split("/")
        if case not in self._shown:
            for other in (each for each in CASES if each.startswith(f"{name}/")):
                file = self.merged(other)
                self._shown[other] = self._readers.submit(shark.read, file)
        return self._shown[case].result()

    def captures(self, case: str, host: str = "client") -> list[Path]:
        """The captures of a host's interfaces."""
        return sorted(self.recording(case).glob(f"{host}-*.pcapng"))

    def counted(self, case: str, host: str) -> list[Path]:
        """The captures of a host's interfaces, as far as the recording's own counts go.

        Those of the simulator end with the run, its captures when the connections have closed.
        """
        recording = self.recording(case)
        files = self.captures(case, host)
        if RUNS[case.split("/")[0]][1] == "kernel":
            return files
        folder = recording / "counted"
        folder.mkdir(exist_ok=True)
        return [_until_the_end(recording, file, folder / file.name) for file in files]

    def merged(self, case: str, host: str = "client") -> Path:
        """The captures of a host in one file, in the order of time."""
        file = self.recording(case) / f"{host}.pcapng"
        if not file.exists():
            words: list[str | Path] = ["mergecap", "-w", file, *self.captures(case, host)]
            subprocess.run(words, check=True, capture_output=True)
        return file

    def stop(self) -> None:
        """Ends what still runs."""
        self._readers.shutdown(cancel_futures=True)
        for process in self._started.values():
            if process.poll() is None:
                process.terminate()
                process.communicate()


def _until_the_end(recording: Path, file: Path, to: Path) -> Path:
    """The packets of a capture until the end of its run."""
    duration_s = json.loads((recording / "manifest.json").read_text())["duration_s"]
    if not to.exists():
        if not shutil.which("editcap"):
            pytest.skip("this machine has no editcap, which comes with tshark")
        # The option names the first time that is left out.
        stop = f"{duration_s + 1e-9:.9f}"
        subprocess.run(["editcap", "-B", stop, file, to], check=True, capture_output=True)
    return to


@cache
def kernel_refused() -> str | None:
    """Why the kernel engine cannot run here; null if it can."""
    return namespaces_refused() or mptcp_missing()
