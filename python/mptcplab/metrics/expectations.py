"""Whether a scenario's findings hold in a result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.metrics.definitions import RECOVERY, definition_of
from mptcplab.metrics.statistics import Estimate
from mptcplab.scenario.expectation import (
    Comparison,
    ExpectationError,
    Finding,
    Lookup,
    evaluate,
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


def judge(expect: Iterable[str], variants: Sequence[VariantMetrics]) -> list[Verdict]:
    """Checks each finding against the means over repetitions."""
    by_name = {variant.name: variant for variant in variants}
    return [_verdict(text, by_name) for text in expect]


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
    held = evaluate(finding, values)
    reason = _reason(finding, variants) if held is None else None
    return Verdict(text, held, sides, reason)


def _sides(comparison: Comparison, values: Lookup) -> Sides:
    left, right = value_of(comparison.left, values), value_of(comparison.right, values)
    return Sides(left, comparison.sign, right, holds(comparison, values))


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
