"""Names of the plots of a result."""

from enum import StrEnum


class PlotName(StrEnum):
    """A plot of a result; the page shows those that there is data for, in this order."""

    THROUGHPUT = "throughput"
    """Over time, a panel a variant."""
    PATHS = "paths"
    """Share of the payload by path, a bar a variant."""
    COMPLETION = "completion"
    """Distribution of completion times, a line a variant."""
    BOXES = "boxes"
    """The same, a box a variant."""
    LATENCY = "latency"
    """Distribution of the times to the answers of echoes and requests."""
    FRAMES = "frames"
    """Distribution of the delays of frames."""
    RTT = "rtt"
    """Round-trip times over time, a line a subflow."""
    RTT_BY_PAYLOAD = "rtt-by-payload"
    """Round-trip times by the payload acknowledged, a line a subflow."""
    PAYLOAD = "payload"
    """Payload acknowledged over time, a line a subflow."""
    QUEUES = "queues"
    """Packets that wait in the links, over time."""
