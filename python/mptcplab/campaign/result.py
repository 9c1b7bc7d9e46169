"""The results of a sweep: its points, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.campaign.column import rows_of
from mptcplab.campaign.description import Campaign, opened
from mptcplab.campaign.execute import RECORDINGS
from mptcplab.campaign.figures import are_one_run, estimates, known_metrics
from mptcplab.campaign.record import COMPLETE
from mptcplab.campaign.store import Store
from mptcplab.campaign.worker import recordings_of_point
from mptcplab.metrics import Estimate
from mptcplab.metrics.definitions import RECOVERY
from mptcplab.metrics.statistics import estimate
from mptcplab.recording import RecordingError, Result
from mptcplab.recording.result import Change
from mptcplab.scenario.sweep import Axis, overrides_of, point

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PointVariant:
    """A variant at a point, over repetitions."""

    name: str
    metrics: Mapping[str, Estimate]
    """By full metric name; each has a sample for every run that is complete."""
    sample_size: int
    """How many different runs the figures rest on."""


class Point:
    """One choice of values, and its figures."""

    def __init__(self, sweep: Sweep, number: int) -> None:
        self._sweep = sweep
        self.number = number
        """From 1."""

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """Key → value, for each key of the axes."""
        return point(self._sweep.every_axis, self.number)

    @cached_property
    def variants(self) -> list[PointVariant]:
        """The figures by variant."""
        return self._sweep.variants_at(self.number)

    @property
    def result(self) -> Result:
        """The recordings of the point.

        Raises:
            RecordingError: the sweep has kept no samples.

        """
        return self._sweep.result_at(self.number, self.values)

    def __repr__(self) -> str:
        words = ", ".join(f"{key}: {value}" for key, value in self.values.items())
        return f"<Point {self.number}: {words}>"


class Sweep(Sequence[Point]):
    """The results of a sweep, by point; the last axis changes fastest."""

    def __init__(self, folder: Path, campaign: Campaign) -> None:
        self.folder = folder
        self.campaign = campaign
        self.every_axis: tuple[Axis, ...] = campaign.axes()
        self.grid = campaign.grid()
        self.store = Store(folder, self.grid)

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Sweep:
        """Opens the sweep in a folder, whether all of it has run or not.

        Raises:
            RecordingError: the folder is not a sweep, or is damaged.

        """
        return cls(Path(folder), opened(Path(folder)))

    @cached_property
    def axes(self) -> Mapping[str, tuple[Any, ...]]:
        """Key → its values, in order; those of one axis go together."""
        return {
            key: values
            for axis in self.every_axis
            for key, values in zip(axis.keys, zip(*axis.rows, strict=True), strict=True)
        }

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(place)
        return Point(self, number + 1)

    def __iter__(self) -> Iterator[Point]:
        return (Point(self, number) for number in range(1, len(self) + 1))

    def __len__(self) -> int:
        return self.grid.points

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants."""
        return self.grid.variants

    @cached_property
    def _metrics(self) -> tuple[str, ...]:
        return tuple(known_metrics(self.store))

    @cached_property
    def are_one_run(self) -> bool:
        """The repetitions are the same ones at every point: nothing depends on chance."""
        return are_one_run(self.campaign, self.store)

    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that some run has."""
        return self._metrics

    def estimates(self, *metrics: str) -> pl.DataFrame:
        """One row a point, variant and metric: `n`, `known`, `mean`, `low`, `high`, `same`.

        Raises:
            KeyError: no run has this metric.

        """
        self.check(metrics)
        return estimates(self.campaign, self.store, metrics)

    def frame(self, *metrics: str) -> pl.DataFrame:
        """One row a point and variant: the values, and each metric with its interval.

        The columns of a metric are its name, and that with `_low` and `_high`: the 95 % confidence
        interval, null without repetitions that differ. `goodput` where none is named.

        Raises:
            KeyError: no run has this metric.

        """
        names = metrics or ("goodput",)
        made = self.estimates(*names)
        key = ["point", "variant"]
        wide = made.select(*key, "n").unique(maintain_order=True)
        for name in names:
            ends = {"mean": name, "low": f"{name}_low", "high": f"{name}_high"}
            own = made.filter(metric=name).select(*key, *ends).rename(ends)
            wide = wide.join(own, on=key, how="left", maintain_order="left")
        return self._points.join(wide, on="point", maintain_order="left_right").drop("point")

    def cells(self, number: int) -> dict[str, Any]:
        """The values of a point as cells of a table, in whose columns all are of one kind."""
        return self._points.drop("point").row(number - 1, named=True)

    @cached_property
    def _points(self) -> pl.DataFrame:
        """One row a point: its number and its cells. Drawing the values anew each time is slow."""
        import polars as pl

        made = pl.DataFrame({"point": [0]})
        for axis in self.every_axis:
            own = pl.DataFrame(rows_of(axis), schema=axis.keys, orient="row")
            made = made.join(own, how="cross", maintain_order="left_right")
        return made.with_columns(point=pl.int_range(1, pl.len() + 1))

    def plot(self, metric: str = "goodput", *, x: str | None = None) -> Figure:
        """Draws a metric over an axis, a line a variant, a panel for each choice of other axes.

        `x` is a key of the axis; the first one unless given.

        Raises:
            KeyError: there is no such axis, or no run has this metric.

        """
        from mptcplab.campaign.plots import curves

        self.check([metric])
        key = next(iter(self.axes)) if x is None else x
        if key not in self.axes:
            raise KeyError(f"{key!r}: the axes are {', '.join(self.axes)}")
        return curves(self, metric, key)

    def check(self, metrics: Sequence[str]) -> None:
        """Looks whether some run has these metrics.

        Raises:
            KeyError: none has.

        """
        known = self.metrics()
        for name in metrics:
            if name not in known and name != "goodput":
                raise KeyError(f"{name!r}: the metrics are {', '.join(known)}")

    def variants_at(self, number: int) -> list[PointVariant]:
        """The figures of a point."""
        import polars as pl

        runs = self._runs_at(number).filter(status=COMPLETE).sort("run")
        rows = self.store.scan("totals").filter(pl.col("run").is_in(runs["run"].to_list()))
        totals = self.store.collect(rows)
        by_run: dict[int, dict[str, float | None]] = {}
        for run, metric, value in totals.iter_rows():
            by_run.setdefault(run, {})[metric] = value
        return [
            self._variant(name, [by_run.get(run, {}) for run in own["run"]])
            for name in self.variants
            if (own := runs.filter(variant=name)).height
        ]

    def _variant(self, name: str, figures: Sequence[Mapping[str, float | None]]) -> PointVariant:
        same = len(figures) > 1 and all(one == figures[0] for one in figures) and self.are_one_run
        made = {}
        for metric in dict.fromkeys(metric for one in figures for metric in one):
            samples = [one.get(metric) for one in figures]
            cut = any(metric in one and one[metric] is None for one in figures)
            if metric.partition(".")[0] == RECOVERY and cut:
                made[metric] = Estimate(tuple(samples), None, None)
            else:
                made[metric] = estimate(samples, are_one_run=same)
        return PointVariant(name, made, 1 if same else len(figures))

    def result_at(self, number: int, values: Mapping[str, Any]) -> Result:
        """The recordings of a point that has these values.

        Raises:
            RecordingError: the sweep has kept none.

        """
        if not self.campaign.samples:
            raise RecordingError(
                f"{self.folder}: the sweep has kept no recordings: run it with --samples "
                "(samples=True)"
            )
        told = self.campaign.result
        changes = (
            *told.scenario.changes,
            *(
                Change(path=path, own=None, here=str(value))
                for path, value in overrides_of(values).items()
            ),
        )
        scenario = told.scenario.model_copy(update={"changes": changes})
        description = told.model_copy(update={"scenario": scenario})
        return Result(recordings_of_point(self.folder / RECORDINGS, number), description)

    def _runs_at(self, number: int) -> pl.DataFrame:
        import polars as pl

        return self.store.collect(self.store.scan("runs").filter(pl.col("point") == number))

    def __repr__(self) -> str:
        words = " × ".join(f"{', '.join(one.keys)} ({len(one.rows)})" for one in self.every_axis)
        return f"<Sweep of {words}: {len(self)} points, in {self.folder}>"

    def _repr_html_(self) -> str:
        from mptcplab.campaign.show import to_notebook

        return to_notebook(self)
