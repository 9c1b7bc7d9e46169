"""Plans that are simulated without a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mptcplab._native import simulate


def transfer_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the only transfer of a plan."""
    (transfer,) = transfers_of(plan)
    return transfer


def transfers_of(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of all transfers of a plan, in the order in which they end."""
    transfers: list[dict[str, Any]] = []

    def take(chunk: bytes) -> bool:
        transfers.extend(
            json.loads(line)
            for line in chunk.splitlines()
            if line.startswith(b'{"record":"transfers"')
        )
        return True

    simulate(json.dumps(plan), take)
    return transfers
