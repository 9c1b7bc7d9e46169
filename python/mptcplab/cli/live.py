"""`run --live`: the terminal and the page that show runs while they last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.address import address
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import console
from mptcplab.live.progress import LiveProgress, Session, Shown

if TYPE_CHECKING:
    from mptcplab.engine.job import Job

OPTION = "--serve-at"


@dataclass(frozen=True)
class LiveOptions:
    """How runs are shown while they last."""

    is_served: bool
    served_at: str | None
    """Address and port of the page; any free port of the loopback where null."""


class Live:
    """The view of a command's runs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._shown = _shown(session)

    def followed(self, planned: Sequence[Job], name: str) -> LiveProgress:
        """See `mptcplab.session.Followed`."""
        return LiveProgress(planned, name, self.session, self._shown)


@contextmanager
def shown_live(options: LiveOptions) -> Iterator[Live]:
    """Shows runs until the context is left, with a page where it is asked for.

    Raises:
        UserError: the page cannot be served there.

    """
    session = Session()
    live = Live(session)
    if not options.is_served and options.served_at is None:
        yield live
        return
    # Slow to load.
    from mptcplab.live.server import Server

    host, port = _at(options.served_at)
    try:
        server = Server(session, host, port)
    except OSError as error:
        raise UserError(f"{OPTION} {host} {port}: {error.strerror}; choose another port") from error
    typer.echo(f"live: {server.address}", err=True)
    try:
        yield live
    finally:
        session.has_ended = True
        server.end()


def _at(text: str | None) -> tuple[str, int]:
    if text is None:
        return "127.0.0.1", 0
    host, port = address(OPTION, text, 8080)
    if not ip_address(host).is_loopback:
        raise UserError(
            f"{OPTION} {text}: the page has no key and no password, and is for this machine alone: "
            "choose an address of the loopback, such as 127.0.0.1:8080, and reach it from another "
            "machine by ssh -L 8080:127.0.0.1:8080"
        )
    return host, port


def _shown(session: Session) -> Shown:
    """A table on a terminal that can move its cursor, lines elsewhere, on standard error."""
    from mptcplab.live.terminal import RunLines, Screen

    screen = console(stderr=True)
    if screen.is_terminal and not screen.is_dumb_terminal:
        return Screen(session, screen)
    return RunLines(session, lambda words: typer.echo(words, err=True))
