"""The webhook of `server`, by its options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.errors import UserError
from mptcplab.scenario.units import UnitError
from mptcplab.server.period import parse_period
from mptcplab.user_file import FileError, read_text

if TYPE_CHECKING:
    from mptcplab.server.web.alerting import Alerting

_LARGEST_SECRET_BYTES = 4_096


@dataclass(frozen=True)
class WebhookOptions:
    """As they were given."""

    url: str | None
    secret: Path | None
    silent: str
    benefit: float | None


def alerting(options: WebhookOptions) -> Alerting | None:
    """The alerts and their receiver; null where there is no webhook.

    Raises:
        UserError: the options contradict each other, or the address is none.

    """
    from mptcplab.server.alerts import Rules
    from mptcplab.server.web.alerting import Alerting
    from mptcplab.server.webhook import Webhook, WebhookError

    if (options.url is None) != (options.secret is None):
        raise UserError("--webhook and --webhook-secret: give both")
    if options.url is None or options.secret is None:
        if options.benefit is not None:
            raise UserError("--webhook-benefit: give --webhook, which is told of it")
        return None
    try:
        silent_s = parse_period(options.silent)
    except UnitError as error:
        raise UserError(f"--webhook-silent {options.silent}: {error}") from None
    try:
        text = read_text(options.secret, _LARGEST_SECRET_BYTES)
    except FileError as error:
        raise UserError(f"--webhook-secret {options.secret}: {error}") from None
    secret = text.partition("\n")[0].strip()
    try:
        webhook = Webhook(options.url, secret)
    except WebhookError as error:
        raise UserError(f"--webhook {ascii(options.url)[1:-1]}: {error}") from None
    return Alerting(webhook, Rules(silent_s, options.benefit))
