"""Addresses left out of what is given away: each one is replaced by a number of its own."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

_LIKE_ONE = re.compile(r"(?<![\w.:])[0-9A-Fa-f:.]*[:.][0-9A-Fa-f:.]*(?:%[\w.-]*\w)?")
"""Letters that may be an address, with the name of its zone, a port behind it, or a stop."""
_PORT = re.compile(r":[0-9]{1,5}$")


def without_addresses(value: Any, known: dict[str, str] | None = None) -> Any:
    """A value as JSON with `address 1` in the place of the first address in its texts, and so on.

    Keys stay. The same address has the same number throughout; also in other values, of which
    `known` has the addresses, and gets these.
    """
    known = {} if known is None else known
    if isinstance(value, dict):
        return {key: without_addresses(one, known) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_addresses(one, known) for one in value]
    if isinstance(value, str):
        return _LIKE_ONE.sub(lambda found: _replaced(found[0], known), value)
    return value


def _replaced(text: str, known: dict[str, str]) -> str:
    for end in _ends(text):
        address = text[:end]
        if _is_address(address):
            name = known.setdefault(address, f"address {len(known) + 1}")
            return name + text[end:]
    return text


def _ends(text: str) -> list[int]:
    """Lengths of the address in it: all, all but stops, all but a port."""
    plain = text.rstrip(".:")
    port = _PORT.search(plain)
    return [len(text), len(plain), *([] if port is None else [port.start()])]


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
