"""Metrics of a whole result: variants side by side, with intervals over repetitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit
from mptcplab.metrics.measurement import Measurement, measure
from mptcplab.metrics.statistics import Estimate, estimate
from mptcplab.recording import Recording, Result, Status


@dataclass(frozen=True)
class Run:
    """One recording and what it says."""

    recording: Recording
    measurement: Measurement

    @property
    def repetition(self) -> int:
        """Which repetition it is, from 1."""
        return self.recording.manifest.repetition


@dataclass(frozen=True)
class PathEstimates:
    """A path of a variant over repetitions."""

    client: str
    interface: str
    goodput_mbps: Estimate
    share: Estimate


@dataclass(frozen=True)
class VariantMetrics:
    """A variant over repetitions."""

    name: str
    protocol: str
    runs: tuple[Run, ...]
    """The recordings that the figures rest on, by repetition."""
    metrics: Mapping[str, Estimate]
    """By full metric name; each has a sample for every run."""
    paths: tuple[PathEstimates, ...]
    warnings: tuple[str, ...]


def compare(result: Result) -> list[VariantMetrics]:
    """Measures every variant of a result, in the scenario's order.

    Figures rest on the complete recordings of a variant; where it has none, on those that were
    interrupted but hold tables, and a warning says so.

    Raises:
        RecordingError: a recording is damaged.

    """
    runs = {}
    warnings: dict[str, list[str]] = {}
    for variant in result.variants:
        found = result.recordings(variant.name)
        usable, notes = _usable(found, result.description.repetitions)
        runs[variant.name] = [Run(recording, measure(recording)) for recording in usable]
        warnings[variant.name] = notes + _run_warnings(runs[variant.name])
    singles = _single_paths(
        [runs[variant.name] for variant in result.variants if variant.protocol == "tcp"]
    )
    return [
        VariantMetrics(
            variant.name,
            variant.protocol,
            tuple(runs[variant.name]),
            _estimates(runs[variant.name])
            | (_benefits(runs[variant.name], singles) if variant.protocol == "mptcp" else {}),
            _paths(runs[variant.name]),
            tuple(warnings[variant.name]),
        )
        for variant in result.variants
    ]


def _usable(found: Sequence[Recording], planned: int) -> tuple[list[Recording], list[str]]:
    """The recordings that figures rest on, and what to say of the others."""
    usable = [r for r in found if r.manifest.status is Status.COMPLETE]
    notes = []
    if len(usable) < planned:
        notes.append(f"{len(usable)} of {planned} repetitions complete")
    if not usable:
        usable = [r for r in found if r.manifest.status is Status.INTERRUPTED and r.has_tables]
        if usable:
            notes.append("the figures rest on interrupted runs")
    notes += [_excuse(recording) for recording in found if recording not in usable]
    return usable, notes


def _excuse(recording: Recording) -> str:
    manifest = recording.manifest
    if manifest.status is Status.RUNNING:
        return f"repetition {manifest.repetition} is still running"
    why = "; ".join(manifest.warnings)
    return f"repetition {manifest.repetition} {manifest.status}" + (f": {why}" if why else "")


def _run_warnings(runs: Sequence[Run]) -> list[str]:
    """The warnings of the runs, each once, with the repetitions that it concerns."""
    repetitions: dict[str, list[int]] = {}
    for run in runs:
        sentences = [f"not multipath: {finding}" for finding in run.measurement.single_path]
        for sentence in [*sentences, *run.recording.manifest.warnings]:
            repetitions.setdefault(sentence, []).append(run.repetition)
    return [
        sentence
        if len(runs) == 1 or len(numbers) == len(runs)
        else f"{sentence} (repetition {', '.join(map(str, numbers))})"
        for sentence, numbers in repetitions.items()
    ]


def _estimates(runs: Sequence[Run]) -> dict[str, Estimate]:
    names = dict.fromkeys(name for run in runs for name in run.measurement.metrics)
    return {name: estimate([run.measurement.metrics.get(name) for run in runs]) for name in names}


def _paths(runs: Sequence[Run]) -> tuple[PathEstimates, ...]:
    keys = dict.fromkeys(
        (path.client, path.interface) for run in runs for path in run.measurement.paths
    )
    by_run = [
        {(path.client, path.interface): path for path in run.measurement.paths} for run in runs
    ]
    return tuple(
        PathEstimates(
            client,
            interface,
            estimate(
                [own[key].goodput_mbps if key in own else 0.0 if own else None for own in by_run]
            ),
            estimate([own[key].share if key in own else 0.0 if own else None for own in by_run]),
        )
        for key in keys
        for client, interface in [key]
    )


def _single_paths(variants: Sequence[Sequence[Run]]) -> list[dict[int, Mapping[str, float | None]]]:
    """For each interface that a TCP variant uses alone: its metrics, by repetition.

    The first variant in the scenario's order stands for an interface.
    """
    by_interface: dict[tuple[str, str], dict[int, Mapping[str, float | None]]] = {}
    for runs in variants:
        used = {(p.client, p.interface) for run in runs for p in run.measurement.paths}
        if len(used) == 1:
            metrics = {run.repetition: run.measurement.metrics for run in runs}
            by_interface.setdefault(used.pop(), metrics)
    return list(by_interface.values())


def _benefits(
    runs: Sequence[Run], singles: Sequence[Mapping[int, Mapping[str, float | None]]]
) -> dict[str, Estimate]:
    def of_singles(run: Run, metric: str) -> list[float | None]:
        return [single.get(run.repetition, {}).get(metric) for single in singles]

    aggregation = [
        aggregation_benefit(run.measurement.metrics.get("goodput"), of_singles(run, "goodput"))
        for run in runs
    ]
    delay = [
        delay_benefit(run.measurement.metrics.get("completion_s"), of_singles(run, "completion_s"))
        for run in runs
    ]
    benefits = {"aggregation_benefit": estimate(aggregation), "delay_benefit": estimate(delay)}
    return {name: benefit for name, benefit in benefits.items() if benefit.known}
