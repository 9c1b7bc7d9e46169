"""How long connections and their additional subflows take to be established."""

from collections.abc import Sequence
from statistics import fmean

from mptcplab.metrics.rows import Row
from mptcplab.recording import Recording

NS_PER_S = 1e9


def establishment_figures(
    transfers: Sequence[Row], recording: Recording
) -> dict[str, float | None]:
    """``establishment_s`` of a recording, and that of each join.

    From the start of a connection, before its first SYN, to the end of the handshake at the client,
    and to the moment at which its first, second … additional subflow was established: means over
    the connections that have come so far. Empty where none has.
    """
    connected = [
        row for row in transfers if row["start_ns"] is not None and row["connected_ns"] is not None
    ]
    if not connected:
        return {}
    starts = {(row["traffic"], row["index"], row["way"]): row["start_ns"] for row in connected}
    by_number: dict[int, list[int]] = {}
    for row in recording.rows("joins", ("traffic", "index", "way", "number", "t_ns")):
        start_ns = starts.get((row["traffic"], row["index"], row["way"]))
        if start_ns is not None:
            by_number.setdefault(row["number"], []).append(row["t_ns"] - start_ns)
    own = fmean(row["connected_ns"] - row["start_ns"] for row in connected)
    figures: dict[str, float | None] = {"establishment_s": own / NS_PER_S}
    for number, times in sorted(by_number.items()):
        figures[f"establishment_s.join{number}"] = fmean(times) / NS_PER_S
    return figures
