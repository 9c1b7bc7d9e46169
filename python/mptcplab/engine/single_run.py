"""One run, from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.engine.choice import SIM, EngineName, choose
from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import Engine, EngineError, Job, NullProgress, Task
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.manifest import congestion_controls, manifest
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.engine.sim.record import record
from mptcplab.engine.sim.refuse import unsupported
from mptcplab.engine.sim.supplied import Supplied
from mptcplab.plan import Plan
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError, for_variant

if TYPE_CHECKING:
    from mptcplab.engine.algorithms import CongestionControl, Scheduler

SUPPLIED = "supplied"
"""Name in the plan of a scheduler that is a function."""


def run(
    scenario: Scenario,
    variant: str,
    folder: Path | str,
    *,
    seed: int = 1,
    engine: str = "auto",
    captures: bool = False,
    scheduler: Scheduler | None = None,
    congestion_controls: Mapping[str, Callable[[], CongestionControl]] | None = None,
) -> Recording:
    """Runs a variant once, records it in `folder`, and opens the recording.

    `engine` is `kernel`, `sim` or `auto`: the kernel where it can do what the scenario asks. A
    `scheduler` takes the place of those of all hosts. `congestion_controls` are those of the hosts
    that name them: classes, or functions that make an object for each connection or subflow. Both
    run in virtual time, not on the `kernel`, and in this process. What they raise is raised again.

    Raises:
        ScenarioError: the engine cannot do what the scenario asks.
        ValueError: there is no such engine, it takes no algorithms of Python, or no host asks for
            one of the congestion controls, or the simulator has its name.
        EngineError: the run failed; what was measured until then has been written. Or the folder
            holds something, or cannot be written.

    """
    if engine not in (EngineName.AUTO, EngineName.KERNEL, EngineName.SIM):
        raise ValueError(f"engine is 'kernel', 'sim' or 'auto', not {engine!r}")
    supplied = Supplied(scheduler, congestion_controls or {})
    if supplied.words and engine == EngineName.KERNEL:
        raise ValueError(f"a {supplied.words} of Python needs virtual time: engine='sim'")
    job = Job(Task(scenario, variant, repetition=1, seed=seed), Path(folder), captures)
    if supplied.words:
        failures = _with_supplied(job, supplied)
    else:
        (chosen,) = choose(EngineName(engine), scenario, [variant]).engines
        made: Engine = SimEngine(workers=1) if chosen == SIM else KernelEngine()
        failures = made.execute([job], NullProgress())
    if failures:
        raise EngineError("\n".join(failures))
    return Recording.open(folder)


def _with_supplied(job: Job, supplied: Supplied) -> list[str]:
    task = job.task
    made = for_variant(task.scenario, task.variant)
    supplied.check(made)
    refused = list(unsupported(made, supplied.congestion_controls))
    if refused:
        hint = "take it out, as algorithms of Python need the sim engine"
        raise ScenarioError(refusal.problem(hint, SIM) for refusal in refused)
    plan = compile_plan(task.scenario, task.variant, task.seed, job.capture)
    if supplied.scheduler is not None:
        plan = _scheduled_by(SUPPLIED, plan)
    settings = {"congestion_control": congestion_controls(plan)}
    described = manifest(task, plan, SIM, settings=settings)
    failure = record(
        plan.model_dump_json(), job.folder, described, lambda _: None, lambda: False, supplied
    )
    return [] if failure is None else [failure]


def _scheduled_by(scheduler: str, plan: Plan) -> Plan:
    """The plan with this scheduler in all hosts."""
    nodes = []
    for node in plan.nodes:
        mptcp = (
            node.mptcp if node.router else node.mptcp.model_copy(update={"scheduler": scheduler})
        )
        nodes.append(node.model_copy(update={"mptcp": mptcp}))
    return plan.model_copy(update={"nodes": tuple(nodes)})
