"""Figures of a campaign over repetitions, of all points at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.record import COMPLETE
from mptcplab.campaign.store import Store
from mptcplab.metrics.definitions import RECOVERY
from mptcplab.metrics.statistics import CONFIDENCE, student_t


def known_metrics(store: Store) -> list[str]:
    """The metrics that some run has, in the order in which they come first."""
    names = store.scan("totals").select(pl.col("metric").unique(maintain_order=True))
    return store.collect(names)["metric"].to_list()


def estimates(campaign: Campaign, store: Store, metrics: Sequence[str]) -> pl.DataFrame:
    """One row a point, variant and metric, in this order.

    Columns: `point`, `variant`, `metric`, `n` (different runs), `known` (of these with the metric),
    `mean`, the 95 % confidence interval, `low` and `high`, as of `metrics.statistics.estimate`, and
    `same`: whether all repetitions of the point and variant have the same figures. Where that is so
    of every point and variant, they are one run each, without an interval; else all have one.
    """
    runs = store.scan("runs").filter(status=COMPLETE).select("run", "point", "variant")
    every = store.scan("totals").join(runs, on="run")
    key = ["point", "variant"]
    sizes = runs.group_by(key).agg(n=pl.len().cast(pl.Int64))
    figures = (
        every.filter(pl.col("metric").is_in(list(metrics)))
        .group_by([*key, "metric"])
        .agg(
            known=pl.col("value").count().cast(pl.Int64),
            rows=pl.len(),
            mean=pl.col("value").mean(),
            deviation=pl.col("value").std(),
        )
        .join(sizes, on=key)
        .join(_sameness(campaign, every, key), on=key, how="left")
    )
    variants = [variant.name for variant in campaign.result.scenario.variants]
    order = {name: place for place, name in enumerate(variants)}
    places = {name: place for place, name in enumerate(metrics)}
    return _with_intervals(store.collect(figures)).sort(
        "point",
        pl.col("variant").replace_strict(order, return_dtype=pl.Int64),
        pl.col("metric").replace_strict(places, return_dtype=pl.Int64),
    )


def samples(store: Store, metric: str) -> pl.DataFrame:
    """A metric of each run that has it: `point`, `variant`, `seed`, `value`."""
    runs = store.scan("runs").filter(status=COMPLETE).select("run", "point", "variant", "seed")
    own = store.scan("totals").filter(pl.col("value").is_not_null(), metric=metric)
    return store.collect(own.join(runs, on="run").select("point", "variant", "seed", "value"))


def are_one_run(campaign: Campaign, store: Store) -> bool:
    """Whether every repetition in the campaign is the same again, at all points."""
    runs = store.scan("runs").filter(status=COMPLETE).select("run", "point", "variant")
    every = store.scan("totals").join(runs, on="run")
    found = store.collect(_sameness(campaign, every, ["point", "variant"]).select("one_run"))
    return bool(found["one_run"].any())


def _sameness(campaign: Campaign, every: pl.LazyFrame, key: list[str]) -> pl.LazyFrame:
    """`same`: whether the runs of a point and variant are, null of one; `one_run`: whether all are.

    In virtual time only chance differs. Where it does at some points, runs that are alike at
    another are samples as well, which chance has made alike.
    """
    if campaign.result.engine != "sim" or campaign.result.repetitions < 2:
        schema = {"point": pl.Int64, "variant": pl.String, "same": pl.Boolean}
        return pl.LazyFrame(schema=schema | {"one_run": pl.Boolean})
    by_metric = every.group_by([*key, "metric"]).agg(
        alike=pl.col("value").n_unique() == 1, rows=pl.len()
    )
    most, least = pl.col("rows").max(), pl.col("rows").min()
    by_key = by_metric.group_by(key).agg(
        same=pl.when(most > 1).then(pl.col("alike").all() & (most == least))
    )
    return by_key.with_columns(one_run=pl.col("same").all() & pl.col("same").any())


def _with_intervals(figures: pl.DataFrame) -> pl.DataFrame:
    same = pl.col("same").fill_null(value=False)
    one_run = same & pl.col("one_run").fill_null(value=False)
    cut_off = (pl.col("metric").str.split(".").list.first() == RECOVERY) & (
        pl.col("known") < pl.col("rows")
    )
    freedoms = {int(known) - 1 for known in figures["known"].unique() if known > 1}
    quantiles = {freedom + 1: student_t(1 - (1 - CONFIDENCE) / 2, freedom) for freedom in freedoms}
    half = (
        pl.col("known").replace_strict(quantiles, default=None, return_dtype=pl.Float64)
        * pl.col("deviation")
        / pl.col("known").sqrt()
    )
    told = figures.with_columns(
        mean=pl.when(~cut_off).then("mean"),
        half=pl.when(~cut_off & ~one_run & (pl.col("known") > 1)).then(half),
        same=same,
        n=pl.when(one_run).then(1).otherwise("n"),
    )
    return told.select(
        "point",
        "variant",
        "metric",
        "n",
        "known",
        "mean",
        low=pl.col("mean") - pl.col("half"),
        high=pl.col("mean") + pl.col("half"),
        same=pl.col("same"),
    )
