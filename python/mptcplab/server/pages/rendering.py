"""Templates, style and script of the pages, and the policy that they are sent with."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from starlette.responses import HTMLResponse, Response

from mptcplab.page.script import script, style_sheet
from mptcplab.page.templates import Contents, templates

_KEPT_S = 365 * 86_400
_PACKAGE = "mptcplab.server.pages"


def answered(name: str, status: int = 200, **values: Any) -> Response:
    """A page of a template. Its policy allows our own script and style, and nothing else."""
    nonce = secrets.token_urlsafe(16)
    fresh: dict[str, Any] = {
        "contents": Contents(),
        "charts": {},
        "data": {},
        "nonce": nonce,
        "person": None,
        "place": "",
    }
    text = _environment().get_template(f"{name}.html.j2").render(fresh | values)
    headers = {
        "content-security-policy": (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        # Forms tell their origin to this server alone.
        "referrer-policy": "same-origin",
    }
    return HTMLResponse(text, status, headers)


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Content and media type by name; a name has the digest of its content."""
    own = files(_PACKAGE).joinpath("assets", "dashboard.css").read_text(encoding="utf-8")
    every = {
        "css": (f"{style_sheet()}\n{own}".encode(), "text/css; charset=utf-8"),
        "js": (script().encode(), "text/javascript; charset=utf-8"),
    }
    return {
        f"{hashlib.sha256(content).hexdigest()[:20]}.{kind}": (content, media)
        for kind, (content, media) in every.items()
    }


def asset(name: str) -> Response | None:
    """A style or script, which browsers keep."""
    found = assets().get(name)
    if found is None:
        return None
    content, media = found
    kept = {"cache-control": f"public, max-age={_KEPT_S}, immutable"}
    return Response(content, headers=kept, media_type=media)


@cache
def _environment() -> Environment:
    environment = templates(_PACKAGE)
    # The frame of the dashboard comes before that of pages that are files, also around the page of
    # a probe.
    environment.loader = ChoiceLoader(
        [PackageLoader(one) for one in (_PACKAGE, "mptcplab.measure", "mptcplab.page")]
    )
    environment.globals["asset"] = _asset_path
    return environment


def _asset_path(kind: str) -> str:
    return next(f"/assets/{name}" for name in assets() if name.endswith(f".{kind}"))
