"""Sessions of people who are signed in: in memory, so that they end with the server."""

from __future__ import annotations

from collections import OrderedDict

from mptcplab.server.secret import digest, new_secret

LASTS_S = 12 * 3_600
MOST_SESSIONS = 1_000
"""Of all people; the oldest give way."""


class Sessions:
    """Sessions by the digest of their secret, each of which a browser has as a cookie."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[str, int]] = OrderedDict()
        """The id of the token that one was begun with, and when it ends."""

    def begin(self, person: str, now_ms: int) -> str:
        """The secret of a new session of the holder of a token, by the token's id."""
        secret = new_secret()
        self._known[digest(secret)] = (person, now_ms + LASTS_S * 1_000)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return secret

    def person(self, secret: str, now_ms: int) -> str | None:
        """The id of the token that a session was begun with; null where there is no session."""
        own = digest(secret)
        person, ends_ms = self._known.get(own, ("", 0))
        if now_ms < ends_ms:
            return person
        self._known.pop(own, None)
        return None

    def end(self, secret: str) -> None:
        """Ends a session, if there is one."""
        self._known.pop(digest(secret), None)
