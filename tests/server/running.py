"""A server as a process, and its clients over TLS."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.server.made import ENROLMENT, encoded, made_result
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.cli.errors import UserError

PROTOCOL = {"Mptcplab-Protocol": "1"}
_PATIENCE_S = 120
"""Long enough for any machine; nothing is measured by it."""


@dataclass
class Answer:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"])


@dataclass
class Running:
    """A server that runs."""

    state: Path
    process: subprocess.Popen[str]
    port: int
    told: dict[str, Any]
    admin: str
    """A token with all rights."""
    errors: Path
    plain: bool = False

    def socket(self) -> socket.socket:
        """A connection, after the handshake."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE_S)
        if self.plain:
            return plain
        return tls().wrap_socket(plain, server_hostname="mptcplab-server")

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        secret: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.sock = self.socket()
        try:
            return asked(connection, method, path, body, secret, headers)
        finally:
            connection.close()

    def get(self, path: str, secret: str | None = None) -> Answer:
        return self.request("GET", path, secret=secret or self.admin)

    def enrolment(self, **wanted: Any) -> str:
        """The secret of a new enrolment token."""
        answer = self.request("POST", "/api/v1/enrolments", encoded(wanted), self.admin)
        assert answer.status == 201, answer
        return secret_of(answer.json["token"])

    def enrolled(self, **changed: Any) -> Agent:
        """A new agent."""
        body = encoded(ENROLMENT | changed)
        answer = self.request("POST", "/api/v1/enrol", body, self.enrolment())
        assert answer.status == 201, answer
        return Agent(self, answer.json["agent"], answer.json["secret"])

    def token(self, role: str) -> str:
        """A new token of a person."""
        body = encoded({"name": "somebody", "role": role})
        answer = self.request("POST", "/api/v1/tokens", body, self.admin)
        assert answer.status == 201, answer
        return str(answer.json["secret"])

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it, and tells its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(_PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@dataclass
class Agent:
    """An agent of it."""

    server: Running
    id: str
    secret: str
    sequence: int = field(default=0)

    def result(self, **changed: Any) -> dict[str, Any]:
        """A result of it, the next in sequence."""
        self.sequence += 1
        return made_result(agent=self.id, sequence=self.sequence - 1) | changed

    def put(self, told: Mapping[str, Any], **options: Any) -> Answer:
        """Sends a result."""
        return self.put_bytes(str(told["id"]), encoded(told), **options)

    def put_bytes(self, own: str, body: bytes, digest: str | None = None) -> Answer:
        told = digest_of(body) if digest is None else digest
        return self.server.request(
            "PUT",
            f"/api/v1/agent/results/{own}",
            body,
            self.secret,
            {"Content-Digest": told},
        )

    def contact(self, told: Mapping[str, Any]) -> Answer:
        return self.server.request("POST", "/api/v1/agent/contact", encoded(told), self.secret)


def asked(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    secret: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection."""
    told = dict(PROTOCOL) | dict(headers or {})
    if secret is not None:
        told["Authorization"] = f"Bearer {secret}"
    connection.request(method, path, body, told)
    answer = connection.getresponse()
    found = {name.lower(): text for name, text in answer.getheaders()}
    return Answer(answer.status, found, answer.read())


def digest_of(body: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def told_by(line: str) -> dict[str, Any]:
    """The content of an enrolment token."""
    encoded_part = line.removeprefix("mptcplab-enrol1-")
    padded = encoded_part + "=" * (-len(encoded_part) % 4)
    told: dict[str, Any] = json.loads(base64.urlsafe_b64decode(padded))
    return told


def secret_of(line: str) -> str:
    return str(told_by(line)["secret"])


def tls() -> ssl.SSLContext:
    """Without names and dates, as agents know the server by its fingerprint."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "mptcplab", "server", *words]


def run(*words: str, status: int = 0) -> str:
    """The standard output of a command; its errors where another status is expected."""
    ended = CliRunner().invoke(app, ["server", *words])
    if isinstance(ended.exception, UserError):
        # As `mptcplab.cli.ending` does.
        assert status == 1, ended.exception
        return f"{ended.exception}\n"
    assert ended.exit_code == status, ended.output
    return ended.stderr if status else ended.stdout


@contextmanager
def started(state: Path, *options: str, code: str | None = None) -> Iterator[Running]:
    """A server that ends afterwards; its errors are beside its folder.

    `code` is Python to run in place of the program.
    """
    errors = state.with_name(f"{state.name}.errors")
    with errors.open("a") as written:
        process = subprocess.Popen(
            [
                *(command() if code is None else [sys.executable, "-c", code, "server"]),
                "--state", str(state), "--listen", "127.0.0.1:0", "--json",
                "--per-address", "10000", *options,
            ],
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
            env=os.environ | {"PYTHONFAULTHANDLER": "1"},
        )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, errors.read_text()
    told = json.loads(line)
    kept = state / "token-of-tests"
    if told["token"] is not None:
        kept.write_text(told["token"])
    running = Running(
        state, process, told["port"], told, kept.read_text(), errors, "--behind-proxy" in options
    )
    try:
        yield running
    finally:
        running.end()
