"""The installed command, started as a user starts it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

REPOSITORY = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("mptcplab")
TIME_LIMIT_S = 240
"""Nothing here takes long; a run that hangs fails its test instead of the whole session."""
MARK = "MPTCPLAB_TEST_RUN"
"""Environment variable that every process of a run inherits."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The caller's environment, with a home and temporary folder of its own."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return kept | {"HOME": str(home), "TMPDIR": str(temporary), "COLUMNS": "100"} | more


def start(
    words: Sequence[str | Path],
    folder: Path,
    *,
    prefix: Sequence[str | Path] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Starts `mptcplab WORDS` in `folder`, in a process group of its own as a shell does."""
    return subprocess.Popen(
        [*prefix, COMMAND, *words],
        cwd=folder,
        env=environment(folder / "home") if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Waits for the command's end and gives what it printed."""
    try:
        out, err = process.communicate(timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(
    words: Sequence[str | Path],
    folder: Path,
    *,
    prefix: Sequence[str | Path] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs `mptcplab WORDS` in `folder` to its end."""
    return finish(start(words, folder, prefix=prefix, env=env))


def wait_for(what: str, probe: Callable[[], T | None], limit_s: float = 60.0) -> T:
    """The first result of `probe` that is neither null nor false; polls until a deadline."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if result := probe():
            return result
        time.sleep(0.01)
    raise AssertionError(f"waited {limit_s} s for {what}")
