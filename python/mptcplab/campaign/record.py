"""What a campaign keeps of a run, as a line of JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from mptcplab.metrics import measure
from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit
from mptcplab.metrics.comparison import SAME_PAYLOAD
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Recording

Record = dict[str, Any]
"""The columns of the table `runs`, and `transfers` and `totals` with what is the run's of them."""

COMPLETE, FAILED = "complete", "failed"


def address(plan: str, variant: str, repetition: int, versions: Mapping[str, Any]) -> str:
    """The address of a run: what decides on its figures, as SHA-256."""
    content = json.dumps([plan, variant, repetition, versions], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def complete(identity: Record, recording: Recording) -> Record:
    """The record of a run that ended well; `identity` is what was known before."""
    measured = measure(recording)
    interfaces = {path.interface for path in measured.paths}
    transfers = recording.frame("transfers")
    warnings = [
        *(f"not multipath: {finding}" for finding in measured.single_path),
        *_failed_transfers(transfers["error"].to_list()),
        *recording.manifest.warnings,
    ]
    return identity | {
        "protocol": recording.manifest.protocol,
        "status": COMPLETE,
        "error": None,
        "duration_s": recording.manifest.duration_s,
        "interface": interfaces.pop() if len(interfaces) == 1 else None,
        "task": _digest(repr(PlanView(recording).task)),
        "program_bytes": measured.program_bytes,
        "warnings": "\n".join(warnings) or None,
        "transfers": transfers.rows(),
        "totals": measured.metrics,
    }


def failed(identity: Record, why: str) -> Record:
    """The record of a run that failed."""
    return identity | {"status": FAILED, "error": why, "transfers": [], "totals": {}}


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
        found[run["run"]] = _benefits(run, list(singles.values()))
    return found


def _benefits(run: Record, singles: Sequence[Record]) -> dict[str, float]:
    def of(metric: str) -> list[float | None]:
        return [one["totals"].get(metric) for one in singles]

    made = {
        "aggregation_benefit": aggregation_benefit(run["totals"].get("goodput"), of("goodput")),
        "delay_benefit": delay_benefit(run["totals"].get("completion_s"), of("completion_s")),
    }
    carried = [
        one["program_bytes"]
        for one in (run, *singles)
        if one["totals"].get("completion_s") is not None
    ]
    if carried and max(carried) - min(carried) > SAME_PAYLOAD * max(carried):
        del made["delay_benefit"]
    return {metric: value for metric, value in made.items() if value is not None}


def _failed_transfers(errors: Sequence[str | None]) -> list[str]:
    reasons = [why for why in errors if why]
    return [f"{len(reasons)} of {len(errors)} transfers failed: {reasons[0]}"] if reasons else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
