"""`doctor`: the options."""

from __future__ import annotations

from mptcplab.cli.commands.common import Json


def doctor(json: Json = False) -> None:
    """Tell what this machine and kernel can do, and what to do about the rest."""
    from mptcplab.cli.doctor import examine

    examine(as_json=json)
