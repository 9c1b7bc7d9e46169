"""URLs of PostgreSQL: read, shown without passwords, and what to do if one leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

_SCHEMES = ("postgresql://", "postgres://")
_FORM = (
    "is no URL of a database: write postgresql://USER@HOST/DATABASE, or postgresql:///DATABASE by "
    "a socket of this host; @, / and % in a password are %40, %2F and %25"
)
_FIXES = (
    ("password", "give the right one by PGPASSWORD or ~/.pgpass"),
    ("database .* does not exist", "make it: createdb {database}"),
    ("role .* does not exist", "make it: createuser {user}"),
    ("pg_hba.conf|authentication failed", "allow it in pg_hba.conf, or take another user"),
    ("too many", "end others, or raise max_connections"),
    ("permission denied", "make {user} its owner: ALTER DATABASE {database} OWNER TO {user}"),
)


def parsed(url: str) -> Mapping[str, Any]:
    """The parts of a URL that it names.

    Raises:
        ValueError: it is none; the text does not have it.

    """
    if not url.startswith(_SCHEMES):
        raise ValueError(_FORM)
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise ValueError(_FORM) from None
    ports = str(parts.get("port", "")).split(",")
    # A password with such characters is taken for a host or a database, and would be shown.
    names = f"{parts.get('host', '')}{parts.get('dbname', '')}{parts.get('user', '')}"
    if "@" in names or not all(port.isdigit() for port in ports if port):
        raise ValueError(_FORM)
    return parts


def shown(parts: Mapping[str, Any]) -> str:
    """A URL of user, host, port and database alone."""
    user = f"{_quoted(parts['user'])}@" if parts.get("user") else ""
    host, port = str(parts.get("host", "")), str(parts.get("port", ""))
    place = f"/{_quoted(parts.get('dbname', ''))}"
    if host.startswith("/"):
        port = f"&port={port}" if port else ""
        return f"postgresql://{user}{place}?host={quote(host, safe='/')}{port}"
    host = quote(host, safe=",:")
    host = f"[{host}]" if ":" in host else host
    return f"postgresql://{user}{host}{port and ':' + port}{place}"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def one_line(error: Exception) -> str:
    """The text of an error; details and advice of the server stand on further lines."""
    return str(error).strip().partition("\n")[0]


def fix(told: str, url: str, otherwise: str = "") -> str:
    """The text of an error, and what to do about it: `otherwise` where that is not known."""
    parts = conninfo_to_dict(url)
    database, user = str(parts.get("dbname", "DATABASE")), str(parts.get("user", "USER"))
    # By the server's words, which may be of another language.
    found = (f": {way}" for word, way in _FIXES if re.search(word, told))
    return told + next(found, otherwise).format(database=database, user=user)
