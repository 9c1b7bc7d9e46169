"""Values of an analysis as words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mptcplab.report.numbers import UNKNOWN, number

_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_ENDINGS = {
    "data_fin": "DATA_FIN",
    "fin": "FIN",
    "fast_close": "MP_FASTCLOSE",
    "reset": "RST",
    "open": "open",
    "silent": "silent",
}
_OTHER = {"client": "server", "server": "client"}


def size(value: int | None) -> str:
    """Bytes with a prefix: `12.3 MB`."""
    if value is None:
        return UNKNOWN
    for least, unit in _SIZES:
        if value >= least:
            return f"{number(value / least)} {unit}"
    return f"{value} B"


def length(value_ns: int | float | None) -> str:
    """Returns a length of time with its unit: `12.3 ms`."""
    if value_ns is None:
        return UNKNOWN
    for least, unit in _TIMES:
        if abs(value_ns) >= least:
            return f"{number(value_ns / least)} {unit}"
    return f"{value_ns:.0f} ns"


def milliseconds(value_ns: int | float | None) -> str:
    """Returns a length of time in milliseconds, without the unit."""
    return UNKNOWN if value_ns is None else number(value_ns / 1e6)


def moment(t_ns: int | None, origin_ns: int) -> str:
    """Returns a time after the first packet, in seconds to the microsecond."""
    return UNKNOWN if t_ns is None else f"{(t_ns - origin_ns) / 1e9:.6f}".replace("-", "−")


def seconds(t_ns: int | None, origin_ns: int = 0) -> str:
    """Returns a time after the first packet in seconds, to the ms, below 10 ms to the µs."""
    if t_ns is None:
        return UNKNOWN
    passed_ns = t_ns - origin_ns
    digits = 6 if 0 < abs(passed_ns) < 10_000_000 else 3
    return f"{passed_ns / 1e9:.{digits}f}".replace("-", "−")


def count(value: int) -> str:
    """Returns a count with thin spaces: `1 234 567`."""
    return f"{value:,}".replace(",", "\u202f")


def endpoint(address: str, port: int) -> str:
    """`10.0.1.2:40000`, `[2001:db8::2]:443`."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def ends(row: Mapping[str, Any]) -> str:
    """Returns both ends of a connection or subflow, the client first."""
    client = endpoint(row["client_address"], row["client_port"])
    return f"{client} → {endpoint(row['server_address'], row['server_port'])}"


def direction(sender: str) -> str:
    """`server → client`."""
    return f"{sender} → {_OTHER[sender]}"


def protocol(row: Mapping[str, Any]) -> str:
    """`MPTCP v1`, `TCP`, and whether the connection fell back."""
    if row["protocol"] == "tcp":
        return "TCP" if row["fallback"] is None else "TCP, not MPTCP as asked for"
    version = "" if row["version"] is None else f" v{row['version']}"
    fallen = ", fell back to TCP" if row["fallback"] is not None else ""
    return f"MPTCP{version}{fallen}"


def ending(value: str, reset_reason: int | None = None) -> str:
    """Returns how it ended; a reason of MP_TCPRST unless it is 0, unspecified."""
    words = _ENDINGS.get(value, value)
    return f"{words} (reason {reset_reason})" if reset_reason else words


def origin(row: Mapping[str, Any]) -> str:
    """Returns how a subflow came about."""
    words = "initial" if row["origin"] == "initial" else f"join by {row['opener']}"
    if row["announced"]:
        words += ", announced"
    if row["inferred"]:
        words += ", inferred"
    if row["hmac_valid"] is False:
        words += ", HMAC wrong"
    return words


def backup(row: Mapping[str, Any]) -> str:
    """Returns the ends that set the backup flag of the subflow."""
    asking = [end for end in ("client", "server") if row[f"{end}_backup"]]
    return {0: "no", 1: f"by {asking[0]}" if asking else "", 2: "by both"}[len(asking)]


def token(value: int | None) -> str:
    """Returns a token as other tools show it."""
    return UNKNOWN if value is None else f"0x{value:08x}"


def key(value: int | None) -> str | None:
    """Returns a key or data sequence number of 64 bits in hexadecimal."""
    return None if value is None else f"0x{value:016x}"


def place_words(connection: int, subflow: int | None, *, alone: bool) -> str:
    """Returns connection and subflow; of a connection that is `alone` in its capture the latter."""
    own = "" if subflow is None else f"subflow {subflow}"
    return own if alone else f"connection {connection} {own}".rstrip()
