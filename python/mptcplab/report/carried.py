"""Why the paths of a variant carried more than its application got, in words."""

from collections.abc import Sequence

from mptcplab.metrics import VariantMetrics
from mptcplab.report.numbers import shown_with_unit

LEAST = 0.05
"""From what part of the payload of the paths on they are told of."""
_CAUSES = {
    "duplicate_bytes": "Received more than once, as it was sent over several paths",
    "undelivered_bytes": (
        "Received, but not delivered in order when the run ended, as data before it was missing"
    ),
    "": "Received, but not in the goodput, duplicates and what was not delivered together",
}
_DIVISION = "The goodput by path is what the application got, divided as what the paths carried."


def carried_notes(variants: Sequence[VariantMetrics]) -> tuple[str, ...]:
    """A sentence for each cause with the variants that it concerns, and what it means."""
    told: dict[str, list[str]] = {cause: [] for cause in _CAUSES}
    for variant in variants:
        for cause, part in _parts(variant).items():
            if part >= LEAST:
                told[cause].append(f"{variant.name} {shown_with_unit('share', part)}")
    sentences = [f"{_CAUSES[cause]}: {', '.join(names)}." for cause, names in told.items() if names]
    return (*sentences, _DIVISION) if sentences else ()


def _parts(variant: VariantMetrics) -> dict[str, float]:
    """By cause: part of the payload that the variant's paths carried, all repetitions together.

    Without the counters that tell the causes apart, all of it has the cause "".
    """
    if variant.protocol != "mptcp":
        return {}
    carried = sum(path.payload_bytes for run in variant.runs for path in run.measurement.paths)
    if not carried:
        return {}
    sums = {
        cause: [run.measurement.metrics.get(cause) for run in variant.runs]
        for cause in _CAUSES
        if cause
    }
    if all(None not in samples for samples in sums.values()):
        return {
            cause: sum(sample or 0.0 for sample in samples) / carried
            for cause, samples in sums.items()
        }
    goodput = sum(path.goodput_mbps.mean or 0.0 for path in variant.paths)
    rate = sum(path.carried_mbps.mean or 0.0 for path in variant.paths)
    return {"": 1 - goodput / rate} if goodput and rate else {}
