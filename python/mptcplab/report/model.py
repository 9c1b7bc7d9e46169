"""The report as data: everything that the renderers show, computed once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mptcplab.metrics import Estimate, VariantMetrics, Verdict, compare, judge
from mptcplab.recording import Result
from mptcplab.recording.result import Description
from mptcplab.report.answer import answer

COPIES = 0.05
"""From what part of the goodput on copies on several paths are told of."""

COPIES_NOTE = (
    "Paths carried data more than once: the goodput is what the application got, divided among the "
    "paths as what they carried, copies included."
)


@dataclass(frozen=True)
class ReferenceRow:
    """A figure of the document beside ours."""

    variant: str
    metric: str
    unit: str
    theirs: float
    ours: Estimate | None
    """Null where the metric has no value."""
    note: str


@dataclass(frozen=True)
class Warned:
    """A warning and the variants that it is about."""

    variant: str
    """Names, divided by commas; or `all variants`."""
    sentence: str


@dataclass(frozen=True)
class Report:
    """What a result says."""

    description: Description
    answer: tuple[str, ...]
    """The result in plain words."""
    variants: tuple[VariantMetrics, ...]
    columns: tuple[str, ...]
    """The metrics of the table of variants: full names, the most telling first."""
    clients: tuple[str, ...]
    """The clients that carried payload."""
    has_copies: bool
    """Whether the paths of a variant carried clearly more than its application got."""
    verdicts: tuple[Verdict, ...]
    references: tuple[ReferenceRow, ...]
    warnings: tuple[Warned, ...]
    making: tuple[tuple[str, str], ...]
    """How it was made: what, and its value."""


def report(result: Result) -> Report:
    """Computes the report of a result.

    Raises:
        RecordingError: a recording is damaged.

    """
    description = result.description
    variants = tuple(compare(result))
    verdicts = tuple(judge(description.scenario.expect, variants))
    return Report(
        description=description,
        answer=answer(variants, verdicts),
        variants=variants,
        columns=columns(variants),
        clients=tuple(dict.fromkeys(path.client for v in variants for path in v.paths)),
        has_copies=any(map(_has_copies, variants)),
        verdicts=verdicts,
        references=_references(description, variants),
        warnings=tuple(_warnings(variants)),
        making=_making(description, variants),
    )


def _warnings(variants: Sequence[VariantMetrics]) -> Iterable[Warned]:
    """Each sentence once, with the variants that it is said of."""
    said: dict[str, list[str]] = {}
    for variant in variants:
        for sentence in variant.warnings:
            said.setdefault(sentence, []).append(variant.name)
    for sentence, names in said.items():
        every = len(names) == len(variants) > 1
        yield Warned("all variants" if every else ", ".join(names), sentence)


def columns(variants: Sequence[VariantMetrics]) -> tuple[str, ...]:
    """The metrics that are worth a column: those that are known and not the same by nature."""
    known = {
        name: figure
        for variant in variants
        for name, figure in variant.metrics.items()
        if figure.mean is not None or name.startswith(("recovery_s", "completion_s"))
    }
    both_ways = {"goodput.up", "goodput.down"} <= known.keys()
    failed = any(_below_one(variant, "completed") for variant in variants)
    lost = any(_above_zero(variant, "latency_loss") for variant in variants)
    wanted = [
        "goodput",
        *(["goodput.up", "goodput.down"] if both_ways else []),
        "aggregation_benefit",
        "completion_s",
        "completion_s.p90",
        "delay_benefit",
        *(["completed"] if failed else []),
        "recovery_s",
        *(name for name in known if name.startswith("recovery_s.")),
        "handover_gap_s",
        "jain",
        "latency_s.p50",
        "latency_s.p99",
        *(["latency_loss"] if lost else []),
    ]
    return tuple(name for name in wanted if name in known)


def _has_copies(variant: VariantMetrics) -> bool:
    rates = [(path.goodput_mbps.mean, path.carried_mbps.mean) for path in variant.paths]
    known = [(goodput, carried) for goodput, carried in rates if goodput and carried]
    goodput, carried = (sum(column) for column in zip(*known, strict=True)) if known else (0, 0)
    return carried > (1 + COPIES) * goodput


def _below_one(variant: VariantMetrics, metric: str) -> bool:
    figure = variant.metrics.get(metric)
    return figure is not None and figure.mean is not None and figure.mean < 1


def _above_zero(variant: VariantMetrics, metric: str) -> bool:
    figure = variant.metrics.get(metric)
    return figure is not None and figure.mean is not None and figure.mean > 0


def _references(
    description: Description, variants: Sequence[VariantMetrics]
) -> tuple[ReferenceRow, ...]:
    by_name = {variant.name: variant for variant in variants}
    return tuple(
        ReferenceRow(
            entry.variant,
            entry.metric,
            entry.unit,
            entry.value,
            by_name[entry.variant].metrics.get(entry.metric),
            entry.note,
        )
        for entry in description.scenario.reference
        if entry.variant in by_name
    )


def _making(
    description: Description, variants: Sequence[VariantMetrics]
) -> tuple[tuple[str, str], ...]:
    rows = [
        ("command", " ".join(description.command)),
        ("made", description.created),
        ("engine", description.engine),
        ("repetitions", str(description.repetitions)),
        ("seed", str(description.seed)),
    ]
    manifest = next((run.recording.manifest for v in variants for run in v.runs), None)
    if manifest is not None:
        rows += [
            ("mptcplab", manifest.mptcplab),
            ("kernel", manifest.kernel or ""),
            ("host", _words(manifest.host)),
        ]
    settings = {v.name: _words(v.runs[0].recording.manifest.settings) for v in variants if v.runs}
    if len(set(settings.values())) == 1:
        rows.append(("settings", next(iter(settings.values()))))
    else:
        rows += [(f"settings of {name}", words) for name, words in settings.items()]
    return tuple((name, value) for name, value in rows if value)


def _words(values: Mapping[str, object]) -> str:
    return "; ".join(
        f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in values.items()
    )
