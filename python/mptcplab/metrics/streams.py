"""Figures by stream: of several connections that a bulk transfer has at once."""

from collections.abc import Sequence

from mptcplab.metrics.rows import Row, grouped, total
from mptcplab.metrics.statistics import jain_index
from mptcplab.metrics.transfers import goodput_mbps


def stream_figures(transfers: Sequence[Row]) -> dict[str, float | None]:
    """``stream_share`` of each stream, and ``jain.streams``.

    Streams are numbered from 1. Where several flows or clients have streams, or both ways do,
    those of one number count together, and each flow has its own shares beside that. A flow with
    one stream does not count. Empty where no bulk transfer has more than one stream.
    """
    by_flow = {
        flow: [row for row in own if row["kind"] == "bulk"]
        for (flow,), own in grouped(transfers, "traffic").items()
        if len({row["index"] for row in own}) > 1
    }
    streams = [row for row in transfers if row["kind"] == "bulk" and row["traffic"] in by_flow]
    if not streams:
        return {}
    figures = _shares(streams, "stream_share")
    for flow, own in by_flow.items():
        if own:
            figures |= _shares(own, f"stream_share.{flow}")
    each = grouped(streams, "traffic", "way", "index").values()
    rates = [rate for own in each if (rate := goodput_mbps(own)) is not None]
    return figures | {"jain.streams": jain_index(rates)}


def _shares(streams: Sequence[Row], name: str) -> dict[str, float | None]:
    whole = total(streams, "bytes")
    by_stream = grouped(streams, "index")
    return {
        f"{name}.{index + 1}": total(own, "bytes") / whole if whole else None
        for (index,), own in sorted(by_stream.items())
    }
