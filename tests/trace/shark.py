"""The TCP segments of a capture as tshark shows them, under the names of our tables."""

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.trace.spelled import data_checksum, spell

Row = dict[str, Any]
_TCP_FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "ip.len",
    "ipv6.plen",
    "ip.id",
    "ip.dsfield.ecn",
    "ipv6.tclass.ecn",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.stream",
    "tcp.flags",
    "tcp.seq",
    "tcp.seq_raw",
    "tcp.ack",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.window_size",
    "tcp.window_size_scalefactor",
    "tcp.options",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.options.sack.dsack_le",
    "tcp.options.sack.dsack_re",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.analysis.acks_frame",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.bytes_in_flight",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.keep_alive",
    "tcp.analysis.keep_alive_ack",
    "tcp.analysis.zero_window",
    "tcp.analysis.zero_window_probe",
    "tcp.analysis.zero_window_probe_ack",
    "tcp.analysis.window_full",
    "tcp.analysis.window_update",
    "mptcp.stream",
    "mptcp.master",
    "mptcp.expected_token",
    "mptcp.expected_idsn",
    "mptcp.dsn",
    "mptcp.ack",
    "mptcp.rawdsn64",
    "mptcp.dss.dsn",
    "mptcp.related_mapping",
    "mptcp.reinjection_of",
    "mptcp.reinjected_in",
    "mptcp.dss.infinite_mapping",
    "mptcp.dss.missing_mapping",
    "_ws.malformed",
    "_ws.expert.severity",
    "ip.checksum.status",
    "tcp.checksum.status",
)
_OPTION_FIELDS = (
    "subtype",
    "version",
    "flags",
    "checksumreq.flags",
    "extensibility.flag",
    "nomoresubflows.flag",
    "sha1.flag",
    "sha256.flag",
    "sendkey",
    "recvkey",
    "backup.flag",
    "addrid",
    "recvtok",
    "sendrand",
    "sendtrunchmac",
    "sendhmac",
    "datafin.flag",
    "dseqn8.flag",
    "dseqnpresent.flag",
    "dataack8.flag",
    "dataackpresent.flag",
    "rawdataack",
    "rawdataseqno",
    "subflowseqno",
    "datalvllen",
    "checksum",
    "ipver",
    "echo",
    "ipv4",
    "ipv6",
    "port",
    "addaddrtrunchmac",
    "flag_T.flag",
    "rst_reason",
)
_PREFERENCES = (
    "mptcp.analyze_mappings:TRUE",
    "mptcp.intersubflows_retransmission:TRUE",
    "ip.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
)
_ERROR, _GOOD = 0x800000, 1
_FLAGS = (
    (0x80, "C"),
    (0x40, "E"),
    (0x20, "U"),
    (0x10, "A"),
    (8, "P"),
    (4, "R"),
    (2, "S"),
    (1, "F"),
)
_MARK = "\x1f"
"""Between several values of a field: not in any of them."""


@cache
def tshark_missing() -> str | None:
    """Why there is nothing to compare with; null if there is."""
    try:
        subprocess.run(["tshark", "--version"], capture_output=True, check=True)
    except FileNotFoundError:
        return "this machine has no tshark"
    return None


def read(capture: Path, *, two_passes: bool = False) -> list[Row]:
    """The TCP segments of a capture, in the order of its frames."""
    names = [*_TCP_FIELDS, *(f"tcp.options.mptcp.{name}" for name in _OPTION_FIELDS)]
    words = ["tshark", *(["-2"] if two_passes else []), "-n", "-r", str(capture), "-Y", "tcp"]
    for preference in _PREFERENCES:
        words += ["-o", preference]
    words += ["-T", "fields", "-E", f"aggregator={_MARK}", "-E", "occurrence=a"]
    for name in names:
        words += ["-e", name]
    # Its dissectors run to the end of the capture without asking for a name or a country.
    done = subprocess.run(words, capture_output=True, check=True, env=os.environ | {"LC_ALL": "C"})
    lines = done.stdout.decode().split("\n")[:-1]
    return [_row(dict(zip(names, line.split("\t"), strict=True))) for line in lines]


def _row(fields: dict[str, str]) -> Row:
    def text(name: str) -> str | None:
        return fields[name] or None

    def number(name: str) -> int | None:
        return int(fields[name].split(_MARK)[0], 0) if fields[name] else None

    def numbers(name: str) -> list[int]:
        return [int(value, 0) for value in fields[name].split(_MARK)] if fields[name] else []

    def marked(name: str) -> bool:
        return bool(fields[f"tcp.analysis.{name}"])

    bits = number("tcp.flags") or 0
    version_4 = bool(fields["ip.src"])
    acknowledges = bool(bits & 0x10)
    options = {name: fields[f"tcp.options.mptcp.{name}"] for name in _OPTION_FIELDS}
    split = {name: value.split(_MARK) if value else [] for name, value in options.items()}
    return {
        "frame": number("frame.number"),
        "t_ns": _nanoseconds(fields["frame.time_epoch"]),
        "source": f"{fields['ip.src'] or fields['ipv6.src']} {fields['tcp.srcport']}",
        "destination": f"{fields['ip.dst'] or fields['ipv6.dst']} {fields['tcp.dstport']}",
        "stream": number("tcp.stream"),
        "flags": "".join(letter for bit, letter in _FLAGS if bits & bit),
        "sequence": number("tcp.seq"),
        "raw_sequence": number("tcp.seq_raw"),
        "acknowledgement": number("tcp.ack") if acknowledges else None,
        "raw_acknowledgement": number("tcp.ack_raw") if acknowledges else None,
        "payload_bytes": number("tcp.len"),
        "packet_bytes": number("ip.len") if version_4 else (number("ipv6.plen") or 0) + 40,
        "identification": number("ip.id"),
        "ecn": number("ip.dsfield.ecn" if version_4 else "ipv6.tclass.ecn"),
        "window": number("tcp.window_size"),
        "window_scale": number("tcp.window_size_scalefactor"),
        "mss": number("tcp.options.mss_val"),
        "window_shift": number("tcp.options.wscale.shift"),
        "sack": list(
            zip(numbers("tcp.options.sack_le"), numbers("tcp.options.sack_re"), strict=True)
        ),
        "dsack": list(
            zip(
                numbers("tcp.options.sack.dsack_le"),
                numbers("tcp.options.sack.dsack_re"),
                strict=True,
            )
        ),
        "ts_value": number("tcp.options.timestamp.tsval"),
        "ts_echo": number("tcp.options.timestamp.tsecr"),
        "mptcp": spell(split),
        "data_checksum": data_checksum(bytes.fromhex(fields["tcp.options"].replace(":", ""))),
        "acks_frame": number("tcp.analysis.acks_frame"),
        "ack_rtt_ns": _nanoseconds(fields["tcp.analysis.ack_rtt"]),
        "bytes_in_flight": number("tcp.analysis.bytes_in_flight"),
        "analysis": {
            name.removeprefix("tcp.analysis.")
            for name in _TCP_FIELDS
            if name.startswith("tcp.analysis.")
            and name.split(".")[-1] not in {"acks_frame", "ack_rtt", "bytes_in_flight"}
            and marked(name.removeprefix("tcp.analysis."))
        },
        "mptcp_stream": number("mptcp.stream"),
        "master": text("mptcp.master"),
        "expected_token": number("mptcp.expected_token"),
        "expected_idsn": number("mptcp.expected_idsn"),
        "data_sequence": numbers("mptcp.dsn"),
        "data_acknowledgement": number("mptcp.ack"),
        "mapping_sequence": number("mptcp.dss.dsn"),
        "related_mapping": numbers("mptcp.related_mapping"),
        "reinjection_of": numbers("mptcp.reinjection_of"),
        "reinjected_in": numbers("mptcp.reinjected_in"),
        "infinite_mapping": bool(fields["mptcp.dss.infinite_mapping"]),
        "missing_mapping": bool(fields["mptcp.dss.missing_mapping"]),
        "faulty": bool(fields["_ws.malformed"]) or _ERROR in numbers("_ws.expert.severity"),
        "checksums_good": number("ip.checksum.status") in {None, _GOOD}
        and number("tcp.checksum.status") == _GOOD,
    }


def _nanoseconds(text: str) -> int | None:
    if not text:
        return None
    seconds, _, rest = text.partition(".")
    return int(seconds) * 1_000_000_000 + int(rest.ljust(9, "0")[:9])


def streams(rows: list[Row]) -> Iterator[tuple[int, list[Row]]]:
    """The rows of each TCP connection (`tcp.stream`) in turn."""
    for stream in sorted({row["stream"] for row in rows}):
        yield stream, [row for row in rows if row["stream"] == stream]
