"""Troubles of agents, told by a webhook while the server runs."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from dataclasses import dataclass
from functools import partial

from mptcplab.server.alerts import Change, Rules, changes
from mptcplab.server.store import alerts
from mptcplab.server.store.database import Connection, StoreUnavailableError
from mptcplab.server.web.call import Backend
from mptcplab.server.webhook import Webhook, WebhookError

EVERY_S = 30.0
LONGEST_S = 3_600.0
MOST_TOGETHER = 100
"""Changes in one POST; the others come with the next."""


@dataclass(frozen=True)
class Alerting:
    """The receiver of alerts, and the rules by which there are any."""

    webhook: Webhook
    rules: Rules


async def alert_always(backend: Backend, alerting: Alerting) -> None:
    """Tells what has changed, now and then. What was not taken is told later, as it is then."""
    pause_s = EVERY_S
    problem = None
    while True:
        try:
            while await _tell(backend, alerting):
                pass
            pause_s, problem = EVERY_S, None
        except (WebhookError, StoreUnavailableError, sqlite3.OperationalError) as error:
            # Doubled each time, so that one that is broken is left alone.
            pause_s = min(pause_s * 2, LONGEST_S)
            if problem != str(error):
                problem = str(error)
                logging.getLogger(__name__).error("the webhook is tried again: %s", problem)
        await asyncio.sleep(pause_s)


async def _tell(backend: Backend, alerting: Alerting) -> bool:
    """Tells some changes; whether there may be more."""
    now_ms = backend.now_ms()

    def ask(connection: Connection) -> list[Change]:
        told = alerts.told(connection)
        return changes(alerts.fleet(connection), told, alerting.rules, now_ms)

    found = (await backend.ask(ask))[:MOST_TOGETHER]
    if not found:
        return False
    events = [one.as_dict() for one in found]
    body = json.dumps({"server": backend.url, "at_unix_ms": now_ms, "events": events}).encode()
    # Not by a thread of those that answer agents: it may wait for long.
    await asyncio.to_thread(alerting.webhook.post, body)
    await backend.change(partial(alerts.tell, changes=found, now_ms=now_ms))
    return len(found) == MOST_TOGETHER
