"""Whether a scenario's findings hold in a result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.metrics.definitions import RECOVERY, definition_of
from mptcplab.metrics.noise import Samples, difference, doubt
from mptcplab.metrics.statistics import Estimate
from mptcplab.scenario.expectation import (
    Comparison,
    ExpectationError,
    Finding,
    Lookup,
    Name,
    holds,
    parse,
    value_of,
)


@dataclass(frozen=True)
class Sides:
    """The values that were compared."""

    left: float | None
    sign: str
    right: float | None
    held: bool | None
    """Null: a side is not known."""


@dataclass(frozen=True)
class Verdict:
    """Result of one finding."""

    text: str
    held: bool | None
    """Null: undecided, because a value is not known."""
    sides: tuple[Sides, ...]
    """One for each comparison in the finding, in the units of the metrics."""
    reason: str | None
    """Why it is undecided."""
    note: str = ""
    """The scenario's words on a finding that does not hold; empty where it does."""


def judge(
    expect: Iterable[str],
    variants: Sequence[VariantMetrics],
    notes: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """Checks each finding against the means over repetitions.

    A `<` or `>` whose difference may be chance is undecided.
    """
    by_name = {variant.name: variant for variant in variants}
    found = [_verdict(text, by_name) for text in expect]
    return [
        one if one.held else replace(one, note=(notes or {}).get(one.text, "")) for one in found
    ]


def names_of(text: str) -> list[Name]:
    """The metrics that a finding is about; none of one that cannot be read."""
    try:
        return list(parse(text).names())
    except ExpectationError:
        return []


def lookup(variants: Mapping[str, VariantMetrics]) -> Lookup:
    """Means by variant and full metric name; null for what is not known."""

    def value(variant: str, metric: str) -> float | None:
        found = variants[variant].metrics.get(metric) if variant in variants else None
        return None if found is None else found.mean

    return value


def _verdict(text: str, variants: Mapping[str, VariantMetrics]) -> Verdict:
    try:
        finding = parse(text)
    except ExpectationError as error:
        return Verdict(text, None, (), f"cannot be read: {error}")
    values = lookup(variants)
    sides = tuple(_sides(comparison, values) for comparison in finding.comparisons)
    results = [one.held for one in sides]
    if False in results:
        return Verdict(text, False, sides, None)
    if None in results:
        return Verdict(text, None, sides, _reason(finding, variants))
    reason = _doubt(finding, sides, variants)
    return Verdict(text, True if reason is None else None, sides, reason)


def _sides(comparison: Comparison, values: Lookup) -> Sides:
    left, right = value_of(comparison.left, values), value_of(comparison.right, values)
    return Sides(left, comparison.sign, right, holds(comparison, values))


def _doubt(
    finding: Finding, sides: Sequence[Sides], variants: Mapping[str, VariantMetrics]
) -> str | None:
    """Why a finding that the means confirm may be chance; null where it is not."""

    def samples(variant: str, metric: str) -> Samples:
        found = variants[variant]
        repetitions = (run.repetition for run in found.runs)
        return dict(zip(repetitions, found.metrics[metric].samples, strict=True))

    own = [variants[name.variant] for name in finding.names()]
    same, simulated = all(one.are_one_run for one in own), all(one.are_simulated for one in own)
    for comparison, one in zip(finding.comparisons, sides, strict=True):
        assert one.left is not None
        assert one.right is not None
        apart = difference(comparison, samples, are_one_run=same, are_simulated=simulated)
        if reason := doubt(comparison, one.left, one.right, apart):
            return f"{one.left:.4g} {one.sign} {one.right:.4g}, but {reason}"
    return None


def _reason(finding: Finding, variants: Mapping[str, VariantMetrics]) -> str:
    values = lookup(variants)
    for name in finding.names():
        full = f"{name.variant}.{name.metric}"
        if name.variant not in variants:
            return f"{name.variant} is not in this result"
        if definition_of(name.metric) is None:
            return f"{full}: there is no such metric"
        if not variants[name.variant].runs:
            return f"{name.variant} was not run"
        if values(name.variant, name.metric) is None:
            if name.metric in variants[name.variant].metrics and name.metric.startswith(RECOVERY):
                return f"{full}: {_not_recovered(variants[name.variant].metrics[name.metric])}"
            if name.metric.startswith(f"{RECOVERY}."):
                return (
                    f"{full} has no value: only a client's interface, or a link at one, that was "
                    "in use, failed and came back has one"
                )
            return f"{full} has no value"
    return "a division by zero"


def _not_recovered(recovery: Estimate) -> str:
    if not recovery.known:
        return "not recovered before the end of the run"
    return f"recovered in only {recovery.known} of {len(recovery.samples)} repetitions"
