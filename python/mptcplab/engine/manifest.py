"""The manifest that a run begins with, and what its plan tells beforehand."""

from __future__ import annotations

from typing import Any

from mptcplab import __version__
from mptcplab.engine.compile import Plan
from mptcplab.engine.task import Task
from mptcplab.recording import Manifest, Status
from mptcplab.scenario import for_variant

NANOSECONDS = 1_000_000_000
_CONGESTION_CONTROLS = ("congestion_control", "server_congestion_control")


def manifest(task: Task, plan: Plan, engine: str, **circumstances: Any) -> Manifest:
    """The manifest of a run of `plan`; `circumstances` are what only the engine knows."""
    scenario = for_variant(task.scenario, task.variant)
    return Manifest(
        status=Status.RUNNING,
        scenario=scenario.name,
        variant=task.variant,
        protocol=scenario.variants[task.variant].protocol,
        repetition=task.repetition,
        seed=task.seed,
        engine=engine,
        mptcplab=__version__,
        plan=_as_recorded(plan),
        **circumstances,
    )


def congestion_controls(plan: Plan) -> list[str]:
    """Those of all traffic, sorted."""
    return sorted({item[end] for item in plan["traffic"] for end in _CONGESTION_CONTROLS})


def expected_s(plan: Plan) -> float | None:
    """The end of the last item of traffic, where all have a duration; null otherwise."""
    ends = [_end_ns(item) for item in plan["traffic"]]
    known = [end for end in ends if end is not None]
    return max(known) / NANOSECONDS if len(known) == len(ends) else None


def _end_ns(item: dict[str, Any]) -> int | None:
    workload = item["workload"]
    if workload.get("duration_ns") is not None:
        return int(item["start_ns"] + workload["duration_ns"])
    if workload.get("interval_ns"):
        return int(item["start_ns"] + workload["interval_ns"] * workload["count"])
    return None


def _as_recorded(plan: Plan) -> Plan:
    """The plan without the path of the recording, which can be moved."""
    if plan["capture"] is None:
        return plan
    return plan | {"capture": plan["capture"] | {"folder": "."}}
