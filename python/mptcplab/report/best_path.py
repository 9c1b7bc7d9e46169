"""A variant of MPTCP beside the best path alone, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mptcplab.metrics import Estimate, VariantMetrics
from mptcplab.metrics.comparison import carried_the_same, one_an_interface
from mptcplab.report.numbers import estimate_with_unit, number, shown


@dataclass(frozen=True)
class Measure:
    """A metric that is compared, and the words for it: `{name}` beside `{other}`."""

    metric: str
    alone: str
    """Without a comparison, with `{figure}`."""
    more: str
    less: str
    same: str
    apart: str
    """They are not to be told apart."""


_FASTER, _SLOWER = "{name} was faster than {other}", "{name} was slower than {other}"
_SAME = "{name} was as fast as {other}"
_APART = "{name} is not to be told apart from {other}, as their intervals overlap"

COMPLETION = Measure(
    "completion_s", "A transfer over {name} took {figure}.", _SLOWER, _FASTER, _SAME, _APART
)
GOODPUT = Measure("goodput", "{name} carried {figure}.", _FASTER, _SLOWER, _SAME, _APART)
LATENCY = Measure(
    "latency_s",
    "Answers with {name} took {figure}.",
    "Answers with {name} came later than with {other}",
    "Answers with {name} came sooner than with {other}",
    "Answers with {name} came as soon as with {other}",
    "Answers with {name} are not to be told apart from those with {other}, as the intervals "
    "overlap",
)


def compared(
    variant: VariantMetrics, plain: Sequence[VariantMetrics], client: str | None = None
) -> Iterator[str]:
    """A sentence for the time of transfers, or else the goodput, and one for the latency.

    ``plain`` are the variants of TCP that do the same; ``client`` is whose goodput is told, where
    it is not that of all.
    """
    first = COMPLETION if _is_timed(variant, plain) else _goodput_of(client)
    for measure in (first, LATENCY):
        figure = _figure(variant, measure)
        if figure is not None:
            yield _beside_best(variant.name, figure, plain, measure, client)


def beside_sum(variant: VariantMetrics, plain: Sequence[VariantMetrics]) -> str:
    """The goodput as a part of that of all paths, where it is compared and each has a variant."""
    figure = _figure(variant, GOODPUT)
    if figure is None or _is_timed(variant, plain) or "aggregation_benefit" not in variant.metrics:
        return ""
    alone = [(one.name, _figure(one, GOODPUT)) for one in one_an_interface(plain)]
    known = [(name, _mean(theirs)) for name, theirs in alone if theirs is not None]
    if len(known) < 2:
        return ""
    parts = ", ".join(f"{name} {shown('goodput', value)}" for name, value in known)
    percent = number(100 * _mean(figure) / sum(value for _, value in known))
    return f"That is {percent} % of the sum of the single paths ({parts})."


def _goodput_of(client: str | None) -> Measure:
    """The goodput of all clients, or of one, whose name begins the sentence."""
    if client is None:
        return GOODPUT
    words = {
        field: f"For {client}, {getattr(GOODPUT, field)}"
        for field in ("alone", "more", "less", "same", "apart")
    }
    return replace(GOODPUT, metric=f"goodput.{client}", **words)


def _beside_best(
    name: str,
    figure: Estimate,
    plain: Sequence[VariantMetrics],
    measure: Measure,
    client: str | None,
) -> str:
    ours = estimate_with_unit(measure.metric, figure)
    found = [(one, _figure(one, measure)) for one in plain]
    known = [(one, theirs) for one, theirs in found if theirs is not None and _mean(theirs) > 0]
    if not known:
        return measure.alone.format(name=name, figure=ours)
    choose = max if measure.metric.startswith(GOODPUT.metric) else min
    best, theirs = choose(known, key=lambda one: _mean(one[1]))
    other = best.name
    if len(known) > 1:
        kind = "path alone" if _is_one_path(best, client) else "of TCP"
        other = f"the best {kind} ({best.name})"
    judgement = _judgement(figure, theirs, measure).format(name=name, other=other)
    times = number(_mean(figure) / _mean(theirs))
    return f"{judgement}: {ours}, {times} times {estimate_with_unit(measure.metric, theirs)}."


def _is_one_path(variant: VariantMetrics, client: str | None) -> bool:
    """Whether all payload, or that of one client, went over one interface."""
    paths = {path.interface for path in variant.paths if client in (None, path.client)}
    return len(paths) == 1


def _judgement(ours: Estimate, theirs: Estimate, measure: Measure) -> str:
    """More, less or the same to three digits; or neither, where the intervals overlap."""
    (low, high), (least, most) = _interval(ours), _interval(theirs)
    if (low < high or least < most) and low <= most and least <= high:
        return measure.apart
    if number(_mean(ours) / _mean(theirs)) == "1.00":
        return measure.same
    return measure.more if _mean(ours) > _mean(theirs) else measure.less


def _is_timed(variant: VariantMetrics, plain: Sequence[VariantMetrics]) -> bool:
    """Whether the time that it took tells the result: all carried the same."""
    return _figure(variant, COMPLETION) is not None and carried_the_same([variant, *plain])


def _figure(variant: VariantMetrics, measure: Measure) -> Estimate | None:
    figure = variant.metrics.get(measure.metric)
    return None if figure is None or figure.mean is None else figure


def _mean(figure: Estimate) -> float:
    return 0.0 if figure.mean is None else figure.mean


def _interval(figure: Estimate) -> tuple[float, float]:
    return figure.ci95 or (_mean(figure), _mean(figure))
