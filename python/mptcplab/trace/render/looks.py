"""Styles of the subflows of a connection."""

from __future__ import annotations

from collections.abc import Sequence

from mptcplab.report.palette import Style, styles


def looks(subflows: Sequence[int]) -> dict[int, Style]:
    """Returns a style for each subflow, the same in all charts of a connection."""
    found = styles(str(subflow) for subflow in subflows)
    return {subflow: found[str(subflow)] for subflow in subflows}
