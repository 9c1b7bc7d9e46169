"""A webhook: a body by POST, signed, to one address and no other."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import re
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

SIGNATURE = "Mptcplab-Signature"
LEAST_SECRET = 16
_TIMEOUT_S = 10.0
_LARGEST_ANSWER_BYTES = 64 << 10
_PRINTABLE = re.compile(r"[!-~]{1,2000}")


class WebhookError(Exception):
    """A POST that was not taken, or an address that is none; the text says why."""


@dataclass(frozen=True)
class Webhook:
    """Where to send to, and what it is signed with."""

    url: str
    secret: str

    def __post_init__(self) -> None:
        _split(self.url)
        if len(self.secret) < LEAST_SECRET:
            raise WebhookError(f"the secret has fewer than {LEAST_SECRET} letters")

    def post(self, body: bytes) -> None:
        """Sends a body of JSON, with its HMAC-SHA256. A redirect is not followed.

        Raises:
            WebhookError: it was answered by anything but success, or not in time.

        """
        parts = _split(self.url)
        assert parts.hostname is not None
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=_TIMEOUT_S, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=_TIMEOUT_S)
        digest = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", SIGNATURE: f"sha256={digest}"}
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("POST", target, body, headers)
            answer = connection.getresponse()
            answer.read(_LARGEST_ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise WebhookError(str(error) or type(error).__name__) from None
        finally:
            connection.close()
        if 300 <= answer.status < 400:
            raise WebhookError(f"it answers {answer.status}, and redirects are not followed")
        if not 200 <= answer.status < 300:
            raise WebhookError(f"it answers {answer.status}")


def _split(url: str) -> SplitResult:
    wrong = WebhookError(
        "write https://HOST/PATH, or http:// for 127.0.0.1, [::1] and localhost alone"
    )
    if not _PRINTABLE.fullmatch(url):
        raise wrong
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise wrong from None
    if not parts.hostname or parts.username is not None or parts.fragment:
        raise wrong
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_own(parts.hostname)):
        raise wrong
    return parts


def _is_own(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
