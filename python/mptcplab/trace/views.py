"""Views of an analysis: some connections, some time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from mptcplab.trace.errors import TraceError
from mptcplab.trace.event_order import in_order
from mptcplab.trace.figures import with_intervals, with_rates
from mptcplab.trace.handover import handovers
from mptcplab.trace.trace import Trace


@dataclass(frozen=True)
class Range:
    """A span of time, relative to the first packet of the capture; both ends belong to it."""

    from_ns: int | None = None
    to_ns: int | None = None

    def __bool__(self) -> bool:
        return self.from_ns is not None or self.to_ns is not None


class View:
    """Chosen connections of a trace.

    `connections` and `subflows` tell of all that the capture holds, whatever the range: totals
    are those of whole connections. `events`, `samples` and `packets` are those of the range.
    """

    def __init__(self, trace: Trace, numbers: Collection[int] | None, span: Range) -> None:
        self.trace = trace
        self.span = span
        self._numbers = numbers

    @property
    def origin_ns(self) -> int:
        """The zero of relative times."""
        return self.trace.capture.first_ns

    @cached_property
    def connections(self) -> pl.DataFrame:
        """The chosen connections with their rates, in order of number."""
        chosen = with_rates(self._chosen(self.trace.connections)).sort("connection")
        begin, end = self._bounds
        return chosen.filter(pl.col("end_ns") >= begin, pl.col("start_ns") <= end)

    @cached_property
    def numbers(self) -> list[int]:
        """Numbers of the chosen connections."""
        return self.connections["connection"].to_list()

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """Their subflows with the intervals between starts."""
        return with_intervals(self._of(self.trace.subflows))

    @cached_property
    def addresses(self) -> pl.DataFrame:
        """Their addresses, those of the client first."""
        return self._of(self.trace.addresses).sort("connection", "end", "first_ns")

    @cached_property
    def samples(self) -> pl.DataFrame:
        """Their samples of the range."""
        begin, end = self._bounds
        bin_ns = 100_000_000
        return self._of(self.trace.samples).filter(
            pl.col("t_ns") > begin - bin_ns, pl.col("t_ns") <= end
        )

    @cached_property
    def events(self) -> pl.DataFrame:
        """Their events of the range, by time."""
        return in_order(self._within(self._of(self.trace.events)))

    @cached_property
    def handovers(self) -> pl.DataFrame:
        """Their handovers of the range; what one cost is seen beyond the range too."""
        every = handovers(
            self._of(self.trace.events), self._of(self.trace.samples), self.connections
        )
        return self._within(every)

    @cached_property
    def data_acknowledged(self) -> Mapping[tuple[int, str], int]:
        """Connection and sender → the highest acknowledgement of its data; empty without packets.

        One pass over the packets serves all connections.
        """
        if not self.trace.has_packets:
            return {}
        highest = (
            self._of_lazy(self.trace.packets)
            .filter(pl.col("data_acknowledgement").is_not_null())
            .group_by("connection", "from")
            .agg(pl.col("data_acknowledgement").max())
            .collect()
        )
        other = {"client": "server", "server": "client"}
        return {(number, other[end]): most for number, end, most in highest.iter_rows()}

    @property
    def packets(self) -> pl.LazyFrame:
        """Their packets of the range."""
        return self._of_lazy(self.trace.packets).filter(self._in_range)

    @property
    def numbered_packets(self) -> pl.LazyFrame:
        """The same with `place`, which grows with time."""
        return self._of_lazy(self.trace.numbered_packets).filter(self._in_range)

    @property
    def _in_range(self) -> pl.Expr:
        if not self.span:
            return pl.lit(value=True)
        return pl.col("t_ns").is_between(*self._bounds)

    def _chosen(self, frame: pl.DataFrame) -> pl.DataFrame:
        if self._numbers is None:
            return frame
        return frame.filter(pl.col("connection").is_in(list(self._numbers)))

    def _of(self, frame: pl.DataFrame) -> pl.DataFrame:
        if len(self.numbers) == self.trace.connections.height:
            return frame
        return frame.filter(pl.col("connection").is_in(self.numbers))

    def _of_lazy(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if len(self.numbers) == self.trace.connections.height:
            return frame
        return frame.filter(pl.col("connection").is_in(self.numbers))

    def _within(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("t_ns").is_between(*self._bounds))

    @property
    def _bounds(self) -> tuple[int, int]:
        """The range in absolute time."""
        zero = self.origin_ns
        begin = -(2**62) if self.span.from_ns is None else zero + self.span.from_ns
        end = 2**62 if self.span.to_ns is None else zero + self.span.to_ns
        return begin, end


def view(
    trace: Trace,
    *,
    matching: str | None = None,
    connections: Collection[int] | None = None,
    from_ns: int | None = None,
    to_ns: int | None = None,
) -> View:
    """Returns the connections of an expression, of these numbers, within a span of time.

    Raises:
        FilterError: the expression cannot be read.
        TraceError: there is no connection of a number.

    """
    numbers = None if connections is None else set(connections)
    if numbers is not None:
        missing = sorted(numbers - set(trace.connections["connection"]))
        if missing:
            last = trace.connections.height - 1
            known = f"they go from 0 to {last}" if last >= 0 else "there is none"
            raise TraceError(f"no connection has the number {missing[0]}: {known}")
    if matching is not None:
        from mptcplab.trace.matching import matches

        found = matches(trace, matching)
        numbers = set(found) if numbers is None else numbers & set(found)
    return View(trace, numbers, Range(from_ns, to_ns))
