"""The engines: what runs a variant of a scenario, and makes a recording of it.

Both are told the same plan (`compile`) and give the same rows (`docs/recording.md`). `kernel` runs
it on the real Linux stack, `sim` in virtual time on the stack of this project. What only one of
them can do is refused for the other before anything starts (`choice`).

    recording = run(load("lisbon/A1"), "mptcp", Path("out/by-hand"), engine="sim")
"""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.engine.algorithms import (
        CongestionAck,
        CongestionControl,
        CongestionEvent,
        CongestionPath,
        CongestionWindow,
        Scheduler,
        SchedulerConnection,
        SchedulerSubflow,
    )
    from mptcplab.engine.job import EngineError
    from mptcplab.engine.single_run import run

__all__ = [
    "CongestionAck",
    "CongestionControl",
    "CongestionEvent",
    "CongestionPath",
    "CongestionWindow",
    "EngineError",
    "Scheduler",
    "SchedulerConnection",
    "SchedulerSubflow",
    "run",
]

__getattr__ = lazy.names(
    __name__,
    {
        "CongestionAck": "algorithms",
        "CongestionControl": "algorithms",
        "CongestionEvent": "algorithms",
        "CongestionPath": "algorithms",
        "CongestionWindow": "algorithms",
        "Scheduler": "algorithms",
        "SchedulerConnection": "algorithms",
        "SchedulerSubflow": "algorithms",
        "EngineError": "job",
        "run": "single_run",
    },
)
