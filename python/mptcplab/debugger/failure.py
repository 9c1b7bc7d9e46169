"""Failures of a result: the run that one is about, and the moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from mptcplab.debugger.problem import DebugError
from mptcplab.metrics import VariantMetrics, Verdict, compare, judge
from mptcplab.metrics.comparison import Run
from mptcplab.metrics.moments import moment
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Recording, Result, Status
from mptcplab.scenario.expectation import (
    Comparison,
    Finding,
    Name,
    holds,
    names_in,
    parse,
    value_of,
)

_INTERRUPTED = "interrupted"
"""The error of a transfer that was going on when its run was interrupted."""


@dataclass(frozen=True)
class Failure:
    """Something that failed, and where one looks into it."""

    recording: Recording
    """The run that it is about."""
    at_ns: int | None
    """The moment that it is about; null where that is the whole run, whose end tells most."""
    words: str
    """The failure in a line: which run, which moment, and why these."""


def first_failure(result: Result) -> Failure:
    """The first run that failed, or in which a transfer did; or else the first failed finding.

    Raises:
        RecordingError: a recording is damaged.
        DebugError: nothing has failed.

    """
    for name in result:
        for recording in result.recordings(name):
            failed = _failed_run(recording)
            if failed is not None:
                return failed
    variants, verdicts = _judged(result)
    for number, verdict in enumerate(verdicts, 1):
        if verdict.held is False:
            return _of_finding(variants, number, verdict)
    raise DebugError(
        f"{result.folder}: no run of it failed, and no finding does not hold: debug its scenario"
    )


def failed_finding(result: Result, number: int) -> Failure:
    """The finding of a number, counted from 1 in the order of reports.

    Raises:
        RecordingError: a recording is damaged.
        DebugError: there is none of this number, or it holds, or nothing is known of it.

    """
    variants, verdicts = _judged(result)
    if not 1 <= number <= len(verdicts):
        there = f"has findings 1 to {len(verdicts)}" if verdicts else "has no findings"
        raise DebugError(f"{result.folder}: there is no finding {number}: it {there}")
    verdict = verdicts[number - 1]
    if verdict.held is not False:
        why = "holds" if verdict.held else f"is undecided: {verdict.reason}"
        failed = [str(n) for n, one in enumerate(verdicts, 1) if one.held is False]
        others = f"those that do not hold: {', '.join(failed)}" if failed else "none fails"
        raise DebugError(f"{result.folder}: finding {number} {why}; {others}")
    return _of_finding(variants, number, verdict)


def _judged(result: Result) -> tuple[dict[str, VariantMetrics], list[Verdict]]:
    variants = compare(result)
    verdicts = judge(result.description.scenario.expect, variants)
    return {one.name: one for one in variants}, verdicts


def _failed_run(recording: Recording) -> Failure | None:
    """A run that failed as a whole, or of which a transfer did."""
    manifest = recording.manifest
    run = f"{manifest.variant}, repetition {manifest.repetition}"
    if manifest.status is Status.FAILED:
        why = "; ".join(manifest.warnings) or "no reason is known"
        return Failure(recording, None, f"the run {run} failed ({why}): at its end")
    if not recording.has_tables:
        return None
    rows = recording.rows("transfers", ("traffic", "index", "end_ns", "error"))
    for row in rows:
        if row["error"] and row["error"] != _INTERRUPTED:
            which = f"transfer {row['index']} of {row['traffic']} failed ({row['error']})"
            at_ns = row["end_ns"]
            where = "at its end" if at_ns is None else f"where it did, at {at_ns / 1e9:.9f} s"
            return Failure(recording, at_ns, f"{which} in {run}: {where}")
    return None


def _of_finding(variants: dict[str, VariantMetrics], number: int, verdict: Verdict) -> Failure:
    """The repetition that is furthest from the finding, of the variant that it is about."""
    finding = parse(verdict.text)
    failed = _failed_comparison(finding, verdict)
    of = _variant(variants, failed)
    run, is_worst = _furthest(failed, variants, of)
    why = f"finding {number} does not hold ({verdict.text}): "
    why += f"{of.name}, repetition {run.repetition}"
    if is_worst:
        why += ", which is the furthest from it"
    view = PlanView(run.recording)
    for name in _names(failed, of.name):
        found = moment(name.metric, run.recording, view)
        if found is not None:
            at_ns, words = found
            why += f", {words}, at {at_ns / 1e9:.9f} s, which {name.metric} is about"
            return Failure(run.recording, at_ns, why)
    return Failure(run.recording, None, f"{why}, at its end, as the finding names no moment")


def _failed_comparison(finding: Finding, verdict: Verdict) -> Comparison:
    """The first of a finding's comparisons that does not hold."""
    sides = zip(finding.comparisons, verdict.sides, strict=True)
    return next(comparison for comparison, one in sides if one.held is False)


def _variant(variants: dict[str, VariantMetrics], of: Comparison) -> VariantMetrics:
    """The variant that a comparison is about: the first one over MPTCP, or else the first."""
    named = [variants[name.variant] for name in _names(of) if variants[name.variant].runs]
    if not named:
        raise DebugError("the finding names no variant that was run: debug the scenario")
    return next((one for one in named if one.protocol == "mptcp"), named[0])


def _names(of: Comparison, variant: str | None = None) -> Iterator[Name]:
    for side in (of.left, of.right):
        for name in names_in(side):
            if variant is None or name.variant == variant:
                yield name


def _furthest(
    of: Comparison, variants: dict[str, VariantMetrics], own: VariantMetrics
) -> tuple[Run, bool]:
    """The run of a variant in whose repetition a comparison is furthest from holding.

    False where all are as far, so that the first one is as good as any.
    """
    by_repetition = [_distance(of, variants, run.repetition) for run in own.runs]
    most = max(by_repetition)
    return own.runs[by_repetition.index(most)], min(by_repetition) < most


def _distance(of: Comparison, variants: dict[str, VariantMetrics], repetition: int) -> float:
    """How far the sides are apart in a repetition where it fails there; 0 where it holds."""

    def value(variant: str, metric: str) -> float | None:
        one = variants.get(variant)
        figure = None if one is None else one.metrics.get(metric)
        if one is None or figure is None:
            return None
        return _sample(one.runs, figure.samples, repetition)

    left, right = value_of(of.left, value), value_of(of.right, value)
    if left is None or right is None:
        return inf
    return 0.0 if holds(of, value) else abs(left - right)


def _sample(runs: Sequence[Run], samples: Sequence[float | None], repetition: int) -> float | None:
    found = (s for run, s in zip(runs, samples, strict=True) if run.repetition == repetition)
    return next(found, None)
