"""Secrets of agents, people and enrolments, and the line that an agent is enrolled by."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass

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


@dataclass(frozen=True)
class EnrolmentLine:
    """All that an agent needs to know to be enrolled."""

    url: str
    fingerprint: str
    """SHA-256 of the server's certificate in hexadecimal digits."""
    secret: str

    def text(self) -> str:
        """The line."""
        told = {"url": self.url, "fingerprint": self.fingerprint, "secret": self.secret}
        encoded = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        return ENROLMENT_PREFIX + encoded.rstrip("=")
