"""Metrics of a whole result: variants side by side, with intervals over repetitions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from mptcplab.metrics.at_once import AtOnce, at_once
from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit
from mptcplab.metrics.definitions import RECOVERY
from mptcplab.metrics.measured import excuses, is_alone, is_at_once, measured_benefits
from mptcplab.metrics.measurement import Measurement, measure
from mptcplab.metrics.paths import PathFigures
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.statistics import Estimate, estimate
from mptcplab.recording import Recording, Result, Status

SAME_PAYLOAD = 0.05
"""Part of the payload by which that of commands may differ where their times are compared."""
Formula = Callable[[float | None, Sequence[float | None], float | None], float | None]
"""A benefit, of a figure, those of the paths alone, and that of all paths at once."""
_INTERRUPTED = "interrupted"
"""The error of a transfer that was going on when its run was interrupted."""


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
    carried_mbps: Estimate


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
    plain: tuple[str, ...]
    """Of an MPTCP variant: the TCP variants that do the same over the same links."""
    warnings: tuple[str, ...]
    are_one_run: bool = False
    """The runs are the same one: nothing in the scenario is left to chance."""

    @property
    def are_simulated(self) -> bool:
        """Whether all runs are of the simulator, which a seed decides."""
        return all(run.recording.manifest.engine == "sim" for run in self.runs)

    @property
    def sample_size(self) -> int:
        """How many different runs the figures rest on."""
        return 1 if self.are_one_run else len(self.runs)

    @property
    def single_path(self) -> str | None:
        """The interface by which everything went; null if there were several, or none."""
        interfaces = {path.interface for path in self.paths}
        return interfaces.pop() if len(interfaces) == 1 else None


def compare(result: Result) -> list[VariantMetrics]:
    """Measures every variant of a result, in the scenario's order.

    Figures rest on the complete recordings of a variant; where it has none, on those that were
    interrupted but hold tables, and a warning says so.

    Raises:
        RecordingError: a recording is damaged.

    """
    variants: list[VariantMetrics] = []
    for entry in result.variants:
        found = result.recordings(entry.name)
        usable, notes = _usable(found, _planned(result, found))
        notes += [
            f"repetition {repetition} has no manifest: it has not ended, was killed, or could not "
            "be written"
            for repetition in result.without_manifest(entry.name)
        ]
        runs = tuple(Run(recording, measure(recording)) for recording in usable)
        same = _are_one_run(runs)
        warnings = (
            *notes,
            *([_sameness(runs)] if same else []),
            *_failures(runs),
            *_unsteady(runs),
            *_run_warnings(runs),
        )
        figures, paths = _estimates(runs, same), _paths(runs, same)
        variants.append(
            VariantMetrics(entry.name, entry.protocol, runs, figures, paths, (), warnings, same)
        )
    return [_beside_tcp(variant, variants) for variant in variants]


def _planned(result: Result, found: Sequence[Recording]) -> int:
    """The repetitions of a variant; experiments between real hosts differ in what they have."""
    if any(recording.manifest.measured is not None for recording in found):
        return len(found)
    return result.description.repetitions


def one_an_interface(variants: Sequence[VariantMetrics]) -> list[VariantMetrics]:
    """Of the variants that use one interface alone, the first for each interface."""
    first: dict[str, VariantMetrics] = {}
    for variant in variants:
        if variant.single_path is not None:
            first.setdefault(variant.single_path, variant)
    return list(first.values())


def _beside_tcp(variant: VariantMetrics, variants: Sequence[VariantMetrics]) -> VariantMetrics:
    """An MPTCP variant with the TCP variants to compare it with, and what it gains over them."""
    if variant.protocol != "mptcp" or not variant.runs:
        return variant
    plain = [
        other
        for other in variants
        if other.protocol == "tcp" and other.runs and _do_the_same(other, variant)
    ]
    beside = next((other for other in variants if _is_at_once(other, variant)), None)
    metrics = dict(variant.metrics) | _benefits(variant, plain, beside)
    if not carried_the_same([variant, *plain]):
        metrics.pop("delay_benefit", None)
    return replace(variant, metrics=metrics, plain=tuple(other.name for other in plain))


def _do_the_same(one: VariantMetrics, other: VariantMetrics) -> bool:
    """Whether they have the same task."""
    own, theirs = _same_repetition(one, other)
    if own.measured is not None and theirs.measured is not None:
        return is_alone(own.measured, theirs.measured)
    return own.task == theirs.task


def _is_at_once(one: VariantMetrics, other: VariantMetrics) -> bool:
    """Whether it has the other's task over several interfaces at once, each all of it, by TCP."""
    if one.protocol != "tcp" or not one.runs:
        return False
    own, theirs = _same_repetition(one, other)
    if own.measured is not None and theirs.measured is not None:
        return is_at_once(own.measured, theirs.measured)
    tasks = own.task_by_interface.values()
    return len(tasks) > 1 and all(task == theirs.task for task in tasks)


def _same_repetition(one: VariantMetrics, other: VariantMetrics) -> tuple[PlanView, PlanView]:
    """Both plans in a repetition of both: starts of the traffic may be drawn."""
    runs = {run.repetition: run for run in other.runs}
    both = next((run for run in one.runs if run.repetition in runs), one.runs[0])
    beside = runs.get(both.repetition, other.runs[0])
    return PlanView(both.recording), PlanView(beside.recording)


def carried_the_same(variants: Sequence[VariantMetrics]) -> bool:
    """Whether their commands carried as much, so that the times that they took compare.

    A command may have a duration instead of a size, as iperf3 has: its time tells nothing then.
    """
    measured = [[run.measurement for run in variant.runs] for variant in variants]
    timed = [
        [one for one in runs if one.metrics.get("completion_s") is not None] for runs in measured
    ]
    carried = [fmean(one.program_bytes for one in runs) for runs in timed if runs]
    return not carried or max(carried) - min(carried) <= SAME_PAYLOAD * max(carried)


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
    left = [recording for recording in found if recording not in usable]
    alike = excuses([recording for recording in left if recording.manifest.measured is not None])
    notes += [*alike, *(_excuse(one) for one in left if one.manifest.measured is None)]
    return usable, notes


def _excuse(recording: Recording) -> str:
    manifest = recording.manifest
    if manifest.status is Status.RUNNING:
        return f"repetition {manifest.repetition} is still running"
    why = "; ".join(manifest.warnings)
    return f"repetition {manifest.repetition} {manifest.status}" + (f": {why}" if why else "")


def _are_one_run(runs: Sequence[Run]) -> bool:
    """Whether several runs are the same: in virtual time only chance makes them differ."""
    if len(runs) < 2 or any(run.recording.manifest.engine != "sim" for run in runs):
        return False
    return all(run.measurement.metrics == runs[0].measurement.metrics for run in runs)


def _sameness(runs: Sequence[Run]) -> str:
    """Why several runs are the same, and what would make them differ."""
    first = runs[0].recording
    view = PlanView(first)
    if view.may_have_chance:
        return (
            f"all {len(runs)} repetitions have the same figures, and count as one run: nothing "
            "depends on what is left to chance"
        )
    if first.manifest.settings.get("vary_start_ns"):
        return (
            f"all {len(runs)} repetitions have the same figures: only when traffic starts is left "
            "to chance, and nothing depends on it"
        )
    sentence = (
        f"all {len(runs)} repetitions are one run: nothing in the scenario is left to chance, so "
        "there is nothing to repeat"
    )
    if view.depends_on_starts:
        return f"{sentence}; --vary start=50ms draws when traffic starts"
    return sentence


def _failures(runs: Sequence[Run]) -> list[str]:
    """That transfers failed, with the first reason; those that were interrupted did not."""
    failed: list[tuple[int, str]] = []
    count = 0
    for run in runs:
        errors = [row["error"] for row in run.recording.rows("transfers", ("error",))]
        count += len(errors)
        failed += [(run.repetition, why) for why in errors if why and why != _INTERRUPTED]
    if not failed:
        return []
    repetition, why = failed[0]
    which = f"the first, in repetition {repetition}" if len(runs) > 1 else "the first"
    return [f"{len(failed)} of {count} transfers failed; {which}: {why}"]


def _unsteady(runs: Sequence[Run]) -> list[str]:
    """That the goodput had not come to a steady state, as seen in the worst repetition."""
    known = [steady for run in runs if (steady := run.measurement.steadiness) is not None]
    unsteady = [steady for steady in known if not steady.is_steady]
    if not unsteady:
        return []
    worst = max(unsteady, key=lambda steady: max(abs(steady.trend), abs(steady.lead)))
    which = "" if len(runs) == 1 else f" in {len(unsteady)} of {len(runs)} repetitions"
    return [f"not in a steady state{which}, run it longer: {worst.reason}"]


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


def _estimates(runs: Sequence[Run], are_one_run: bool) -> dict[str, Estimate]:
    names = dict.fromkeys(name for run in runs for name in run.measurement.metrics)
    figures = [run.measurement.metrics for run in runs]
    return {name: _estimate(name, figures, are_one_run) for name in names}


def _estimate(
    name: str, figures: Sequence[Mapping[str, float | None]], are_one_run: bool
) -> Estimate:
    """A metric over repetitions.

    A recovery time has no mean where a repetition never recovered: that of the others would be
    the lower, the more often recovery failed.
    """
    samples = [own.get(name) for own in figures]
    is_recovery = name.partition(".")[0] == RECOVERY
    if is_recovery and any(name in own and own[name] is None for own in figures):
        return Estimate(tuple(samples), None, None)
    return estimate(samples, are_one_run=are_one_run)


def _paths(runs: Sequence[Run], are_one_run: bool) -> tuple[PathEstimates, ...]:
    keys = dict.fromkeys(
        (path.client, path.interface) for run in runs for path in run.measurement.paths
    )
    by_run = [
        {(path.client, path.interface): path for path in run.measurement.paths} for run in runs
    ]

    def over_runs(key: tuple[str, str], figure: Callable[[PathFigures], float | None]) -> Estimate:
        return estimate(
            [figure(own[key]) if key in own else 0.0 if own else None for own in by_run],
            are_one_run=are_one_run,
        )

    return tuple(
        PathEstimates(
            *key,
            goodput_mbps=over_runs(key, lambda path: path.goodput_mbps),
            share=over_runs(key, lambda path: path.share),
            carried_mbps=over_runs(key, lambda path: path.carried_mbps),
        )
        for key in keys
    )


def _benefits(
    variant: VariantMetrics, plain: Sequence[VariantMetrics], beside: VariantMetrics | None
) -> dict[str, Estimate]:
    """Both benefits; `plain` are the variants of TCP to compare it with.

    `beside` is that of TCP over all paths at once, where there is one.
    """
    runs = variant.runs
    if all(run.recording.manifest.measured is not None for run in runs):
        return _measured_benefits(runs, plain, beside)
    singles = one_an_interface(plain)
    same = variant.are_one_run and all(single.are_one_run for single in singles)
    by_repetition = [{run.repetition: run for run in single.runs} for single in singles]

    def of_singles(run: Run, metric: str) -> list[float | None]:
        same = [single.get(run.repetition) for single in by_repetition]
        return [None if one is None else one.measurement.metrics.get(metric) for one in same]

    together = {} if beside is None else {run.repetition: _at_once(run) for run in beside.runs}

    def benefit(run: Run, metric: str, formula: Formula, most: float | None) -> float | None:
        if beside is not None and most is None:
            return None
        return formula(run.measurement.metrics.get(metric), of_singles(run, metric), most)

    reached = [together.get(run.repetition, AtOnce(None, None)) for run in runs]
    aggregation = [
        benefit(run, "goodput", aggregation_benefit, most.goodput_mbps)
        for run, most in zip(runs, reached, strict=True)
    ]
    delay = [
        benefit(run, "completion_s", delay_benefit, most.time_s)
        for run, most in zip(runs, reached, strict=True)
    ]
    return _known_benefits(aggregation, delay, are_one_run=same)


def _measured_benefits(
    runs: Sequence[Run], singles: Sequence[VariantMetrics], beside: VariantMetrics | None
) -> dict[str, Estimate]:
    """Those of measurements between real hosts."""
    alone: dict[int, dict[str, Recording]] = {}
    for run in (run for single in singles for run in single.runs):
        measured = run.recording.manifest.measured
        if measured is not None and measured.path is not None:
            alone.setdefault(run.repetition, {})[measured.path] = run.recording
    together = {run.repetition: run.recording for run in (beside.runs if beside else ())}
    found = [
        measured_benefits(
            run.recording, alone.get(run.repetition, {}), together.get(run.repetition)
        )
        for run in runs
    ]
    return _known_benefits([one for one, _ in found], [one for _, one in found])


def _known_benefits(
    aggregation: Sequence[float | None], delay: Sequence[float | None], *, are_one_run: bool = False
) -> dict[str, Estimate]:
    benefits = {
        "aggregation_benefit": estimate(aggregation, are_one_run=are_one_run),
        "delay_benefit": estimate(delay, are_one_run=are_one_run),
    }
    return {name: benefit for name, benefit in benefits.items() if benefit.known}


def _at_once(run: Run) -> AtOnce:
    return at_once(run.recording, PlanView(run.recording))
