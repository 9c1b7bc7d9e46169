"""The record that a campaign keeps of a run, as a line of JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mptcplab.metrics import measure
from mptcplab.metrics.at_once import at_once
from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit
from mptcplab.metrics.comparison import SAME_PAYLOAD, Formula
from mptcplab.metrics.plan_view import PlanView
from mptcplab.plan import Plan
from mptcplab.recording import Recording
from mptcplab.recording.tables import TRANSFERS as OF_RECORDING

Record = dict[str, Any]
"""The columns of the table `runs`, and `transfers` and `totals` with what is the run's of them."""

COMPLETE, FAILED = "complete", "failed"
MOST_ATTEMPTS = 3
"""Attempts at a run that fails by its machine: a full disk, a killed worker."""


def address(plan: str, variant: str, repetition: int, versions: Mapping[str, Any]) -> str:
    """The address of a run: what decides on its figures, as SHA-256."""
    content = json.dumps([plan, variant, repetition, versions], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def complete(identity: Record, recording: Recording, compiled: Plan) -> Record:
    """The record of a run of a plan that ended well; `identity` is what was known before."""
    plan = PlanView(recording, compiled)
    measured = measure(recording, plan)
    interfaces = {path.interface for path in measured.paths}
    transfers = list(recording.rows("transfers", OF_RECORDING.schema))
    warnings = [
        *(f"not multipath: {finding}" for finding in measured.single_path),
        *_failed_transfers([row["error"] for row in transfers]),
        *recording.manifest.warnings,
    ]
    return identity | {
        "protocol": recording.manifest.protocol,
        "status": COMPLETE,
        "error": None,
        "duration_s": recording.manifest.duration_s,
        "interface": interfaces.pop() if len(interfaces) == 1 else None,
        "task": _digest(repr(plan.task)),
        "at_once": _at_once(recording, plan),
        "program_bytes": measured.program_bytes,
        "warnings": "\n".join(warnings) or None,
        "transfers": [[row[name] for name in OF_RECORDING.schema] for row in transfers],
        "totals": measured.metrics,
    }


def failed(identity: Record, why: str, *, by_plan: bool = False) -> Record:
    """The record of a run that failed; `by_plan`: as it would every time, in virtual time."""
    return identity | {
        "status": FAILED,
        "error": why,
        "by_plan": by_plan,
        "transfers": [],
        "totals": {},
    }


def is_final(record: Record) -> bool:
    """Whether nothing would come of another attempt, or there were enough."""
    if record["status"] == COMPLETE or record["by_plan"]:
        return True
    tried: int = record["attempts"]
    return tried >= MOST_ATTEMPTS


def benefits(unit: Sequence[Record]) -> dict[int, dict[str, float]]:
    """By run of MPTCP: what it gains over TCP, where the unit has that over each path alone."""
    well = [one for one in unit if one["status"] == COMPLETE]
    found = {}
    for run in well:
        if run["protocol"] != "mptcp":
            continue
        singles: dict[str, Record] = {}
        for one in well:
            if one["protocol"] == "tcp" and one["task"] == run["task"] and one["interface"]:
                singles.setdefault(one["interface"], one)
        both = (one["at_once"] for one in well if one["protocol"] == "tcp" and one["at_once"])
        beside = next((one for one in both if one["task"] == run["task"]), None)
        found[run["run"]] = _benefits(run, list(singles.values()), beside)
    return found


def _benefits(run: Record, singles: Sequence[Record], beside: Record | None) -> dict[str, float]:
    """Both benefits, as of `metrics.compare`; `beside` is what TCP over all paths at once did."""

    def benefit(metric: str, formula: Formula, figure: str) -> float | None:
        most = None if beside is None else beside[figure]
        if beside is not None and most is None:
            return None
        of_singles = [one["totals"].get(metric) for one in singles]
        return formula(run["totals"].get(metric), of_singles, most)

    made = {
        "aggregation_benefit": benefit("goodput", aggregation_benefit, "goodput_mbps"),
        "delay_benefit": benefit("completion_s", delay_benefit, "time_s"),
    }
    carried = [
        one["program_bytes"]
        for one in (run, *singles)
        if one["totals"].get("completion_s") is not None
    ]
    if carried and max(carried) - min(carried) > SAME_PAYLOAD * max(carried):
        del made["delay_benefit"]
    return {metric: value for metric, value in made.items() if value is not None}


def _at_once(recording: Recording, plan: PlanView) -> Record | None:
    """The figures of TCP over all paths at once, and the task of each; null of other runs."""
    tasks = list(plan.task_by_interface.values())
    if recording.manifest.protocol != "tcp" or len(tasks) < 2 or tasks.count(tasks[0]) < len(tasks):
        return None
    return {"task": _digest(repr(tasks[0])), **asdict(at_once(recording, plan))}


def _failed_transfers(errors: Sequence[str | None]) -> list[str]:
    reasons = [why for why in errors if why]
    return [f"{len(reasons)} of {len(errors)} transfers failed: {reasons[0]}"] if reasons else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
