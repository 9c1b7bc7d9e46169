"""Sentences and table cells that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from mptcplab.report.numbers import UNKNOWN, number
from mptcplab.trace import many_subflows, words
from mptcplab.trace.capture import Capture
from mptcplab.trace.figures import ENDS
from mptcplab.trace.views import View


def read_lines(capture: Capture) -> Iterable[tuple[str, bool]]:
    """Returns the same as texts; with each, whether it is a warning."""
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
    if capture.unknown_link_types:
        yield f"Link types that are not known: {_counted(capture.unknown_link_types)}.", True
    if capture.layers:
        yield f"Within tags and tunnels: {_counted(capture.layers)}.", False
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
    by_words = {reason.replace("_", " "): count for reason, count in reasons.items()}
    return f"; left out: {_counted(by_words)}"


def _counted(counts: Mapping[str, int]) -> str:
    """Returns the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{words.count(count)} {what}" for what, count in ordered)


def range_words(view: View) -> str:
    """Returns the effect of a range of time on the figures."""
    begin = words.seconds(view.span.from_ns) if view.span.from_ns is not None else "the beginning"
    end = words.seconds(view.span.to_ns) if view.span.to_ns is not None else "the end"
    return (
        f"From {begin} to {end} (s): connections with a packet in this time, and its events. "
        "Totals are those of whole connections."
    )


def largest_first(connections: pl.DataFrame) -> pl.DataFrame:
    """Returns the connections by the data that both ends sent."""
    return connections.sort(
        pl.col("client_bytes") + pl.col("server_bytes"), "connection", descending=[True, False]
    )


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
    """Returns a connection in a list of many, in cells."""
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


def facts(view: View, row: Mapping[str, Any]) -> Iterable[str]:
    """Returns the description of a connection as a whole."""
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
            f"{verified(row)}"
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


def verified(row: Mapping[str, Any]) -> str:
    """Returns how many data checksums were verified, where there are any; with the comma before."""
    if not row["checksums"]:
        return ""
    count = sum(row[f"{end}_checksums_verified"] for end in ENDS)
    if not count:
        return ", none verified"
    wrong = sum(row[f"{end}_checksums_wrong"] for end in ENDS)
    return f", {words.count(count)} verified, {words.count(wrong)} wrong"


def directions(view: View, row: Mapping[str, Any]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Returns the data of each end: heads of the columns, and rows that begin with one."""
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
    """Returns the least, mean and largest of a measured time, in ms."""
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


def opened(view: View, row: Mapping[str, Any]) -> Sequence[str]:
    """Returns how a subflow came about and ended, in cells."""
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
    "pipe\nat most",
    "longest\ngap",
)


def carried(row: Mapping[str, Any], end: str) -> Sequence[str]:
    """Returns the data of one end over a subflow, in cells."""
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
        words.size(row[f"{end}_pipe_max_bytes"]),
        words.length(row[f"{end}_idle_max_ns"]),
    )


def handover_lines(view: View, connection: int, *, every: bool = False) -> Iterable[str]:
    """Returns a sentence for each time that traffic moved, for the first fifty unless `every`."""
    handovers = view.handovers.filter(connection=connection)
    told = handovers if every else handovers.head(many_subflows.SHOWN)
    for row in told.iter_rows(named=True):
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
    if handovers.height > told.height:
        yield f"{words.count(handovers.height - told.height)} more moves are left out: --all."


def percent(share: float | None) -> str:
    """Returns a part of 1 in percent, without the sign."""
    return number(None if share is None else 100 * share)


def _known(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)
