"""A plan simulated in this process, and recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab._native import SimulationError, simulate
from mptcplab.engine.recorder import Recorder
from mptcplab.recording import Manifest, RecordingError

if TYPE_CHECKING:
    from mptcplab._native import Scheduler


def record(
    plan: dict[str, Any],
    folder: Path,
    manifest: Manifest,
    reached: Callable[[float], None],
    must_stop: Callable[[], bool],
    scheduler: Scheduler | None = None,
) -> str | None:
    """Simulates `plan` and records it in `folder`; gives what went wrong.

    `reached` is told the seconds of virtual time. Where `must_stop` says so the run ends, and what
    was recorded until then is kept. `scheduler` decides for the hosts whose scheduler is called
    `supplied`; what it raises is raised again.
    """
    try:
        recorder = Recorder(folder, manifest, reached)

        def take(chunk: bytes) -> bool:
            for line in chunk.decode().split("\n"):
                if line:
                    recorder.take(json.loads(line))
            return not must_stop()

        try:
            simulate(json.dumps(plan), take, scheduler)
        except SimulationError as error:
            recorder.fail(str(error))
            return str(error)
        except RecordingError:
            raise
        except Exception as error:
            recorder.fail(f"the scheduler raised {error!r}")
            raise
        recorder.finish()
    except RecordingError as error:
        return str(error)
    return None
