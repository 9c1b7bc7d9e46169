"""`server --demo`: a server with a target and three agents in an emulated network."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from mptcplab.cli.address import address
from mptcplab.cli.errors import UserError
from mptcplab.cli.host_program import NOT_INSTALLED, environment, find_program
from mptcplab.cli.interruption import INTERRUPTED_STATUS
from mptcplab.cli.server import PORT, Identity, bound, default_url, opened
from mptcplab.demo.network import Network, network, of_demonstration
from mptcplab.engine.job import EngineError
from mptcplab.server import certificate
from mptcplab.server.plan import PORT as TARGET_PORT
from mptcplab.server.plan_file import parse_plan
from mptcplab.server.secret import EnrolmentLine, new_secret
from mptcplab.server.state import State
from mptcplab.server.store import enrolments, plans
from mptcplab.server.store.connection import changing
from mptcplab.temporary import temporary_folder

_AGENTS = ("office", "van", "shop")
_SERVER = "server"
_PER_ADDRESS = 50
_CONNECTIONS_INSIDE = 100
_BETWEEN_AGENTS_S = 22
"""The target serves one at a time: agents that begin at different times wait for none."""
_ENROLMENT_MS = 3_600_000
_PLAN = """
target: {{host: {host}, token: {token}}}
sizes: [100 kB, 1 MB]
directions: [down]
repeat: 2
schedule: {{every: 90 s}}
budget: 30 MB
daily: 100 GB
"""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve_demo(listen: str | None, *, as_json: bool) -> None:
    """Serves until Ctrl-C; nothing is left of it then.

    Raises:
        UserError: the network cannot be built here, or the address not be taken.

    """
    host, port = address("--listen", listen or "127.0.0.1:0", PORT)
    program = find_program()
    if program is None:
        raise UserError(f"--demo: {NOT_INSTALLED}")
    try:
        with (
            _first_signal_alone(),
            temporary_folder("mptcplab-demo-") as folder,
            network(of_demonstration()) as inside,
        ):
            try:
                with bound(host, port, _PER_ADDRESS) as listener:
                    _Demo(inside, folder, program).serve(listener, as_json=as_json)
            finally:
                _ignore_signals()
            if inside.failure is not None:
                raise EngineError(inside.failure)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED_STATUS) from None
    except EngineError as error:
        raise UserError(f"--demo: {error}") from None


class _Demo:
    """The programs, and what they are told."""

    def __init__(self, inside: Network, folder: Path, program: str) -> None:
        self._inside = inside
        self._folder = folder
        self._program = program

    def serve(self, listener: socket.socket, *, as_json: bool) -> None:
        """Serves at an address of this host, and inside."""
        from mptcplab.server.serving import of_namespace, serve
        from mptcplab.server.web.app import application

        place = self._inside.address(_SERVER)
        state = State(self._folder / "server")
        state.make()
        certificate.make_own(state.certificate, state.key, place)
        tls = certificate.context(state.certificate, state.key)
        own = certificate.fingerprint(state.certificate)
        identity = Identity(f"https://{place}:{PORT}", own, tls)
        backend, token = opened(state, None, identity)
        enrolment = self._enrolment(state, identity)
        host, port = listener.getsockname()[:2]
        url = default_url(host, port)

        def ready() -> None:
            loop = asyncio.get_running_loop()
            if signal.getsignal(signal.SIGHUP) is _interrupt:
                # The server knows no such signal, and would end in the midst of its work.
                loop.add_signal_handler(signal.SIGHUP, signal.raise_signal, signal.SIGTERM)
            for number, agent in enumerate(_AGENTS):
                loop.call_later(number * _BETWEEN_AGENTS_S, self._start_agent, agent, enrolment)
            if as_json:
                typer.echo(json.dumps({"url": url, "token": token}))
            else:
                typer.echo(f"{url}; Ctrl-C ends it, and nothing is kept")
                typer.echo(f"token to sign in with: {token}")
                typer.echo(f"certificate's fingerprint (SHA-256): {own}")
                typer.echo(f"agents: {', '.join(_AGENTS)}; the first results come within a minute")
            # Others wait for it, maybe at the end of a pipe.
            sys.stdout.flush()

        with of_namespace(self._inside.listening(_SERVER, PORT), _CONNECTIONS_INSIDE) as further:
            serve(application(backend, _PER_ADDRESS, None), [listener, further], tls, ready=ready)

    def _enrolment(self, state: State, identity: Identity) -> Path:
        """The file with the token of all agents, to whom a plan is given."""
        from mptcplab.server.web.call import current_ms

        place = self._inside.address(_SERVER)
        _, plan = parse_plan(_PLAN.format(host=place, token=self._target()), "demo", "demo")
        secret = new_secret()
        now_ms = current_ms()
        connection = state.connect()
        try:
            with changing(connection):
                plans.put(connection, "demo", plan, now_ms)
                enrolments.add(connection, secret, len(_AGENTS), now_ms + _ENROLMENT_MS, now_ms)
        finally:
            connection.close()
        file = self._folder / "enrolment"
        file.write_text(EnrolmentLine(identity.url, identity.fingerprint, secret).text())
        return file

    def _target(self) -> str:
        """Starts the target, and gives its token."""
        log = self._folder / "target.txt"
        words = ("target", "--listen", f"{self._inside.address(_SERVER)}:{TARGET_PORT}")
        with log.open("w") as written:
            target = self._inside.start(
                _SERVER,
                (self._program, *words),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=written,
            )
        assert target.stdout is not None
        token = target.stdout.readline().strip()
        if not token:
            raise EngineError(f"the target has ended: {log.read_text().strip()}")
        return token

    def _start_agent(self, agent: str, enrolment: Path) -> None:
        state = self._folder / f"agent-{agent}"
        words = ("--enrol-file", str(enrolment), "--state", str(state), "--name", agent)
        with state.with_suffix(".txt").open("w") as log:
            self._inside.start(
                agent,
                (self._program, "agent", *words, "--contact-interval", "30s"),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@contextmanager
def _first_signal_alone() -> Iterator[None]:
    """The first signal interrupts; further ones would leave something behind."""
    previous = {
        number: signal.signal(number, _interrupt)
        for number in _SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    _ignore_signals()
    raise KeyboardInterrupt


def _ignore_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
