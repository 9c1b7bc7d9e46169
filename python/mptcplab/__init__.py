"""A laboratory for Multipath TCP (RFC 8684).

    import mptcplab as lab

    result = lab.run("lisbon/A1", engine="sim", repeat=5, duration="10 s", out="out/a1")
    result["mptcp"][0].transfers
    lab.open("out/a1")

`docs/howto/python.md` shows every function. They are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.debugger.opening import debug, debug_failure
    from mptcplab.engine.job import EngineError
    from mptcplab.explanation.told import Explanation
    from mptcplab.front.calls import (
        Interrupted,
        explain,
        load,
        open,  # noqa: A004
        read_trace,
        run,
    )
    from mptcplab.front.comparisons import Comparison, compare
    from mptcplab.front.sweeps import Sweep, sweep
    from mptcplab.recording import Recording, RecordingError, Result
    from mptcplab.scenario import Scenario, ScenarioError, catalogue

    __version__: str
    """Version of the installed package."""

__all__ = [
    "Comparison",
    "EngineError",
    "Explanation",
    "Interrupted",
    "Recording",
    "RecordingError",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "catalogue",
    "compare",
    "debug",
    "debug_failure",
    "explain",
    "load",
    "open",
    "read_trace",
    "run",
    "sweep",
]

_find = lazy.names(
    __name__,
    {
        "Comparison": "front.comparisons",
        "EngineError": "engine.job",
        "Explanation": "explanation.told",
        "Interrupted": "front.calls",
        "Recording": "recording.reader",
        "RecordingError": "recording.errors",
        "Result": "recording.result",
        "Scenario": "scenario.model",
        "ScenarioError": "scenario.problem",
        "Sweep": "front.sweeps",
        "catalogue": "scenario.entries",
        "compare": "front.comparisons",
        "debug": "debugger.opening",
        "debug_failure": "debugger.opening",
        "explain": "front.calls",
        "load": "front.calls",
        "open": "front.calls",
        "read_trace": "front.calls",
        "run": "front.calls",
        "sweep": "front.sweeps",
    },
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            # Loaded when asked for: it is half of the time that the command line takes to start.
            from importlib.metadata import version

            return version("mptcplab")
        return _find(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
