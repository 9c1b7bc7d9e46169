"""The manifest that a run begins with, and what its plan tells beforehand."""

from __future__ import annotations

from typing import Any

from mptcplab import __version__
from mptcplab.engine.job import Task
from mptcplab.plan import Plan
from mptcplab.plan.traffic import PingWorkload, RequestResponseWorkload, Traffic
from mptcplab.recording import Manifest, Status
from mptcplab.scenario import for_variant

NANOSECONDS = 1_000_000_000


def manifest(task: Task, plan: Plan, engine: str, **circumstances: Any) -> Manifest:
    """The manifest of a run of `plan`; `circumstances` are what only the engine knows."""
    scenario = for_variant(task.scenario, task.variant)
    if scenario.vary is not None:
        settings = {"vary_start_ns": scenario.vary.start}
        circumstances["settings"] = circumstances.get("settings", {}) | settings
    return Manifest(
        status=Status.RUNNING,
        scenario=scenario.name,
        variant=task.variant,
        protocol=scenario.variants[task.variant].protocol,
        repetition=task.repetition,
        seed=task.seed,
        engine=engine,
        mptcplab=__version__,
        plan=_as_recorded(plan).to_json(),
        **circumstances,
    )


def congestion_controls(plan: Plan) -> list[str]:
    """Those of all traffic, sorted."""
    ends = ((item.congestion_control, item.server_congestion_control) for item in plan.traffic)
    return sorted({name for names in ends for name in names})


def expected_s(plan: Plan) -> float | None:
    """The end of the last flow, where all have a duration; null otherwise."""
    ends = [_end_ns(item) for item in plan.traffic]
    known = [end for end in ends if end is not None]
    return max(known) / NANOSECONDS if len(known) == len(ends) else None


def _end_ns(item: Traffic) -> int | None:
    if item.duration_ns is not None:
        return item.start_ns + item.duration_ns
    match item.workload:
        case PingWorkload() | RequestResponseWorkload() as spaced if spaced.interval_ns:
            return item.start_ns + spaced.interval_ns * spaced.count
    return None


def _as_recorded(plan: Plan) -> Plan:
    """The plan without the path of the recording, which can be moved."""
    if plan.capture is None:
        return plan
    capture = plan.capture.model_copy(update={"folder": "."})
    return plan.model_copy(update={"capture": capture})
