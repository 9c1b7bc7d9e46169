"""The tables of a campaign: those of many runs in one, with the number of the run."""

from __future__ import annotations

from mptcplab.recording.tables import TRANSFERS as OF_RECORDING
from mptcplab.tables.schema import Table, count, number, size, text

_RUN = count("run", "number of the run, from 0")

RUNS = Table(
    "runs",
    "one run: a repetition of a variant at a point",
    (
        _RUN,
        count("point", "number of the point, from 1; the last axis changes fastest"),
        count("repetition", "from 1"),
        text("variant", "name of the variant"),
        count("seed", "seed of the repetition"),
        text("address", "SHA-256 of the plan, the variant, the repetition and the versions"),
        text("protocol", "`tcp` or `mptcp`"),
        text("status", "`complete` or `failed`"),
        text("error", "null, or why it failed"),
        number("duration_s", "s", "how long it lasted; null where it failed"),
        text("interface", "the clients' interface that carried everything; null for several"),
        text("task", "SHA-256 of its traffic and links, whatever the protocol and the path"),
        size("program_bytes", "payload that the connections of commands carried"),
        text("warnings", "one a line; null without any"),
    ),
    keys=("run", "point", "repetition", "variant", "status"),
)
TRANSFERS = Table(
    "transfers", "one connection of a flow, as in a recording", (_RUN, *OF_RECORDING.columns)
)
TOTALS = Table(
    "totals",
    "one metric of one run",
    (
        _RUN,
        text("metric", "full name, as in `docs/metrics.md`"),
        number("value", "", "in the unit of the metric; null where it is not known"),
    ),
    keys=("run", "metric"),
)
TABLES = {table.name: table for table in (TRANSFERS, TOTALS, RUNS)}
"""By name, in the order in which a part is written: one with a file of runs is whole."""
