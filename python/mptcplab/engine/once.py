"""One run, from Python."""

from __future__ import annotations

from pathlib import Path

from mptcplab.engine.choice import SIM, EngineName, choose
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.engine.task import Engine, EngineError, Job, Silence, Task
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario


def run(
    scenario: Scenario,
    variant: str,
    folder: Path,
    *,
    seed: int = 1,
    engine: str = "auto",
    captures: bool = False,
) -> Recording:
    """Runs a variant once, records it in `folder`, and opens the recording.

    `engine` is `kernel`, `sim` or `auto`: the kernel where it can do what the scenario asks.

    Raises:
        ScenarioError: the engine cannot do what the scenario asks.
        EngineError: the run failed. What was measured until then has been written.
        RecordingError: the folder holds something, or cannot be written.

    """
    (chosen,) = choose(EngineName(engine), scenario, [variant]).engines
    made: Engine = SimEngine(workers=1) if chosen == SIM else KernelEngine()
    job = Job(Task(scenario, variant, repetition=1, seed=seed), folder, captures)
    failures = made.execute([job], Silence())
    if failures:
        raise EngineError("\n".join(failures))
    return Recording.open(folder)
