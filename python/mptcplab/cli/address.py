"""Options that are an address of TCP."""

from __future__ import annotations

import re
from contextlib import suppress
from ipaddress import ip_address

from mptcplab.cli.errors import UserError

_ADDRESS = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<v4>[^:\[\]]+)):(?P<port>[0-9]{1,5})")


def address(option: str, text: str, example_port: int) -> tuple[str, int]:
    """The IP address and the port of `127.0.0.1:8080` or `[::1]:8080`.

    Raises:
        UserError: the text is none; names the option, and an example with the port.

    """
    if "%" in text:
        raise UserError(f"{option} {text}: give an address that needs no interface (%)")
    found = _ADDRESS.fullmatch(text)
    with suppress(ValueError):
        if found is not None and int(found["port"]) < 1 << 16:
            host = ip_address(found["v6"] or found["v4"])
            if (host.version == 6) == (found["v6"] is not None):
                return str(host), int(found["port"])
    told = text or "''"
    raise UserError(
        f"{option} {told}: write an address and a port, such as 127.0.0.1:{example_port} or "
        f"[::]:{example_port}"
    )
