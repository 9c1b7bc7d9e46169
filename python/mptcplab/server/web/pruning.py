"""Results that are older than they are to be kept: forgotten while the server runs."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from mptcplab.server.store import results
from mptcplab.server.store.database import StoreUnavailableError
from mptcplab.server.web.call import Backend

_EVERY_S = 3600.0
_MOST = 200
"""In one change, so that results that arrive need not wait long."""


async def prune_always(backend: Backend, keep_s: int) -> None:
    """Forgets old results now and every hour."""
    while True:
        before_ms = backend.now_ms() - keep_s * 1_000
        try:
            while await backend.change(partial(results.prune, before_ms=before_ms, most=_MOST)):
                await asyncio.sleep(0)
        except StoreUnavailableError as error:
            logging.getLogger(__name__).error("old results are kept: %s", error)
        await asyncio.sleep(_EVERY_S)
