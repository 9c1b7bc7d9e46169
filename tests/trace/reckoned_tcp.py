"""The segments of a capture as TCP sees them, reckoned from tshark's fields in the plainest way.

Sets of numbers instead of the analyser's moving edges: slow, and exact where the SYNs of both ends
were captured.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.trace.intervals import Ranges, size
from tests.trace.shark import Row


@dataclass
class _Direction:
    """The data of one end on one subflow."""

    seen: Ranges = field(default_factory=Ranges)
    next: int | None = None
    acknowledged: int = 0
    fin: int | None = None
    selective: list[tuple[int, int]] = field(default_factory=list)
    """The ranges that are acknowledged selectively, as the last acknowledgement tells."""
    reset: bool = False
    """The other end sent RST."""
    disturbed: int = 0
    """Below lies what was sent again, came late or was acknowledged selectively."""

    repeated: int | None = None
    """Where a segment begins that was sent again though acknowledged, since the last answer."""

    synchronised: bool = False
    """Its SYN was seen."""

    def begin(self, sequence: int, *, syn: bool = False) -> None:
        """The first that is seen of it, unless something was; its SYN, whatever came before."""
        if self.next is None or (syn and not self.synchronised):
            self.next = self.acknowledged = sequence
        self.synchronised |= syn


def reckon(rows: list[Row]) -> list[dict[str, Any]]:
    """For each segment: `new_bytes`, `newly_acknowledged_bytes`, `in_flight_bytes`, and more.

    - in flight is data, without SYN and FIN
    - `selective_bytes` of them are in the last SACK
    - `duplicate_bytes`: those that came twice, as the last SACK tells
    - `holes`: some of what is in flight was captured late or not at all, or sent again
    - `again`: bytes of the segment were seen before
    - `acknowledged_before`: all bytes of the segment were
    - `repeated_bytes`: from a segment that was sent again though acknowledged, and not answered yet
    - `disturbed`: it acknowledges what may have waited for other data
    - `reset`: the other end had sent RST
    """
    flows: dict[tuple[int, str], _Direction] = defaultdict(_Direction)
    return [_reckon(flows, row) for row in rows]


def _reckon(flows: dict[tuple[int, str], _Direction], row: Row) -> dict[str, Any]:
    own = flows[row["stream"], row["source"]]
    peer = flows[row["stream"], row["destination"]]
    flags = row["flags"]
    own.begin(row["sequence"], syn="S" in flags)
    acknowledged, disturbed = 0, False
    peer.reset |= "R" in flags
    if "A" in flags:
        peer.begin(row["acknowledgement"])
        if "R" not in flags:
            acknowledged, disturbed = _acknowledge(peer, row)
    start = row["sequence"] + ("S" in flags)
    end = start + row["payload_bytes"]
    new = size(own.seen.add(start, end))
    assert own.next is not None
    edge = end + ("F" in flags)
    if row["sequence"] < own.next:
        own.disturbed = max(own.disturbed, edge)
    needless = row["payload_bytes"] > 0 and end <= own.acknowledged
    if needless and own.repeated is None:
        own.repeated = start
    if "F" in flags:
        own.fin = end
    if "R" not in flags:
        own.next = max(own.next, edge)
    # Neither SYN, which is number 0, nor FIN is data.
    fin = own.fin is not None and own.fin == own.next - 1 and own.fin >= own.acknowledged
    return {
        "frame": row["frame"],
        "new_bytes": new,
        "newly_acknowledged_bytes": acknowledged,
        "in_flight_bytes": max(0, own.next - fin - max(1, own.acknowledged)),
        "holes": own.disturbed > own.acknowledged
        or bool(own.seen.missing(max(1, own.acknowledged), own.next)),
        "selective_bytes": sum(
            right - max(left, own.acknowledged)
            for left, right in own.selective
            if right > own.acknowledged
        ),
        "duplicate_bytes": sum(
            right - left for left, right in own.selective if right <= own.acknowledged
        ),
        "reset": own.reset,
        "again": row["payload_bytes"] > new,
        "acknowledged_before": needless,
        "repeated_bytes": None if own.repeated is None else own.next - own.repeated,
        "disturbed": disturbed,
    }


def _acknowledge(peer: _Direction, row: Row) -> tuple[int, bool]:
    """Bytes that are acknowledged first, and whether they were disturbed."""
    before, edge = peer.acknowledged, row["acknowledgement"]
    disturbed = before < peer.disturbed or bool(row["sack"])
    peer.repeated = None
    peer.selective = row["sack"]
    selective = [right for _, right in row["sack"]]
    repeated = [edge + 1] if edge == before and not row["payload_bytes"] else []
    peer.disturbed = max([peer.disturbed, *selective, *repeated])
    if edge <= before:
        return 0, disturbed
    peer.acknowledged = edge
    fin = peer.fin is not None and before <= peer.fin < edge
    return edge - before - (before == 0) - fin, disturbed
