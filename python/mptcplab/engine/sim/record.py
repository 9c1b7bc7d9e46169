"""A plan simulated in this process, and recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from mptcplab._native import SimulationError, simulate
from mptcplab.engine.recorder import Recorder, Row
from mptcplab.engine.sim.supplied import Supplied
from mptcplab.engine.watch import Seen, Watch
from mptcplab.policy.function import load_policy
from mptcplab.policy.source import PolicyError
from mptcplab.recording import Manifest, RecordingError, Writer

_NOTHING = Supplied()


def record(
    plan: str,
    folder: Path,
    manifest: Manifest,
    reached: Callable[[float], None],
    must_stop: Callable[[], bool],
    supplied: Supplied = _NOTHING,
    *,
    seen: Seen | None = None,
    watched: Callable[[Sequence[Row]], None] = lambda _: None,
) -> str | None:
    """Simulates `plan`, which is JSON, and records it in `folder`; gives what went wrong.

    `reached` is told the seconds of virtual time, and `watched` what is `seen` of a run that is
    live. Where `must_stop` says so the run ends, and what was recorded until then is kept. What an
    algorithm that is `supplied` raises is raised again.
    """
    try:
        writer = Writer(folder, manifest, keeps_rows=seen is not None)
        watch = None if seen is None else Watch(seen, watched)
        lab_pid = None if seen is None else os.getpid()
        return simulated(plan, Recorder(writer, reached, watch), must_stop, supplied, lab_pid)
    except RecordingError as error:
        return str(error)


def simulated(
    plan: str,
    recorder: Recorder,
    must_stop: Callable[[], bool],
    supplied: Supplied = _NOTHING,
    lab_pid: int | None = None,
) -> str | None:
    """Simulates `plan`, which is JSON, into a recorder; gives what went wrong.

    `lab_pid` is this process, where others are to see that the run goes on.

    Raises:
        RecordingError: what was recorded cannot be written.

    """

    def take(chunk: bytes) -> bool:
        for row in json.loads(b"[%b]" % chunk.rstrip(b"\n").replace(b"\n", b",")):
            recorder.take(row, lab_pid)
        recorder.keep(chunk)
        return not must_stop()

    try:
        controls = supplied.congestion_controls
        simulate(plan, take, supplied.scheduler, controls, load_policy)
    except (SimulationError, PolicyError) as error:
        return _failed(recorder, str(error))
    except RecordingError:
        raise
    except BaseException as error:
        # Ctrl-C in an algorithm, too.
        recorder.fail(f"the {supplied.words or 'simulator'} raised {error!r}")
        raise
    recorder.finish()
    return None


def _failed(recorder: Recorder, why: str) -> str:
    """Records that the run failed; gives why, and why that could not be recorded if so."""
    try:
        recorder.fail(why)
    except RecordingError as error:
        return f"{why}; {error}"
    return why
