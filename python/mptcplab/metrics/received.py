"""Bytes that the subflows of MPTCP received beyond those that the application got, and why.

Data arrives twice where it was sent on several subflows, and it waits where data before it, on
another subflow, is missing. The end of a run finds the latter undelivered.
"""

import polars as pl

from mptcplab.metrics.paths import reinjected_bytes
from mptcplab.recording import Recording


def received_figures(transfers: pl.DataFrame, recording: Recording) -> dict[str, int | None]:
    """``undelivered_bytes`` and ``duplicate_bytes`` of a recording.

    Missing where no transfer spoke MPTCP; null where the connections' own counters are not known.
    Two bounds decide: what exceeds the goodput is undelivered as far as it was not reinjected, and
    no more than what the connections sent beyond it. Transfers with a size that ended without error
    left nothing behind. The second bound holds where Linux sends data of a closed subflow
    again, which it does not count as reinjected.
    """
    spoken = transfers.filter(
        pl.col("token").is_not_null(), ~pl.col("fallback").fill_null(value=False)
    )
    if spoken.is_empty():
        return {}
    delivered = int(spoken["bytes"].sum())
    excess = max(0, _received(spoken, recording) - delivered)
    reinjected, sent = reinjected_bytes(recording), _sent(recording)
    if reinjected is None or sent is None:
        return {"undelivered_bytes": None, "duplicate_bytes": None}
    is_whole = spoken["is_sized"].all() and spoken["error"].null_count() == spoken.height
    undelivered = 0 if is_whole else max(0, min(excess - reinjected, sent - delivered))
    return {"undelivered_bytes": undelivered, "duplicate_bytes": excess - undelivered}


def _received(transfers: pl.DataFrame, recording: Recording) -> int:
    """Payload of the transfers' subflows as the client knows it: received, or acknowledged."""
    # The last row of a subflow may have lost its token.
    subflows = (
        recording.frame("subflow_samples")
        .group_by("node", "subflow")
        .agg(pl.col("token").drop_nulls().last(), pl.col("bytes_received", "bytes_acked").max())
    )
    payload = pl.when(pl.col("way") == "up").then("bytes_acked").otherwise("bytes_received")
    return int(
        transfers.select("client", "token", "way")
        .join(subflows, left_on=["client", "token"], right_on=["node", "token"])
        .select(payload.sum())
        .item()
    )


def _sent(recording: Recording) -> int | None:
    """Payload that the connections sent, each byte once, both ends."""
    sent = (
        recording.frame("connection_samples")
        .group_by("node", "token")
        .agg(pl.col("bytes_sent").max())["bytes_sent"]
    )
    return None if sent.null_count() == len(sent) else int(sent.sum())
