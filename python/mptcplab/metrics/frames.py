"""Figures of streams: which frames came in time, which late, and which never."""

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import grouped
from mptcplab.metrics.statistics import mean_and_percentiles
from mptcplab.plan.traffic import StreamWorkload
from mptcplab.recording import Recording


def frame_figures(recording: Recording, plan: PlanView) -> dict[str, float | None]:
    """Shares of the frames in time, late and lost, and the delays of those that came.

    Names as in :mod:`mptcplab.metrics.definitions`: of all flows together, and of each. A frame
    that was never made, as the run ended before, is lost. Empty where there is no stream.
    """
    if not plan.streams:
        return {}
    frames = grouped(recording.rows("frames", ("traffic", "delay_ns")), "traffic")
    each = [
        (flow, _Delivered(stream, [row["delay_ns"] for row in frames.get((flow,), ())]))
        for flow, stream in plan.streams.items()
    ]
    figures = _figures([own for _, own in each], "")
    for flow, own in each:
        figures |= _figures([own], f".{flow}")
    return figures


@dataclass(frozen=True)
class _Delivered:
    """The frames of a stream, and the delays of those that came."""

    stream: StreamWorkload
    delays_ns: list[int]

    @property
    def in_time(self) -> int:
        return sum(delay <= self.stream.deadline_ns for delay in self.delays_ns)


def _figures(streams: Sequence[_Delivered], part: str) -> dict[str, float | None]:
    made = sum(one.stream.frames for one in streams)
    in_time = sum(one.in_time for one in streams)
    delays = [delay / 1e9 for one in streams for delay in one.delays_ns]
    return {
        f"frames_in_time{part}": in_time / made,
        f"frames_late{part}": (len(delays) - in_time) / made,
        f"frames_lost{part}": 1 - len(delays) / made,
    } | mean_and_percentiles(f"frame_delay_s{part}", delays)
