"""Connections of very many subflows, of which some are shown."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from mptcplab.trace import words
from mptcplab.trace.figures import ENDS

SHOWN = 50
"""Subflows of a connection that are shown, unless all are asked for."""
FLOOD = 100
"""From so many joins that carried no data on, they are called a flood where most are such."""


def shown(subflows: pl.DataFrame, *, every: bool = False) -> pl.DataFrame:
    """Returns the subflows that are shown: those with most payload, in order of number."""
    if every or subflows.height <= SHOWN:
        return subflows
    payload = sum((pl.col(f"{end}_payload_bytes") for end in ENDS), pl.lit(0))
    ordered = subflows.sort(payload, descending=True, maintain_order=True)
    return ordered.head(SHOWN).sort("subflow")


def notes(subflows: pl.DataFrame, *, every: bool = False) -> Iterable[str]:
    """Describes the very many subflows of a connection."""
    left = subflows.height - shown(subflows, every=every).height
    if left:
        yield (
            f"Of {words.count(subflows.height)} subflows the {SHOWN} that carried most are shown, "
            f"{words.count(left)} are left out: --all shows them."
        )
    idle = subflows.filter(
        pl.col("origin") == "join", *(pl.col(f"{end}_payload_bytes") == 0 for end in ENDS)
    )
    if idle.height >= FLOOD and 2 * idle.height > subflows.height:
        by_opener = idle["opener"].value_counts(sort=True)
        yield (
            f"{words.count(idle.height)} joins carried no data, most of them by the "
            f"{by_opener['opener'][0]}: this looks like a flood of joins."
        )
