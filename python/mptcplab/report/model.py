"""The report as data: everything that the renderers show, computed once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab.explanation import Explanation
from mptcplab.explanation.kept import kept
from mptcplab.metrics import Estimate, VariantMetrics, Verdict, compare, judge, names_of
from mptcplab.recording import Result
from mptcplab.recording.result import Description
from mptcplab.report.answer import answer
from mptcplab.report.carried import carried_notes
from mptcplab.report.chosen import ASIDE
from mptcplab.report.flows import FlowTable, flow_tables
from mptcplab.report.programs import ProgramAccount, program_accounts
from mptcplab.report.settings import changed

IF_ASKED = frozenset(
    {
        "establishment_s",
        "goodput_variation",
        "header_overhead",
        "joins",
        "longest_silence_s",
        "rtt_s",
    }
)
"""Metrics that have a column only where a finding or a figure of the document is about them."""


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
    """Content of a report."""

    folder: Path
    """Where the result is."""
    description: Description
    changes: tuple[str, ...]
    """The settings that are not the scenario's own, in words."""
    answer: tuple[str, ...]
    """The result in plain words."""
    variants: tuple[VariantMetrics, ...]
    columns: tuple[str, ...]
    """The metrics of the table of variants: full names, the most telling first."""
    clients: tuple[str, ...]
    """The clients that carried payload."""
    flows: tuple[FlowTable, ...]
    """The tables of the metrics that several flows have."""
    streams: tuple[str, ...]
    """The numbers of the streams, where bulk transfers have several at once."""
    carried_notes: tuple[str, ...]
    """Why paths carried more than their applications got; empty where they hardly did."""
    programs: tuple[ProgramAccount, ...]
    """The commands, of the repetition that represents each variant."""
    verdicts: tuple[Verdict, ...]
    references: tuple[ReferenceRow, ...]
    warnings: tuple[Warned, ...]
    why: Explanation | None
    """Why MPTCP was as slow as it was, where the result's folder keeps an explanation."""
    making: tuple[tuple[str, str], ...]
    """How it was made: what, and its value."""


def report(result: Result) -> Report:
    """Computes the report of a result.

    Raises:
        RecordingError: a recording is damaged.

    """
    description = result.description
    variants = tuple(compare(result))
    verdicts = tuple(judge(description.scenario.expect, variants, description.scenario.notes))
    return Report(
        folder=result.folder,
        description=description,
        changes=changed(description),
        answer=answer(variants, verdicts),
        variants=variants,
        columns=columns(variants, _asked(description)),
        clients=tuple(dict.fromkeys(path.client for v in variants for path in v.paths)),
        flows=flow_tables(variants),
        streams=_streams(variants),
        carried_notes=carried_notes(variants),
        programs=tuple(account for v in variants for account in program_accounts(v)),
        verdicts=verdicts,
        references=_references(description, variants),
        warnings=tuple(_warnings(variants)),
        why=kept(result.folder),
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


def columns(variants: Sequence[VariantMetrics], asked: Collection[str] = ()) -> tuple[str, ...]:
    """The metrics that are worth a column: those that are known and not the same by nature.

    Of some metrics only those that are ``asked`` for.
    """
    known = {
        name: figure
        for variant in variants
        for name, figure in variant.metrics.items()
        if figure.mean is not None or name.startswith(("recovery_s", "completion_s"))
    }
    both_ways = any(_goes_both_ways(variant) for variant in variants)
    several = any(_differ(variant, "completion_s", "completion_s.p90") for variant in variants)
    failed = any(_below_one(variant, "completed") for variant in variants)
    lost = any(_above_zero(variant, "latency_loss") for variant in variants)
    wanted = [
        "goodput",
        *(["goodput.up", "goodput.down"] if both_ways else []),
        "aggregation_benefit",
        "completion_s",
        *(["completion_s.p90"] if several else []),
        "delay_benefit",
        *(["completed"] if failed else []),
        "recovery_s",
        *(name for name in known if name.startswith("recovery_s.")),
        "handover_gap_s",
        "share_of_ideal",
        "jain",
        "jain.streams",
        "latency_s.p50",
        "latency_s.p99",
        *(["latency_loss"] if lost else []),
        "frames_in_time",
        "frames_late",
        "frames_lost",
        "frame_delay_s.p50",
        "frame_delay_s.p99",
        *(name for name in known if name in asked and name.partition(".")[0] in IF_ASKED),
    ]
    return tuple(name for name in wanted if name in known)


def _asked(description: Description) -> set[str]:
    """The metrics that the scenario's findings and the document's figures are about."""
    names = {name.metric for text in description.scenario.expect for name in names_of(text)}
    return names | {entry.metric for entry in description.scenario.reference}


def _streams(variants: Sequence[VariantMetrics]) -> tuple[str, ...]:
    known = dict.fromkeys(name for variant in variants for name in variant.metrics)
    parts = [name.removeprefix("stream_share.") for name in known if "stream_share." in name]
    return tuple(sorted((part for part in parts if part.isdigit()), key=int))


def _goes_both_ways(variant: VariantMetrics) -> bool:
    """Whether it carried payload both ways; what a command asks with is hardly any."""
    ways = [variant.metrics.get(way) for way in ("goodput.up", "goodput.down")]
    known = [way.mean for way in ways if way is not None and way.mean is not None]
    least = ASIDE if any(run.measurement.program_bytes for run in variant.runs) else 0.0
    return len(known) == 2 and min(known) >= least * sum(known)


def _differ(variant: VariantMetrics, one: str, other: str) -> bool:
    figures = variant.metrics.get(one), variant.metrics.get(other)
    return None not in figures and len({figure.samples for figure in figures if figure}) > 1


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
