"""The part of a run that is shown while it lasts, picked of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mptcplab.plan import Plan

Row = dict[str, Any]
"""A line that an engine writes: `record` and the columns."""

TOLD_EVERY_S = 0.1
"""Wall-clock time between two reports."""
MOST_SAMPLES = 2000
"""Of an interface over a run whose length is known; of others every sample is told."""
BEGUN = "begun"
"""Record of the first row that is told: what is seen."""
_INTERFACE = ("record", "t_ns", "node", "interface", "rx_bytes", "tx_bytes")
_SUBFLOW = ("t_ns", "node", "interface", "subflow", "state", "backup", "rtt_us", "cwnd")


@dataclass(frozen=True)
class Seen:
    """The part of a run that is told of."""

    nodes: tuple[str, ...]
    """The clients, whose interfaces are the paths."""
    ways: tuple[str, ...]
    """Of the payload: `up`, `down`."""
    gap_ns: int
    """Least time between two samples of an interface."""

    def to_json(self) -> Row:
        """As JSON for `of_json`."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Row) -> Seen:
        """From what `to_json` gave."""
        return cls(tuple(value["nodes"]), tuple(value["ways"]), value["gap_ns"])


def seen(plan: Plan) -> Seen:
    """Finds what is seen of a plan's run: its clients, and the ways of its payload."""
    from mptcplab.engine.manifest import NANOSECONDS, expected_s

    nodes = dict.fromkeys(plan.nodes[item.client].name for item in plan.traffic)
    ways = {_way(item.workload) for item in plan.traffic}
    taken = ("up", "down") if "both" in ways else tuple(sorted(ways, reverse=True))
    gap_ns = int((expected_s(plan) or 0.0) * NANOSECONDS / MOST_SAMPLES)
    return Seen(tuple(nodes), taken, gap_ns)


def _way(workload: Any) -> str:
    if workload.kind == "http":
        return "down"
    return str(getattr(workload, "way", "both"))


class Watch:
    """Picks the rows of a run that are told, several times a second.

    Told are rows with less columns: `begun` (what is seen) first, the counters of the clients'
    interfaces, as `deliveries` the bytes that all receivers had got until the sample before, the
    last sample of each of their subflows, and events as they are.
    """

    def __init__(
        self,
        seen: Seen,
        tell: Callable[[Sequence[Row]], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Tells first what is seen."""
        self._nodes = frozenset(seen.nodes)
        self._gap_ns = seen.gap_ns
        self._tell = tell
        self._clock = clock
        self._told_s = clock()
        self._rows: list[Row] = [{"record": BEGUN, **seen.to_json()}]
        self._due_ns: dict[tuple[str, str], int] = {}
        self._subflows: dict[tuple[str, str], Row] = {}
        self._bins: list[tuple[int, int]] = []
        """Time and bytes of deliveries that no row has told yet."""
        self._delivered_bytes = 0
        self._sampled_ns = -1

    def take(self, row: Row) -> None:
        """Looks at a row, which it does not change, and tells where it is time."""
        match row["record"]:
            case "interface_samples":
                self._interface(row)
            case "subflow_samples":
                if row["node"] in self._nodes:
                    self._subflows[row["node"], row["subflow"]] = row
            case "deliveries":
                self._bins.append((row["t_ns"], row["bytes"]))
            case "events":
                self._rows.append(dict(row))
            case "done":
                self._deliver()
                self._pass_on()
                return
            case _:
                return
        now_s = self._clock()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            self._pass_on()

    def _interface(self, row: Row) -> None:
        key = row["node"], row["interface"]
        if key[0] in self._nodes and row["t_ns"] >= self._due_ns.get(key, 0):
            self._due_ns[key] = row["t_ns"] + self._gap_ns
            self._rows.append({name: row[name] for name in _INTERFACE})
            if row["t_ns"] > self._sampled_ns:
                self._deliver()
                self._sampled_ns = row["t_ns"]

    def _deliver(self) -> None:
        """Tells the deliveries until the last sample: by the next one, all of them have come."""
        if self._sampled_ns < 0 or not (self._bins or self._delivered_bytes):
            return
        came = [size for t_ns, size in self._bins if t_ns < self._sampled_ns]
        self._bins = [one for one in self._bins if one[0] >= self._sampled_ns]
        self._delivered_bytes += sum(came)
        told = {"t_ns": self._sampled_ns, "bytes": self._delivered_bytes}
        self._rows.append({"record": "deliveries", **told})

    def _pass_on(self) -> None:
        rows = self._rows
        for row in self._subflows.values():
            last = {name: row.get(name) for name in _SUBFLOW}
            rows.append({"record": "subflow_samples", **last})
        self._subflows.clear()
        self._rows = []
        if rows:
            self._tell(rows)
