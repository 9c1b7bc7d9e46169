"""Secrets of agents, people and enrolments, and the line that an agent is enrolled by."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from ipaddress import IPv6Address

SECRET_BYTES = 32
ENROLMENT_PREFIX = "mptcplab-enrol1-"
_LONGEST_SECRET = 200


def new_secret() -> str:
    """32 random bytes as base64url."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> bytes:
    """SHA-256 of a secret, which is all that is kept of it: it cannot be guessed."""
    return hashlib.sha256(secret[:_LONGEST_SECRET].encode()).digest()


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two digests are the same, in a time that does not tell where they differ."""
    return secrets.compare_digest(one, other)


_URL = re.compile(
    r"https://(?:\[([0-9A-Fa-f:.]{2,45})\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?/?", re.ASCII
)


def is_url_of_agents(url: str) -> bool:
    """Whether agents take it as the address of a server, `https://HOST:PORT`."""
    found = _URL.fullmatch(url)
    if found is None or not 1 <= int(found[2] or 443) <= 65_535:
        return False
    try:
        return found[1] is None or bool(IPv6Address(found[1]))
    except ValueError:
        return False


@dataclass(frozen=True)
class EnrolmentLine:
    """All that an agent needs to know to be enrolled."""

    url: str
    fingerprint: str
    """SHA-256 of the server's certificate in hexadecimal digits; empty where agents take any for
    which their systems' root certificates vouch."""
    secret: str

    def text(self) -> str:
        """The line."""
        told = {"url": self.url, "fingerprint": self.fingerprint or None, "secret": self.secret}
        encoded = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        return ENROLMENT_PREFIX + encoded.rstrip("=")
