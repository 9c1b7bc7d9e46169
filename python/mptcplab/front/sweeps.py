"""Sweeps: a scenario with lists of values at some of its keys, crossed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.front.asked import asked, call_text
from mptcplab.front.calls import Folder, Interrupted, carried_out, prepared_for, room
from mptcplab.metrics import VariantMetrics
from mptcplab.metrics import compare as measured
from mptcplab.recording import RecordingError, Result
from mptcplab.recording.files import publish
from mptcplab.report.numbers import estimate_shown, heading
from mptcplab.scenario import Scenario
from mptcplab.session import fresh_folder

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SWEEP = "sweep.json"


@dataclass(frozen=True)
class Point:
    """One choice of values, and its result."""

    values: Mapping[str, Any]
    """Dotted path → value, one for each axis."""
    result: Result

    @cached_property
    def variants(self) -> list[VariantMetrics]:
        """The metrics of the result, by variant."""
        return measured(self.result)


class Sweep(Sequence[Point]):
    """The results of a sweep, by point; the last axis changes fastest."""

    def __init__(self, folder: Path, axes: Mapping[str, Sequence[Any]], points: Sequence[Point]):
        self.folder = folder
        self.axes = {path: tuple(values) for path, values in axes.items()}
        """Dotted path → its values, in order."""
        self._points = tuple(points)

    @classmethod
    def open(cls, folder: Folder) -> Sweep:
        """Opens the sweep in a folder; points that were not begun are left out.

        Raises:
            RecordingError: the folder is not a sweep, or is damaged.

        """
        folder = Path(folder)
        try:
            axes = json.loads((folder / SWEEP).read_text())["axes"]
            every = [folder / str(number) for number, _ in _crossed(axes)]
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise RecordingError(f"{folder}: not a sweep: {SWEEP} cannot be read") from error
        points = [
            Point(values, Result.open(one))
            for one, (_, values) in zip(every, _crossed(axes), strict=True)
            if one.is_dir()
        ]
        return cls(folder, axes, points)

    def __getitem__(self, place: Any) -> Any:
        return self._points[place]

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants that ran."""
        return tuple(dict.fromkeys(name for point in self for name in point.result))

    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that some point has."""
        every = (name for point in self for one in point.variants for name in one.metrics)
        return tuple(dict.fromkeys(every))

    def frame(self, *metrics: str) -> pl.DataFrame:
        """One row a point and variant: the values, and each metric with its interval.

        The columns of a metric are its name, and that with `_low` and `_high`: the 95 % confidence
        interval, null without repetitions that differ. `goodput` where none is named.

        Raises:
            KeyError: no point has this metric.

        """
        import polars as pl

        names = metrics or ("goodput",)
        self._check(names)
        rows = []
        for point in self:
            for variant in point.variants:
                row = {**point.values, "variant": variant.name, "n": variant.sample_size}
                for name in names:
                    found = variant.metrics.get(name)
                    low, high = (None, None) if found is None or found.ci95 is None else found.ci95
                    row[name] = None if found is None else found.mean
                    row |= {f"{name}_low": low, f"{name}_high": high}
                rows.append(row)
        figures = {f"{name}{end}": pl.Float64 for name in names for end in ("", "_low", "_high")}
        return pl.DataFrame(rows, schema_overrides=figures, infer_schema_length=None)

    def plot(self, metric: str = "goodput", *, x: str | None = None) -> Figure:
        """Draws a metric over an axis, a line a variant, a panel for each choice of other axes.

        `x` is the path of the axis; the first one unless given.

        Raises:
            KeyError: there is no such axis, or no point has this metric.

        """
        from mptcplab.front.sweep_plot import draw

        self._check([metric])
        path = next(iter(self.axes)) if x is None else x
        if path not in self.axes:
            raise KeyError(f"{path!r}: the axes are {', '.join(self.axes)}")
        return draw(self, metric, path)

    def _check(self, metrics: Sequence[str]) -> None:
        known = self.metrics()
        for name in metrics:
            if name not in known and name != "goodput":
                raise KeyError(f"{name!r}: the metrics are {', '.join(known)}")

    def __repr__(self) -> str:
        words = " × ".join(f"{path} ({len(values)})" for path, values in self.axes.items())
        return f"<Sweep of {words}: {len(self)} points, in {self.folder}>"

    def _repr_html_(self) -> str:
        from mptcplab.report.notebook import paragraph, table

        title, unit = heading("goodput")
        rows = []
        for point in self:
            by_name = {one.name: one.metrics for one in point.variants}
            figures = (by_name.get(name, {}).get("goodput") for name in self.variants)
            shown = [estimate_shown("goodput", figure) for figure in figures]
            rows.append([*map(str, point.values.values()), *shown])
        head = [*self.axes, *(f"{name}\n{unit}" for name in self.variants)]
        words = f"{title} by point; .frame(METRIC, ...) and .plot(METRIC) give others"
        return str(paragraph(words) + table(head, rows) + paragraph(str(self.folder)))


def sweep(
    scenario: Scenario | str | PathLike[str],
    axes: Mapping[str, Sequence[Any]],
    *,
    engine: str = "auto",
    variants: str | Sequence[str] | None = None,
    repeat: int | None = None,
    seed: int = 1,
    duration: str | None = None,
    vary: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    capture: bool = False,
    workers: int | None = None,
    out: Folder | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Sweep:
    """Runs a scenario at every choice of values: the lists of `axes` are crossed.

    `axes` are dotted paths, each with its values: `{"links.wifi.delay": ["5 ms", "20 ms"]}`. The
    other arguments, and what is raised, are as of `run`; every point is checked before the first
    one runs, and gets a result of its own in a folder of the sweep's.

    Raises:
        ValueError: there is no axis, or one has no value or the same twice.

    """
    _check_axes(axes)
    settings = asked(
        engine=engine,
        variants=variants,
        repeat=repeat,
        seed=seed,
        duration=duration,
        vary=vary,
        set=set,
        capture=capture,
        workers=workers,
    )
    chosen = list(_crossed(axes))
    prepared = [
        prepared_for(
            scenario,
            changed(settings, overrides={**settings.overrides, **values}),
            axes=axes,
        )
        for _, values in chosen
    ]
    own = prepared[0].scenario
    folder = fresh_folder(f"{own.name}-sweep") if out is None else room(out, SWEEP, replace)
    command = call_text("sweep", scenario, locals(), {path: list(axes[path]) for path in axes})
    _describe(folder, axes)
    parts = [(one, folder / str(number)) for one, (number, _) in zip(prepared, chosen, strict=True)]
    try:
        results = carried_out(parts, settings, command, progress=progress)
    except Interrupted:
        raise Interrupted(Sweep.open(folder), "Sweep.open") from None
    points = [Point(values, result) for (_, values), result in zip(chosen, results, strict=True)]
    return Sweep(folder, axes, points)


def _check_axes(axes: Mapping[str, Sequence[Any]]) -> None:
    if not axes:
        raise ValueError("axes is empty: give at least one path with its values")
    for path, values in axes.items():
        if isinstance(values, str) or not values:
            raise ValueError(f'axes["{path}"]: give a list of values')
        if len({json.dumps(value) for value in values}) < len(values):
            raise ValueError(f'axes["{path}"]: a value is there twice')


def _crossed(axes: Mapping[str, Sequence[Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every choice of values, numbered from 1."""
    for number, values in enumerate(product(*axes.values()), 1):
        yield number, dict(zip(axes, values, strict=True))


def _describe(folder: Path, axes: Mapping[str, Sequence[Any]]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"{folder}: cannot be made: {error.strerror}") from error
    told = {"format": 1, "axes": {path: list(values) for path, values in axes.items()}}
    publish(folder / SWEEP, json.dumps(told, indent=1).encode())
