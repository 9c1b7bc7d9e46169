"""A listing of a host's subflows, as netstat would print it."""

from __future__ import annotations

import polars as pl

from mptcplab.recording import Recording

_HEAD = ("local address", "remote address", "state", "local token")


def listing(recording: Recording, node: str) -> tuple[str, ...]:
    """The subflows of a host in the middle of the run, by connection.

    Raises:
        RecordingError: a table is damaged.

    """
    samples = recording.subflow_samples.filter(pl.col("node") == node)
    if samples.is_empty():
        return ()
    middle = samples["t_ns"].max() / 2  # type: ignore[operator]
    last = (
        samples.filter(pl.col("t_ns") <= middle)
        .sort("t_ns")
        .group_by("subflow", maintain_order=True)
        .last()
        .sort("token", "subflow")
    )
    rows = [_HEAD]
    for row in last.to_dicts():
        local, _, remote = str(row["subflow"]).partition("-")
        token = "–" if row["token"] is None else str(row["token"])
        rows.append((local, remote, str(row["state"]), token))
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    return tuple(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
