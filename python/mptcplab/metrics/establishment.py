"""How long connections take to be established."""

import polars as pl

NS_PER_S = 1e9


def establishment_figures(transfers: pl.DataFrame) -> dict[str, float | None]:
    """``establishment_s`` of transfers.

    From the start of a connection, before its first SYN, to the end of the handshake at the client:
    the mean of the connections that have come so far. Empty where none has.
    """
    connected = transfers.drop_nulls(["start_ns", "connected_ns"])
    if connected.is_empty():
        return {}
    mean = (connected["connected_ns"] - connected["start_ns"]).mean()
    return {"establishment_s": mean / NS_PER_S if isinstance(mean, int | float) else None}
