"""Payload of each subflow of a run, summed up over time."""

import matplotlib as mpl
import polars as pl

from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Recording
from mptcplab.report.canvas import LOOK, figure_of, svg_of
from mptcplab.report.palette import styles

_INCHES = 2.8


def cumulative(recording: Recording) -> str | None:
    """Acknowledged payload over time, a line an interface of the sender; null without samples.

    Raises:
        RecordingError: a table is damaged.

    """
    transfers = recording.transfers
    plan = PlanView(recording)
    senders = plan.in_order(
        row["server"] if row["way"] == "down" else row["client"] for row in transfers.to_dicts()
    )
    samples = (
        recording.subflow_samples.filter(
            pl.col("node").is_in(senders), pl.col("interface").is_not_null()
        )
        .group_by("t_ns", "interface", maintain_order=True)
        .agg(pl.col("bytes_acked").sum())
        .sort("t_ns")
    )
    if samples.is_empty():
        return None
    names = samples["interface"].unique(maintain_order=True).to_list()
    looks = styles(names)
    with mpl.rc_context(LOOK):
        figure = figure_of(_INCHES)
        axes = figure.subplots()
        for name in names:
            own = samples.filter(interface=name)
            axes.plot(
                own["t_ns"] / 1e9,
                own["bytes_acked"] / 1e6,
                label=name,
                color=looks[name].colour,
                linestyle=looks[name].dashes,
                marker=looks[name].marker,
                markevery=0.12,
                markersize=3.5,
            )
        axes.set_xlabel("time in s")
        axes.set_ylabel("MB acknowledged")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return svg_of(figure)
