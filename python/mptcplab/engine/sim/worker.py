"""The process in which simulated runs take place, one after the other.

    python -m mptcplab.engine.sim.worker

It reads jobs from standard input and answers on standard output, as `protocol` says, and ends with
its input.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mptcplab.engine.sim.protocol import STOP
from mptcplab.shortage import ask, shortage_of

_TOLD_EVERY_S = 0.1
"""Wall-clock time between two reports of the progress."""


class Requests:
    """Lines of standard input, which can be looked for without waiting."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._rest = b""
        self._is_ended = False

    def wait(self) -> Any:
        """The next request; null after the last one."""
        while b"\n" not in self._rest:
            self._read()
            if self._is_ended:
                return None
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def must_stop(self) -> bool:
        """Whether the run that goes on has to end: it was asked to, or its engine has gone."""
        while select.select([self._source], [], [], 0)[0] and not self._is_ended:
            self._read()
        return self._is_ended or self._rest.startswith(json.dumps(STOP).encode() + b"\n")

    def _read(self) -> None:
        read = os.read(self._source, 1 << 16)
        self._is_ended = not read
        self._rest += read


class Throttle:
    """Passes the first value on, and then one whenever some time has gone by."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._next_s = 0.0

    def __call__(self, value: float) -> None:
        """Passes `value` on if it is time."""
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._next_s = now_s + _TOLD_EVERY_S
            self._tell(value)


def tell(answer: Any) -> None:
    """Answers with one line.

    Where the process that asked has gone no answer is expected: what goes on ends by the end of the
    input, and is kept.
    """
    try:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The rest of the buffer, and all that follows, has to go somewhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def main() -> None:
    """Carries out jobs until there are no more."""
    ask()
    # Large libraries, which are loaded where there is room for them only.
    from mptcplab.engine.sim.record import record
    from mptcplab.engine.watch import Seen
    from mptcplab.recording import Manifest

    requests = Requests(sys.stdin.fileno())

    while (job := requests.wait()) is not None:
        if job == STOP:
            continue
        failure = record(
            json.dumps(job["plan"]),
            Path(job["folder"]),
            Manifest.model_validate(job["manifest"]),
            Throttle(lambda seconds: tell({"reached": seconds})),
            requests.must_stop,
            seen=None if job["seen"] is None else Seen.of_json(job["seen"]),
            watched=lambda rows: tell({"watched": rows}),
        )
        tell({"ended": failure})


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        reason = shortage_of(error)
        if reason is None:
            raise
        tell({"ended": reason})
        os._exit(1)
