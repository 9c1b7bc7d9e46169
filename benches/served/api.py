"""Requests of people and agents to a server, each on a connection of its own."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PATIENCE_S = 30


@dataclass(frozen=True)
class Api:
    """A server's API for the holder of a secret."""

    port: int
    secret: str

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        # The server is this host's.
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=tls, timeout=_PATIENCE_S
        )
        told = {"Authorization": f"Bearer {self.secret}", "Mptcplab-Protocol": "1"}
        try:
            connection.request(method, path, body, told | dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def told(self, method: str, path: str, value: Any = None) -> Any:
        """An answer of success, as JSON.

        Raises:
            RuntimeError: it is none.

        """
        body = None if value is None else json.dumps(value).encode()
        status, answer = self.ask(method, path, body)
        if not 200 <= status < 300:
            raise RuntimeError(f"{method} {path}: {status} {answer.decode(errors='replace')}")
        return json.loads(answer) if answer else None

    def is_up(self) -> bool:
        """Whether the server answers."""
        try:
            return self.ask("GET", "/health")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def put_result(self, own: str, body: bytes) -> int:
        """The status that a result of an agent is answered by."""
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers = {"Content-Digest": f"sha-256=:{digest}:"}
        return self.ask("PUT", f"/api/v1/agent/results/{own}", body, headers)[0]
