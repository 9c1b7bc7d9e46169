"""Plans that are simulated without a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mptcplab._native import simulate


def transfer_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the only transfer of a plan."""
    transfers: list[dict[str, Any]] = []

    def take(chunk: bytes) -> bool:
        transfers.extend(
            json.loads(line)
            for line in chunk.splitlines()
            if line.startswith(b'{"record":"transfers"')
        )
        return True

    simulate(json.dumps(plan), take)
    (transfer,) = transfers
    return transfer
