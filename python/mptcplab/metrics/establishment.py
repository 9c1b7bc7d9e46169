"""How long connections and their additional subflows take to be established."""

import polars as pl

from mptcplab.recording import Recording

NS_PER_S = 1e9


def establishment_figures(transfers: pl.DataFrame, recording: Recording) -> dict[str, float | None]:
    """``establishment_s`` of a recording, and that of each join.

    From the start of a connection, before its first SYN, to the end of the handshake at the client,
    and to the moment at which its first, second … additional subflow was established: means over
    the connections that have come so far. Empty where none has.
    """
    connected = transfers.drop_nulls(["start_ns", "connected_ns"])
    if connected.is_empty():
        return {}
    mean = (connected["connected_ns"] - connected["start_ns"]).mean()
    joined = (
        recording.frame("joins")
        .join(connected, on=["traffic", "index", "way"])
        .group_by("number")
        .agg((pl.col("t_ns") - pl.col("start_ns")).mean().alias("mean"))
        .sort("number")
    )
    return {"establishment_s": _seconds(mean)} | {
        f"establishment_s.join{number}": _seconds(time) for number, time in joined.iter_rows()
    }


def _seconds(time_ns: object) -> float | None:
    return time_ns / NS_PER_S if isinstance(time_ns, int | float) else None
