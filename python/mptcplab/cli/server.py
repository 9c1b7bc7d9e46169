"""`server`: agents' plans and results over HTTPS, served until Ctrl-C."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from mptcplab.cli.address import address
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import json_text
from mptcplab.cli.server_webhook import WebhookOptions, alerting
from mptcplab.scenario.units import UnitError
from mptcplab.server import certificate
from mptcplab.server.contact import Role
from mptcplab.server.period import parse_period
from mptcplab.server.secret import is_url_of_agents, new_secret
from mptcplab.server.state import State, StateError, default_folder, named_errors
from mptcplab.server.store import people, settings
from mptcplab.server.store.database import Connection

if TYPE_CHECKING:
    from mptcplab.server.web.alerting import Alerting
    from mptcplab.server.web.call import Backend

PORT = 4430
_EVERYWHERE = f"[::]:{PORT}"
_LOOPBACK = f"127.0.0.1:{PORT}"


@dataclass(frozen=True)
class Options:
    """The options of `server`."""

    state: Path | None
    database: str | None
    listen: str | None
    url: str | None
    certificate: Path | None
    key: Path | None
    public_certificate: bool
    behind_proxy: bool
    keep: str | None
    per_address: int
    webhook: WebhookOptions


@dataclass(frozen=True)
class Identity:
    """The address and the certificate by which agents know the server."""

    url: str
    fingerprint: str
    """Empty where agents take any certificate for which their systems' root certificates vouch."""
    tls: ssl.SSLContext | None


def serve(options: Options, *, as_json: bool) -> None:
    """Serves, and prints how agents are enrolled.

    Raises:
        UserError: the options contradict each other, or cannot be carried out here.

    """
    host, port = address(
        "--listen", options.listen or (_LOOPBACK if options.behind_proxy else _EVERYWHERE), PORT
    )
    _check(options, host)
    keep_s = _keep(options.keep)
    webhook = alerting(options.webhook)
    state = State(options.state or default_folder())
    try:
        state.make()
        with state.held():
            listener = bound(host, port, None if options.behind_proxy else options.per_address)
            with listener:
                identity = _identity(options, state, host, listener.getsockname()[1])
                backend, token = opened(state, options.database, identity)
                told = _Told(state, token, as_json)
                _run(options, backend, listener, identity, keep_s, webhook, told)
    except (StateError, certificate.CertificateError) as error:
        raise UserError(str(error)) from None


def _check(options: Options, host: str) -> None:
    if options.public_certificate:
        _check_public(options)
    if options.behind_proxy:
        if not ipaddress.ip_address(host).is_loopback:
            raise UserError(f"--listen {options.listen}: behind a proxy of this host: 127.0.0.1")
        is_known = options.public_certificate or options.certificate is not None
        if options.url is None or not is_known or options.key is not None:
            raise UserError(
                "--behind-proxy: give --url, under which agents reach the proxy, and "
                "--certificate, which it shows to them, without its key; or --public-certificate"
            )
    elif (options.certificate is None) != (options.key is None):
        raise UserError("--certificate and --key: give both")
    if options.url is not None:
        check_url(options.url)


def _check_public(options: Options) -> None:
    if options.url is None:
        raise UserError("--public-certificate: give --url, with the name that it is for")
    if options.behind_proxy and options.certificate is not None:
        raise UserError("--public-certificate: leave out --certificate behind a proxy")
    if not options.behind_proxy and options.certificate is None:
        raise UserError("--public-certificate: give it by --certificate and --key")


def check_url(url: str) -> None:
    """Refuses an address that no agent could use.

    Raises:
        UserError: it is none.

    """
    if not is_url_of_agents(url):
        raise UserError(
            f"--url {ascii(url)[1:-1]}: write https://HOST or https://HOST:PORT, HOST a name in "
            "ASCII, an address of IPv4, or one of IPv6 in brackets"
        )


def _keep(text: str | None) -> int | None:
    try:
        keep_s = None if text is None else parse_period(text)
    except UnitError as error:
        raise UserError(f"--keep {text}: {error}") from None
    if keep_s == 0:
        raise UserError(f"--keep {text}: no result would be kept: give a time, such as 400d")
    return keep_s


def bound(host: str, port: int, per_address: int | None) -> socket.socket:
    """The socket of `--listen`; see `listening`.

    Raises:
        UserError: the address is not this host's, or taken.

    """
    from mptcplab.server.serving import listening

    try:
        return listening(host, port, per_address)
    except OSError as error:
        shown = f"[{host}]" if ":" in host else host
        raise UserError(f"--listen {shown}:{port}: {error.strerror}") from None


def default_url(host: str, port: int) -> str:
    """The server's address, by the host's name where it listens everywhere."""
    is_wildcard = ipaddress.ip_address(host).is_unspecified
    known_as = socket.gethostname() if is_wildcard else host
    shown = f"[{known_as}]" if ":" in known_as else known_as
    return f"https://{shown}:{port}"


def _identity(options: Options, state: State, host: str, port: int) -> Identity:
    url = (options.url or default_url(host, port)).rstrip("/")
    if not is_url_of_agents(url):
        raise UserError(
            f"{ascii(url)[1:-1]}: agents cannot use this address: give them one by --url"
        )
    if options.behind_proxy and options.public_certificate:
        return Identity(url, "", None)
    if options.behind_proxy:
        assert options.certificate is not None
        return Identity(url, certificate.fingerprint(options.certificate), None)
    shows, key = options.certificate, options.key
    if shows is None or key is None:
        shows, key = state.certificate, state.key
        if not shows.exists():
            certificate.make_own(shows, key, urlsplit(url).hostname or host)
    own = "" if options.public_certificate else certificate.fingerprint(shows)
    return Identity(url, own, certificate.context(shows, key))


def opened(state: State, url: str | None, identity: Identity) -> tuple[Backend, str | None]:
    """The database, by a URL or that of the folder, and a token of an administrator at its start.

    Raises:
        StateError: it cannot be opened, or another server uses it.

    """
    from mptcplab.server.web.call import Backend, current_ms

    def prepare(connection: Connection) -> str | None:
        settings.put(connection, settings.URL, identity.url)
        settings.put(connection, settings.FINGERPRINT, identity.fingerprint)
        if people.is_any(connection):
            return None
        secret = new_secret()
        people.add(connection, "admin", Role.ADMIN, secret, current_ms())
        return secret

    with named_errors(state.chosen(url)) as database:
        backend = Backend.open(database, identity.url, identity.fingerprint)
        try:
            token = backend.writer.submit(prepare).result()
            if url is not None:
                state.remember(url)
        except BaseException:
            backend.close()
            raise
    return backend, token


@dataclass(frozen=True)
class _Told:
    """The lines that are printed when it is ready."""

    state: State
    token: str | None
    as_json: bool

    def print(self, identity: Identity, host: str, port: int) -> None:
        if self.as_json:
            told = {
                "url": identity.url,
                "token": self.token,
                "fingerprint": identity.fingerprint or None,
                "port": port,
            }
            typer.echo(json_text(told).replace("\n", ""))
        else:
            shown = f"[{host}]" if ":" in host else host
            typer.echo(f"{identity.url}, at {shown}:{port}; Ctrl-C ends it")
            known_by = (
                f"certificate's fingerprint (SHA-256): {identity.fingerprint}"
                if identity.fingerprint
                else "agents take its certificate by their systems' root certificates"
            )
            typer.echo(known_by)
            if self.token is not None:
                typer.echo(f"token of an administrator, shown this once: {self.token}")
            typer.echo(f"enrol an agent: mptcplab server enrol --state {self.state.folder}")
        # Others wait for it, maybe at the end of a pipe.
        sys.stdout.flush()


def _run(
    options: Options,
    backend: Backend,
    listener: socket.socket,
    identity: Identity,
    keep_s: int | None,
    webhook: Alerting | None,
    told: _Told,
) -> None:
    from mptcplab.server.serving import serve as serve_app
    from mptcplab.server.web.app import application

    host, port = listener.getsockname()[:2]
    serve_app(
        application(backend, options.per_address, keep_s, webhook),
        [listener],
        identity.tls,
        ready=lambda: told.print(identity, host, port),
    )
