"""Signing in by a token, and out; only forms of our own pages do either."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mptcplab.server.pages.rendering import answered
from mptcplab.server.secret import new_secret
from mptcplab.server.store import people, sessions
from mptcplab.server.store.people import Person
from mptcplab.server.web.call import Backend
from mptcplab.server.web.checks import read_body

# Browsers take a cookie of this prefix only with Secure, for `/`, and of this very host.
COOKIE = "__Host-mptcplab"
_LARGEST_FORM_BYTES = 4_096
_PAGE = re.compile(r"/(?:plans|(?:agents|results)/[0-9a-f-]{1,40})?")
"""Paths that one may be led to after signing in."""


class Signing:
    """The people who are signed in."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def person(self, request: Request) -> Person | None:
        """The person whose session it is; null as well where the token has been revoked."""
        secret = request.cookies.get(COOKIE)
        if secret is None:
            return None
        now_ms = self._backend.now_ms()
        return await self._backend.ask_one(
            lambda connection: sessions.person(connection, secret, now_ms)
        )

    def form(self, request: Request) -> Response:
        """The form, in the place of a page that is for people who are signed in."""
        path = request.url.path
        if path == "/":
            return answered("sign_in", target="/", problem=None)
        # The bearer of a token is what it takes, and that is what the form asks for.
        answer = answered("sign_in", 401, target=path, problem=None)
        answer.headers["www-authenticate"] = "Bearer"
        return answer

    async def begin(self, request: Request) -> Response:
        """Takes the form: a token, and the page to be led to."""
        if not is_own(request):
            return _of_another_site()
        body = await read_body(request, _LARGEST_FORM_BYTES)
        try:
            fields = parse_qs(body.decode("ascii"), max_num_fields=2)
        except ValueError:
            fields = {}
        (token, *_), (wanted, *_) = fields.get("token", [""]), fields.get("target", ["/"])
        target = wanted if _PAGE.fullmatch(wanted) else "/"
        person = await self._backend.ask_one(
            lambda connection: people.of_secret(connection, token.strip())
        )
        if person is None:
            problem = "This token is unknown, or has been revoked."
            return answered("sign_in", 403, target=target, problem=problem)
        answer = RedirectResponse(target, 303)
        secret, now_ms = new_secret(), self._backend.now_ms()
        await self._backend.change(
            lambda connection: sessions.begin(connection, person.id, secret, now_ms)
        )
        answer.set_cookie(
            COOKIE, secret, max_age=sessions.LASTS_S, secure=True, httponly=True, samesite="strict"
        )
        return answer

    async def end(self, request: Request) -> Response:
        """Ends the session."""
        if not is_own(request):
            return _of_another_site()
        secret = request.cookies.get(COOKIE, "")
        await self._backend.change(lambda connection: sessions.end(connection, secret))
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict")
        return answer


def is_own(request: Request) -> bool:
    """Whether a form was sent from a page of this server, as a browser tells it.

    By `Sec-Fetch-Site`, or by `Origin` where a browser is too old for that; a request without both
    is taken for another's.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(request.headers.get("origin", "")).netloc
    except ValueError:
        return False
    return bool(origin) and origin == request.headers.get("host")


def _of_another_site() -> Response:
    text = "This form was not sent from a page of this server, so nothing was done."
    return answered("told", 403, title="Not done", text=text)
