"""One run, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.engine.choice import SIM, EngineName, choose
from mptcplab.engine.compile import compile_plan
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.manifest import congestion_controls, manifest
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.engine.sim.record import record
from mptcplab.engine.task import Engine, EngineError, Job, Silence, Task
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario

if TYPE_CHECKING:
    from mptcplab._native import Scheduler

SUPPLIED = "supplied"
"""What the plan calls a scheduler that is a function."""


def run(
    scenario: Scenario,
    variant: str,
    folder: Path,
    *,
    seed: int = 1,
    engine: str = "auto",
    captures: bool = False,
    scheduler: Scheduler | None = None,
) -> Recording:
    """Runs a variant once, records it in `folder`, and opens the recording.

    `engine` is `kernel`, `sim` or `auto`: the kernel where it can do what the scenario asks. A
    `scheduler` takes the place of those of all hosts; it runs in virtual time, not on the `kernel`,
    and in this process. What it raises is raised again.

    Raises:
        ScenarioError: the engine cannot do what the scenario asks.
        ValueError: there is no such engine, or it takes no scheduler of Python.
        EngineError: the run failed. What was measured until then has been written.
        RecordingError: the folder holds something, or cannot be written.

    """
    if engine not in (EngineName.AUTO, EngineName.KERNEL, EngineName.SIM):
        raise ValueError(f"engine is 'kernel', 'sim' or 'auto', not {engine!r}")
    if scheduler is not None and engine == EngineName.KERNEL:
        raise ValueError("a scheduler of Python needs virtual time: engine='sim'")
    wanted = EngineName(engine) if scheduler is None else EngineName.SIM
    (chosen,) = choose(wanted, scenario, [variant]).engines
    job = Job(Task(scenario, variant, repetition=1, seed=seed), folder, captures)
    if scheduler is None:
        made: Engine = SimEngine(workers=1) if chosen == SIM else KernelEngine()
        failures = made.execute([job], Silence())
    else:
        failures = _scheduled(job, scheduler)
    if failures:
        raise EngineError("\n".join(failures))
    return Recording.open(folder)


def _scheduled(job: Job, scheduler: Scheduler) -> list[str]:
    task = job.task
    plan = compile_plan(task.scenario, task.variant, task.seed, job.capture)
    for node in plan["nodes"]:
        if not node["router"]:
            node["mptcp"]["scheduler"] = SUPPLIED
    settings = {"congestion_control": congestion_controls(plan)}
    described = manifest(task, plan, SIM, settings=settings)
    failure = record(
        plan, job.folder, described, lambda _: None, lambda: False, scheduler=scheduler
    )
    return [] if failure is None else [failure]
