"""The report for programs; every key is described in ``docs/json.md``."""

import math
from dataclasses import asdict
from typing import Any

from mptcplab.metrics import Estimate, VariantMetrics, Verdict
from mptcplab.report.engines import SideBySide
from mptcplab.report.flow_entries import entries_of_variant
from mptcplab.report.model import ReferenceRow, Report
from mptcplab.report.programs import ProgramAccount


def to_json(report: Report, beside: SideBySide | None = None) -> dict[str, Any]:
    """The report as an object of JSON: what is not known is null, NaN never appears.

    `beside` is the comparison with an earlier report of the scenario by another engine.
    """
    description = report.description
    return {
        "scenario": description.scenario.name,
        "engine": description.engine,
        "folder": str(report.folder),
        "title": description.scenario.title,
        "changes": [change.model_dump() for change in description.scenario.changes],
        "created": description.created,
        "command": list(description.command),
        "seed": description.seed,
        "repetitions": description.repetitions,
        "answer": list(report.answer),
        "variants": [_variant(variant, report) for variant in report.variants],
        "expectations": [_verdict(verdict) for verdict in report.verdicts],
        "reference": [_reference(row) for row in report.references],
        "why": None if report.why is None else report.why.to_json(),
        "beside": None if beside is None else _beside(beside),
        "made_with": dict(report.making),
    }


def _beside(pair: SideBySide) -> dict[str, Any]:
    return {
        "engine": pair.engines[0],
        "metrics": [
            {
                "variant": row.variant,
                "metric": row.metric,
                "theirs": _estimate(row.first),
                "ours": _estimate(row.second),
                "difference": _number(row.difference),
            }
            for row in pair.rows
        ],
    }


def _variant(variant: VariantMetrics, report: Report) -> dict[str, Any]:
    of_switches = entries_of_variant(variant)
    return {
        "name": variant.name,
        "protocol": variant.protocol,
        "repetitions": [run.repetition for run in variant.runs],
        "goodput_mbps": _estimate(variant.metrics.get("goodput")),
        "paths": [
            {
                "client": path.client,
                "interface": path.interface,
                "goodput_mbps": _number(path.goodput_mbps.mean),
                "share": _number(path.share.mean),
                "carried_mbps": _number(path.carried_mbps.mean),
            }
            for path in variant.paths
        ],
        "commands": [_command(one) for one in report.programs if one.variant == variant.name],
        "flow_entries": [asdict(entry) for entry in of_switches.entries],
        "flow_entries_left_out": of_switches.left_out,
        "completion_s": _estimate(variant.metrics.get("completion_s")),
        "metrics": {name: _estimate(figure) for name, figure in variant.metrics.items()},
        "warnings": list(variant.warnings),
    }


def _command(account: ProgramAccount) -> dict[str, Any]:
    return {
        "traffic": account.traffic,
        "command": account.command,
        "repetition": account.repetition,
        "duration_s": account.duration_s,
        "ended": account.ended,
        "status": account.status,
        "signal": account.signal,
        "error": account.error,
        "output_lines": account.lines,
        "connections": account.connections,
        "paths": [asdict(path) for path in account.paths],
    }


def _estimate(figure: Estimate | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return {
        "mean": _number(figure.mean),
        "ci95": None if figure.ci95 is None else [_number(end) for end in figure.ci95],
        "samples": [_number(sample) for sample in figure.samples],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "text": verdict.text,
        "held": verdict.held,
        "sides": [
            {"left": _number(side.left), "sign": side.sign, "right": _number(side.right)}
            for side in verdict.sides
        ],
        "reason": verdict.reason,
        "note": verdict.note,
    }


def _reference(row: ReferenceRow) -> dict[str, Any]:
    return {
        "variant": row.variant,
        "metric": row.metric,
        "unit": row.unit,
        "theirs": _number(row.theirs),
        "ours": _estimate(row.ours),
        "note": row.note,
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
