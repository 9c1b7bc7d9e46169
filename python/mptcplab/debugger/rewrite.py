"""Changes of packets in words, read for the simulator.

FIELD = NUMBER, FIELD += NUMBER, FIELD -= NUMBER      such as seq += 1000, dss.checksum = 0x1f
flags = SYN|ACK, flags += FIN, flags -= PSH
add_addr.address = ADDRESS
without OPTION                                        such as without mp_join
payload = HEX, payload[PLACE] = HEX                   such as payload[0] = ff00
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from mptcplab.debugger.problem import DebugError
from mptcplab.scenario.problem import did_you_mean

_FLAGS = {"FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128}
_OPTIONS = (
    "mss", "window_scale", "sack_permitted", "sack", "timestamps", "mp_capable", "mp_join", "dss",
    "add_addr", "remove_addr", "mp_prio", "mp_fail", "mp_fastclose", "mp_tcprst",
)  # fmt: skip
_CHANGE = re.compile(r"([a-z_.]+)(?:\[(\d{1,9})\])?\s*(=|\+=|-=)\s*(\S+)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,16}|\d{1,20}", re.ASCII)
_KINDS = {"=": "set", "+=": "add", "-=": "subtract"}
_MOST = (1 << 64) - 1


def parse_edit(text: str) -> dict[str, Any]:
    """Reads one change.

    Raises:
        DebugError: it cannot be read.

    """
    word, _, rest = text.strip().partition(" ")
    if word == "without":
        if rest.strip() not in _OPTIONS:
            hint = did_you_mean(rest.strip(), list(_OPTIONS))
            raise DebugError(f"'{text.strip()}': no option can be taken out by this name: {hint}")
        return {"without": rest.strip()}
    found = _CHANGE.fullmatch(text.strip())
    if found is None:
        raise DebugError(f"'{text.strip()}': write seq += 1000, or without mp_join, say")
    field, place, sign, right = found.groups()
    if field == "payload":
        return _payload(text.strip(), place, sign, right)
    if place is not None:
        raise DebugError(f"'{text.strip()}': only payload has places")
    if field == "flags":
        return _flags(text.strip(), sign, right)
    if field == "add_addr.address":
        return _address(text.strip(), sign, right)
    if _NUMBER.fullmatch(right) is None or int(right, 0) > _MOST:
        raise DebugError(f"'{text.strip()}': {right} is no number of at most 64 bits")
    return {_KINDS[sign]: {"field": field, "value": int(right, 0)}}


def _flags(text: str, sign: str, right: str) -> dict[str, Any]:
    bits = 0
    for name in right.split("|"):
        if name not in _FLAGS:
            raise DebugError(f"'{text}': {did_you_mean(name, list(_FLAGS))}")
        bits |= _FLAGS[name]
    match sign:
        case "=":
            return {"flags": {"set": bits, "clear": 0xFF}}
        case "+=":
            return {"flags": {"set": bits, "clear": 0}}
    return {"flags": {"set": 0, "clear": bits}}


def _address(text: str, sign: str, right: str) -> dict[str, Any]:
    try:
        address = ipaddress.ip_address(right)
    except ValueError:
        raise DebugError(f"'{text}': {right} is no address") from None
    if sign != "=":
        raise DebugError(f"'{text}': write add_addr.address = ADDRESS")
    return {"address": str(address)}


def _payload(text: str, place: str | None, sign: str, right: str) -> dict[str, Any]:
    if sign != "=" or re.fullmatch(r"(?:[0-9a-fA-F]{2})+", right) is None:
        raise DebugError(f"'{text}': write payload[0] = ff00, bytes as pairs of hexadecimal digits")
    at = None if place is None else int(place)
    return {"payload": {"at": at, "bytes": list(bytes.fromhex(right))}}
