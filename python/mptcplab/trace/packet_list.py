"""The packets of connections as a list, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mptcplab.trace import words
from mptcplab.trace.views import View
from mptcplab.trace.words import moment, place_words

COLUMNS = (
    "connection",
    "subflow",
    "from",
    "t_ns",
    "frame",
    "flags",
    "kind",
    "sequence",
    "acknowledgement",
    "raw_acknowledgement",
    "payload_bytes",
    "window_bytes",
    "raw_window",
    "rtt_ns",
    "layers",
    "ecn",
    "ts_value",
    "ts_echo",
    "mss",
    "window_shift",
    "sack",
    "mptcp",
    "data_sequence",
    "data_acknowledgement",
    "reinjected_bytes",
    "reinjected_from",
    "data_rtt_ns",
)
"""Columns of `packets` that are read."""
FLAGS = {
    "S": "SYN",
    "F": "FIN",
    "R": "RST",
    "P": "PSH",
    "A": "ACK",
    "U": "URG",
    "E": "ECE",
    "C": "CWR",
}
"""Names of the control bits, in the order in which they are listed."""
KINDS = {
    "fast_retransmission": "fast retransmission",
    "timeout_retransmission": "retransmission by timeout",
    "out_of_order": "out of order",
    "keep_alive": "keep-alive",
    "window_probe": "window probe",
    "not_acceptable": "not acceptable to its receiver",
    "duplicate": "seen on another interface before",
}
"""Descriptions of the kinds of packets that are no usual ones."""


def packet_lines(view: View) -> Iterator[str]:
    """Returns a line a packet, in the order of time: subflow, sender, flags, numbers, options.

    Sequence and acknowledgement numbers are relative on their subflow, data sequence numbers (DSN)
    and data acknowledgements (DACK) relative in the connection. Where the capture holds only one
    connection its number is left out.
    """
    alone = view.trace.connections.height == 1
    for row in view.packets.select(COLUMNS).collect().iter_rows(named=True):
        yield _line(row, view.origin_ns, alone=alone)


def _line(row: Mapping[str, Any], origin_ns: int, *, alone: bool) -> str:
    place = place_words(row["connection"], row["subflow"], alone=alone)
    told = f"{decoded(row)}  (frame {row['frame']})"
    return f"{moment(row['t_ns'], origin_ns):>12}  {place}  {row['from']:6}  {told}"


def decoded(row: Mapping[str, Any]) -> str:
    """Returns flags, numbers, options and notes of a packet, which is a row of `COLUMNS`."""
    told = [flags(row["flags"]), *_numbers(row), *_options(row)]
    if notes := ", ".join(_notes(row)):
        told.append(f"[{notes}]")
    return "  ".join(told)


def flags(letters: str) -> str:
    """Returns the names of control bits: `SYN,ACK` for `AS`."""
    return ",".join(name for letter, name in FLAGS.items() if letter in letters) or "no flags"


def _numbers(row: Mapping[str, Any]) -> Iterator[str]:
    size = row["payload_bytes"]
    yield f"seq {_range(row['sequence'], size)}"
    if "A" in row["flags"]:
        yield f"ack {_known(row['acknowledgement'])}"
    window = row["window_bytes"]
    yield f"win {window}" if window is not None else f"win {row['raw_window']} unscaled"
    if row["data_sequence"] is not None:
        yield f"DSN {_range(row['data_sequence'], size)}"
    if row["data_acknowledgement"] is not None:
        yield f"DACK {row['data_acknowledgement']}"


def _range(first: int | None, size: int) -> str:
    """Returns the first number and the one behind the last: `1:1401 (1400)`."""
    if first is None:
        return f"unknown ({size})" if size else "unknown"
    return f"{first}:{first + size} ({size})" if size else str(first)


def _options(row: Mapping[str, Any]) -> Iterator[str]:
    if row["mss"] is not None:
        yield f"MSS {row['mss']}"
    if row["window_shift"] is not None:
        yield f"window scale {row['window_shift']}"
    if row["ts_value"] is not None:
        yield f"TSval {row['ts_value']} TSecr {row['ts_echo']}"
    if row["sack"] is not None:
        yield f"SACK {' '.join(sack_blocks(row))}"
    if row["mptcp"] is not None:
        yield row["mptcp"]


def sack_blocks(row: Mapping[str, Any]) -> Iterator[str]:
    """Returns the SACK blocks of a packet in numbers that are relative as its acknowledgement is.

    Where that is not known, they stand as in the packet.
    """
    relative, raw = row["acknowledgement"], row["raw_acknowledgement"]
    for block in row["sack"].split(","):
        edges = [int(edge) for edge in block.split("-")]
        if relative is not None and raw is not None:
            edges = [relative + (edge - raw + 2**31) % 2**32 - 2**31 for edge in edges]
        yield ":".join(str(edge) for edge in edges)


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    if row["kind"] in KINDS:
        yield KINDS[row["kind"]]
    if row["reinjected_bytes"]:
        source = row["reinjected_from"]
        of = "" if source is None else f" of subflow {source}"
        yield f"{row['reinjected_bytes']} bytes{of} reinjected"
    if row["ecn"] == ECN_MARKED:
        yield "CE"
    if row["rtt_ns"] is not None:
        yield f"RTT {words.length(row['rtt_ns'])}"
    if row["data_rtt_ns"] is not None:
        yield f"data RTT {words.length(row['data_rtt_ns'])}"
    if row["layers"] is not None:
        yield f"within {row['layers']}"


ECN_MARKED = 3
"""Congestion experienced (RFC 3168)."""


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)
