"""The flow entries of the switches in a run, for the tables of a report."""

from dataclasses import dataclass

from mptcplab.metrics import VariantMetrics
from mptcplab.recording import Recording
from mptcplab.report.chosen import representative
from mptcplab.report.text import printable

MOST_ENTRIES = 400
"""More are left to the table of flow entries."""
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class FlowEntry:
    """A flow entry over its life in the run."""

    switch: str
    table_id: int
    priority: int
    match: str
    """In words; empty: every packet."""
    instructions: str
    """In words; empty: packets are dropped."""
    start_s: float | None
    """Null: it was there when the run began."""
    end_s: float | None
    """Null: it was there at the end."""
    ended: str | None
    """As in the table ``flow_entries``."""
    packets: int
    bytes: int


@dataclass(frozen=True)
class FlowEntries:
    """The flow entries of a run, by their starts."""

    entries: tuple[FlowEntry, ...] = ()
    left_out: int = 0
    """Entries that are not there."""


def flow_entries(recording: Recording) -> FlowEntries:
    """The flow entries of the switches of a run.

    Raises:
        RecordingError: the table is damaged.

    """
    frame = recording.frame("flow_entries")
    order = ["start_ns", "switch", "table_id", "priority", "match"]
    descending = [False, False, False, True, False]
    rows = frame.sort(order, descending=descending, nulls_last=False, maintain_order=True)
    shown = tuple(
        FlowEntry(
            switch=printable(row["switch"]),
            table_id=row["table_id"],
            priority=row["priority"],
            match=printable(row["match"] or ""),
            instructions=printable(row["instructions"] or ""),
            start_s=_seconds(row["start_ns"]),
            end_s=_seconds(row["end_ns"]),
            ended=None if row["ended"] is None else printable(row["ended"]),
            packets=row["packets"],
            bytes=row["bytes"],
        )
        for row in rows.head(MOST_ENTRIES).iter_rows(named=True)
    )
    not_recorded = recording.manifest.emulator.get("flow_entries_left_out")
    unknown = not_recorded if isinstance(not_recorded, int) else 0
    return FlowEntries(shown, len(rows) - len(shown) + unknown)


def entries_of_variant(variant: VariantMetrics) -> FlowEntries:
    """The flow entries in the repetition that represents a variant; none without one.

    Raises:
        RecordingError: the table is damaged.

    """
    run = representative(variant)
    return FlowEntries() if run is None else flow_entries(run.recording)


def _seconds(t_ns: int | None) -> float | None:
    return None if t_ns is None else t_ns / _SECOND_NS
