"""The summary for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from mptcplab.report.numbers import UNKNOWN, number
from mptcplab.trace import words
from mptcplab.trace.capture import Capture
from mptcplab.trace.figures import ENDS
from mptcplab.trace.grid import columns, divided, spaced, titled
from mptcplab.trace.views import View

if TYPE_CHECKING:
    from mptcplab.trace.pairing import Pair

AT_LENGTH = 5
"""With more connections than this, they are listed in one table."""
LISTED = 20
"""Connections of this table."""


def to_terminal(
    view: View,
    console: Console,
    *,
    every: bool = False,
    statistics: bool = False,
    pair: Pair | None = None,
) -> None:
    """Prints what was read, and the connections: at length, or with many of them in one table.

    `every` leaves none out. `statistics` adds the tables of addresses, courses and round trips,
    `pair` what the captures of both ends tell together.
    """
    for line in reading(view.trace.capture):
        console.print(line)
    if view.span:
        console.print(Text(range_words(view)))
    if pair is not None:
        from mptcplab.trace.pair_words import clock_lines

        for sentence in clock_lines(pair):
            console.print(Text(sentence))
    ordered = largest_first(view.connections)
    if ordered.is_empty():
        console.print(Text(_nothing(view)))
    elif ordered.height > AT_LENGTH:
        shown = ordered if every else ordered.head(LISTED)
        for table in connection_tables(view, shown, console):
            console.print(table)
        for line in _left_out(ordered.height, every=every):
            console.print(Text(line, style="dim"))
    else:
        for row in view.connections.iter_rows(named=True):
            console.print(Padding(Group(*_connection(view, row, console)), (1, 0, 0, 0)))
            if statistics:
                from mptcplab.trace.terminal_statistics import statistics_tables

                console.print(Group(*statistics_tables(view, row["connection"], console)))
            if pair is not None:
                console.print(Group(*_both_ends(pair, row["connection"], console)))


def reading(capture: Capture) -> Iterable[RenderableType]:
    """What was read, file by file, and what is wrong with it."""
    for line, warns in read_lines(capture):
        yield Text(line, style="bold yellow" if warns else "")


def read_lines(capture: Capture) -> Iterable[tuple[str, bool]]:
    """The same as texts; with each, whether it is a warning."""
    for file in capture.files:
        packed = "" if file.compression is None else f", {file.compression}"
        span = ""
        if file.first_ns is not None and file.last_ns is not None:
            span = f" in {words.length(file.last_ns - file.first_ns)}"
        yield (
            f"{file.path} ({file.format}{packed}, {words.size(file.bytes)}): "
            f"{words.count(file.frames)} frames{span}",
            False,
        )
        if file.damage is not None:
            yield (
                f"Damaged at {file.damage.place}: {file.damage.message}. "
                "What stands before is analysed.",
                True,
            )
    yield f"{words.count(capture.segments)} segments of TCP{_skipped(capture.skipped)}", False
    if capture.duplicates:
        yield (
            f"{words.count(capture.duplicates)} packets were seen on several interfaces; each "
            "counts once.",
            False,
        )
    if capture.interrupted:
        yield "Partial: reading was interrupted.", True


def _skipped(reasons: Mapping[str, int]) -> str:
    if not reasons:
        return ""
    parts = [
        f"{words.count(count)} {reason.replace('_', ' ')}"
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1])
    ]
    return f"; left out: {', '.join(parts)}"


def range_words(view: View) -> str:
    """What a range of time means for the figures."""
    begin = words.seconds(view.span.from_ns) if view.span.from_ns is not None else "the beginning"
    end = words.seconds(view.span.to_ns) if view.span.to_ns is not None else "the end"
    return (
        f"From {begin} to {end} (s): connections with a packet in this time, and its events. "
        "Totals are those of whole connections."
    )


def _nothing(view: View) -> str:
    held = view.trace.connections.height
    if not held:
        return "No TCP connection in it."
    return f"None of the {held} connections is chosen."


def largest_first(connections: pl.DataFrame) -> pl.DataFrame:
    """The connections by the data that both ends sent."""
    return connections.sort(
        pl.col("client_bytes") + pl.col("server_bytes"), "connection", descending=[True, False]
    )


def connection_tables(
    view: View, connections: pl.DataFrame, console: Console
) -> Iterable[RenderableType]:
    """One row a connection."""
    rows = [in_list(view, row) for row in connections.iter_rows(named=True)]
    parts = divided(columns([""], rows), columns(LIST, [row[1:] for row in rows], WORDS), console)
    return spaced(parts)


LIST = (
    "protocol",
    "client → server",
    "subflows",
    "start\ns",
    "duration\ns",
    "client\nsent",
    "server\nsent",
    "goodput\nMbit/s",
    "end",
)
WORDS = ("protocol", "client → server", "came about", "ids", "backup", "end", "from")
"""Columns that hold words."""


def in_list(view: View, row: Mapping[str, Any]) -> list[str]:
    """A connection in a list of many, in cells."""
    goodput = [row[f"{end}_goodput_mbps"] for end in ENDS]
    return [
        str(row["connection"]),
        words.protocol(row),
        words.ends(row),
        str(row["subflows"]),
        words.seconds(row["start_ns"], view.origin_ns),
        words.seconds(row["duration_ns"]),
        *(words.size(row[f"{end}_bytes"]) for end in ENDS),
        number(max((rate for rate in goodput if rate is not None), default=None)),
        words.ending(row["end"]),
    ]


def _left_out(held: int, *, every: bool) -> Iterable[str]:
    if held > LISTED and not every:
        yield f"The {LISTED} largest; {held - LISTED} are left out: --all shows them."
    yield "--connection N shows one at length."


def _connection(view: View, row: Mapping[str, Any], console: Console) -> Iterable[RenderableType]:
    head = f"Connection {row['connection']}"
    yield Text.assemble((head, "bold"), f"  {words.protocol(row)}  {words.ends(row)}")
    for line in facts(view, row):
        yield Text(f"  {line}")
    yield from _directions(view, row, console)
    subflows = view.subflows.filter(connection=row["connection"])
    yield from _opened(view, subflows, console)
    yield from _carried(subflows, console)
    moved = list(handover_lines(view, row["connection"]))
    yield from (Text(line) for line in (["", *moved] if moved else []))


def facts(view: View, row: Mapping[str, Any]) -> Iterable[str]:
    """What there is to say of a connection as a whole."""
    start = words.seconds(row["start_ns"], view.origin_ns)
    yield (
        f"from {start} s on for {words.length(row['duration_ns'])}, "
        f"{words.count(row['packets'])} packets; end: {words.ending(row['end'])}"
    )
    if row["inferred"]:
        yield "the handshake was not captured: told by later packets"
    if row["client_token"] is not None or row["server_token"] is not None:
        sums = {True: "data checksums", False: "no data checksums", None: "checksums unknown"}
        yield (
            f"tokens {words.token(row['client_token'])} (client), "
            f"{words.token(row['server_token'])} (server); {sums[row['checksums']]}"
        )
    if row["fallback"] is not None:
        at = words.seconds(row["fallback_ns"], view.origin_ns)
        yield f"fell back to TCP at {at} s: {row['fallback'].replace('_', ' ')}"
    for end in ENDS:
        if row[f"{end}_data_fin_ns"] is not None:
            sent = words.seconds(row[f"{end}_data_fin_ns"], view.origin_ns)
            taken = row[f"{end}_data_fin_acknowledged_ns"]
            answer = (
                "never acknowledged"
                if taken is None
                else f"acknowledged at {words.seconds(taken, view.origin_ns)} s"
            )
            yield f"DATA_FIN of the {end} at {sent} s, {answer}"


def _directions(view: View, row: Mapping[str, Any], console: Console) -> Iterable[RenderableType]:
    head, rows = directions(view, row)
    if not rows:
        yield Text("  neither end sent data")
        return
    keys = columns(["from"], [cells[:1] for cells in rows], WORDS)
    yield from spaced(divided(keys, columns(head, [cells[1:] for cells in rows]), console))


def directions(view: View, row: Mapping[str, Any]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """What each end sent at the level of data: head of the columns, and rows that begin with it."""
    mptcp = row["protocol"] == "mptcp"
    head = (*DATA, *(DATA_OF_MPTCP if mptcp else ()), *SILENCE)
    rows: list[Sequence[str]] = [
        [
            end,
            *_data(row, end),
            *(_data_of_mptcp(row, end) if mptcp else ()),
            words.length(row[f"{end}_silence_ns"]),
            words.seconds(row[f"{end}_silence_at_ns"], view.origin_ns),
            words.length(row[f"{end}_recovery_ns"]),
        ]
        for end in ENDS
        if row[f"{end}_payload_bytes"]
    ]
    return head, rows


DATA = ("data", "goodput\nMbit/s", "payload")
DATA_OF_MPTCP = ("reinjected\n(won)", "late", "data RTT ms\nmin/mean/max", "window\nlimited")
SILENCE = ("longest\nsilence", "at\ns", "recovery")


def _data(row: Mapping[str, Any], end: str) -> Iterable[str]:
    yield words.size(row[f"{end}_bytes"])
    yield number(row[f"{end}_goodput_mbps"])
    yield words.size(row[f"{end}_payload_bytes"])


def _data_of_mptcp(row: Mapping[str, Any], end: str) -> Iterable[str]:
    won = words.size(row[f"{end}_reinjected_won_bytes"])
    again = row[f"{end}_reinjected_bytes"]
    yield f"{words.size(again)} ({won})" if again else "0 B"
    yield words.size(row[f"{end}_late_bytes"])
    yield spread(row, f"{end}_data_rtt")
    yield words.length(row[f"{end}_window_limited_ns"])


def spread(row: Mapping[str, Any], name: str) -> str:
    """Least, mean and largest of a measured time, in ms."""
    values = [row[f"{name}_{which}_ns"] for which in ("min", "mean", "max")]
    return UNKNOWN if values[0] is None else "/".join(words.milliseconds(v) for v in values)


OPENED = (
    "came about",
    "start\ns",
    "after the\nprevious",
    "handshake",
    "ids",
    "client → server",
    "backup",
    "end",
)


def _opened(view: View, subflows: pl.DataFrame, console: Console) -> Iterable[RenderableType]:
    rows = [opened(view, row) for row in subflows.iter_rows(named=True)]
    numbers = [[str(subflow)] for subflow in subflows["subflow"]]
    return spaced(divided(columns(["subflow"], numbers), columns(OPENED, rows, WORDS), console))


def opened(view: View, row: Mapping[str, Any]) -> Sequence[str]:
    """How a subflow came about and ended, in cells."""
    changes = row["priority_changes"]
    return (
        words.origin(row),
        words.seconds(row["start_ns"], view.origin_ns),
        words.length(row["after_previous_ns"]),
        words.length(row["handshake_rtt_ns"]),
        "/".join(_known(row[f"{end}_address_id"]) for end in ENDS),
        words.ends(row),
        words.backup(row) + (f", {changes} changes" if changes > 1 else ""),
        words.ending(row["end"], row["reset_reason"]),
    )


CARRIED = (
    "packets",
    "payload",
    "share\n%",
    "sent again: fast/\ntimeout/spurious",
    "reinjected",
    "out of\norder",
    "RTT ms\nmin/mean/max",
    "in flight\nat most",
    "longest\ngap",
)


def _carried(subflows: pl.DataFrame, console: Console) -> Iterable[RenderableType]:
    told = [
        (row, end)
        for row in subflows.iter_rows(named=True)
        for end in ENDS
        if row[f"{end}_payload_bytes"] or row[f"{end}_retransmissions"]
    ]
    if not told:
        return
    keys = [[str(row["subflow"]), end] for row, end in told]
    rows = [carried(row, end) for row, end in told]
    yield from spaced(
        divided(columns(["subflow", "from"], keys, WORDS), columns(CARRIED, rows), console)
    )


def carried(row: Mapping[str, Any], end: str) -> Sequence[str]:
    """What one end sent over a subflow, in cells."""
    again = [row[f"{end}_{why}_retransmissions"] for why in ("fast", "timeout", "spurious")]
    return (
        words.count(row[f"{end}_packets"]),
        words.size(row[f"{end}_payload_bytes"]),
        percent(row[f"{end}_share"]),
        "/".join(map(str, again)) if row[f"{end}_retransmissions"] or any(again) else "0",
        words.size(row[f"{end}_reinjected_bytes"]),
        str(row[f"{end}_out_of_order"]),
        spread(row, f"{end}_rtt"),
        words.size(row[f"{end}_in_flight_max_bytes"]),
        words.length(row[f"{end}_idle_max_ns"]),
    )


def handover_lines(view: View, connection: int) -> Iterable[str]:
    """A sentence for each time that traffic moved."""
    for row in view.handovers.filter(connection=connection).iter_rows(named=True):
        source = "" if row["from_subflow"] is None else f" from subflow {row['from_subflow']}"
        silence = (
            f"after {words.length(row['silence_ns'])} without new data"
            if row["silence_ns"]
            else "without a pause"
        )
        recovery = row["recovery_ns"]
        sustained = (
            "; not sustained again before the end"
            if recovery is None
            else f"; sustained again after {words.length(recovery)}"
            if recovery
            else ""
        )
        yield (
            f"{words.seconds(row['t_ns'], view.origin_ns)} s: the {row['from']}'s data moved"
            f"{source} to subflow {row['to_subflow']}, {silence}{sustained}"
        )


def _both_ends(pair: Pair, connection: int, console: Console) -> Iterable[RenderableType]:
    from mptcplab.trace.pair_words import pair_tables

    for title, head, rows in pair_tables(pair, connection):
        keys = columns(head[:2], [row[:2] for row in rows], WORDS)
        yield titled(title, divided(keys, columns(head[2:], [row[2:] for row in rows]), console))


def percent(share: float | None) -> str:
    """A part of 1 in percent, without the sign."""
    return number(None if share is None else 100 * share)


def _known(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)
