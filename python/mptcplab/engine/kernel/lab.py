"""The lab process: started, fed with a plan, read row by row.

It is an interpreter that loads nothing but the extension module, and so has one thread when it
enters its namespaces. It ends with this process, in whatever way this one ends.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.failure import failure
from mptcplab.engine.terminal import ctrl_c_held

if TYPE_CHECKING:
    from mptcplab.engine.recorder import Row
    from mptcplab.plan import Plan

_CODE = "import sys; sys.path.append(sys.argv[1]); import _native; _native.lab_main()"

_ENDING_S = 5.0
"""Time that the lab has to end by itself; it lets go of open connections then."""


class Lab:
    """A running lab process."""

    def __init__(self, plan: Plan) -> None:
        """Starts a lab that builds `plan` and runs it at once."""
        native = _native_folder()
        environment = os.environ | {
            "MPTCPLAB_PYTHON": sys.executable,
            "MPTCPLAB_PACKAGES": str(native.parent),
        }
        with ctrl_c_held():
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _CODE, str(native)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                # Ctrl-C in the terminal is for this process alone, which then asks the lab to stop.
                start_new_session=True,
            )
        self._write(plan.model_dump_json())

    @property
    def pid(self) -> int:
        """The outermost process of the lab."""
        return self._process.pid

    def rows(
        self,
        keep: Callable[[bytes], None] = lambda _: None,
        answered: Callable[[Row], None] = lambda _: None,
    ) -> Iterator[Row]:
        """The lab's rows until its last one, `done`, inclusive; `keep` gets the line of each then.

        Answers to commands are no rows of the recording: `answered` gets them.

        Raises:
            NotGrantedError: the lab lacked descriptors.
            EngineError: the lab gave up, or ended without a word.

        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            row: Row = json.loads(line)
            if row["record"] == "failed":
                raise failure(row["text"])
            if row["record"] == "answer":
                answered(row)
                continue
            is_last = row["record"] == "done"
            yield row
            keep(line)
            if is_last:
                return
        raise failure(self._last_words())

    def stop(self) -> None:
        """Asks the lab to end its traffic and keep what it measured."""
        self._write("stop")

    def command(self, line: str) -> None:
        """Sends the lab a command (`crates/lab/engine-kernel/src/pause.rs`)."""
        self._write(line)

    def kill(self) -> None:
        """Ends the lab at once, while another thread waits for its rows."""
        self._process.kill()

    def end(self) -> None:
        """Ends the lab at once, with all that it made; no error when it has ended."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                # Input that it had not read yet is dropped.
                _close_quietly(stream)
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            # It has ended; `rows` says how.
            return

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        status = self._process.wait()
        words = self._process.stderr.read().decode(errors="replace").strip()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"the lab process ended unexpectedly ({how})" + (f": {words}" if words else "")


def _native_folder() -> Path:
    found = importlib.util.find_spec("mptcplab._native")
    if found is None or found.origin is None:
        raise EngineError("the extension module is not built: run `make setup`")
    origin = Path(found.origin)
    return origin.parent


def _close_quietly(stream: Any) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        return
