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
    `mean`, and the 95 % confidence interval, `low` and `high`, as of `metrics.statistics.estimate`.
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


def _sameness(campaign: Campaign, every: pl.LazyFrame, key: list[str]) -> pl.LazyFrame:
    """Whether the runs of a point and variant are one run: in virtual time only chance differs."""
    if campaign.result.engine != "sim" or campaign.result.repetitions < 2:
        schema = {"point": pl.Int64, "variant": pl.String, "same": pl.Boolean}
        return pl.LazyFrame(schema=schema)
    by_metric = every.group_by([*key, "metric"]).agg(
        alike=(pl.col("value").n_unique() == 1) & (pl.len() > 1)
    )
    return by_metric.group_by(key).agg(same=pl.col("alike").all())


def _with_intervals(figures: pl.DataFrame) -> pl.DataFrame:
    same = pl.col("same").fill_null(value=False)
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
        half=pl.when(~cut_off & ~same & (pl.col("known") > 1)).then(half),
        n=pl.when(same).then(1).otherwise("n"),
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
    )
