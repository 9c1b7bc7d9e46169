"""Commands on a server's folder: agents, enrolment, plans, tokens. The server may be running."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter, ValidationError

from mptcplab.cli.errors import UserError
from mptcplab.cli.output import console, json_text
from mptcplab.cli.server import check_url
from mptcplab.measure.words import size_words
from mptcplab.scenario.problem import ScenarioError
from mptcplab.scenario.units import UnitError
from mptcplab.server.contact import Role
from mptcplab.server.fields import Word
from mptcplab.server.period import parse_period, period_words
from mptcplab.server.plan_file import read_plan
from mptcplab.server.secret import EnrolmentLine, new_secret
from mptcplab.server.state import State, StateError, default_folder
from mptcplab.server.store import agents, enrolments, people, plans, settings
from mptcplab.server.store.connection import changing, reading
from mptcplab.server.store.database import Connection, StoreUnavailableError
from mptcplab.server.web.call import current_ms

UNKNOWN = "–"


@contextmanager
def opened(folder: Path | None) -> Iterator[Connection]:
    """The database of a server's folder.

    Raises:
        UserError: there is none, or it takes no change.

    """
    state = State(folder or default_folder())
    try:
        connection = state.open()
    except StateError as error:
        raise UserError(str(error)) from None
    try:
        yield connection
    except (sqlite3.OperationalError, StoreUnavailableError) as error:
        raise UserError(f"{state.database.shown}: {error}") from None
    finally:
        connection.close()


def enrol(folder: Path | None, count: int, expires: str, url: str | None, *, as_json: bool) -> None:
    """Prints an enrolment token."""
    try:
        expires_s = parse_period(expires)
    except UnitError as error:
        raise UserError(f"--expires {expires}: {error}") from None
    if expires_s == 0:
        raise UserError(f"--expires {expires}: it would be of no use")
    if url is not None:
        check_url(url)
    with opened(folder) as connection:
        told_url = settings.one(connection, settings.URL)
        fingerprint = settings.one(connection, settings.FINGERPRINT)
        if told_url is None or fingerprint is None:
            raise UserError("the server has not been started yet: start it once")
        secret = new_secret()
        now_ms = current_ms()
        expires_ms = now_ms + expires_s * 1_000
        with changing(connection):
            own = enrolments.add(connection, secret, count, expires_ms, now_ms)
    line = EnrolmentLine((url or told_url).rstrip("/"), fingerprint, secret).text()
    if as_json:
        typer.echo(json_text({"id": own, "token": line, "expires_ms": expires_ms}))
    else:
        typer.echo(line)


def list_agents(folder: Path | None, *, as_json: bool) -> None:
    """Prints all agents."""
    with opened(folder) as connection, reading(connection):
        found = agents.listed(connection)
        every = [agents.one(connection, row["id"]) for row in found] if as_json else found
    if as_json:
        typer.echo(json_text({"agents": every}))
        return
    now_ms = current_ms()
    _table(
        ("agent", "name", "state", "last contact", "results", "missing", "version", "kernel"),
        [
            (
                row["id"],
                row["name"],
                _state(row),
                UNKNOWN
                if row["contact_ms"] is None
                else f"{period_words(max(now_ms - row['contact_ms'], 0) // 1_000)} ago",
                str(row["results"]),
                str(row["missing"]),
                row["version"],
                row["kernel"],
            )
            for row in found
        ],
        right=("results", "missing"),
    )


def _state(row: dict[str, Any]) -> str:
    if row["revoked_ms"] is not None:
        return "revoked"
    contact = row["contact"]
    if contact is None:
        return "enrolled"
    return str(contact["problem"] or contact["state"])


def revoke_agent(folder: Path | None, agent: str) -> None:
    """Takes the secret of an agent no more."""
    with opened(folder) as connection:
        found = _agent(connection, agent)
        with changing(connection):
            agents.revoke(connection, found["id"], current_ms())
    typer.echo(f"{found['name']} ({found['id']}): revoked; its results stay")


def agent_id(connection: Connection, agent: str) -> str:
    """The id of an agent that is given by its id or its name.

    Raises:
        UserError: there is none, or there are several.

    """
    return str(_agent(connection, agent)["id"])


def _agent(connection: Connection, agent: str) -> dict[str, Any]:
    found = [row for row in agents.listed(connection) if agent in (row["id"], row["name"])]
    if len(found) != 1:
        why = "several agents have this name: give the id" if found else "there is none"
        raise UserError(f"{agent}: {why} (`mptcplab server agents`)")
    return found[0]


def add_plan(folder: Path | None, file: Path, *, as_json: bool) -> None:
    """Adds or changes the plan of a file."""
    try:
        name, plan = read_plan(file)
    except ScenarioError as error:
        raise UserError(str(error)) from None
    with opened(folder) as connection, changing(connection):
        own, is_changed = plans.put(connection, name, plan, current_ms())
    if as_json:
        typer.echo(json_text({"id": own, "changed": is_changed}))
    else:
        typer.echo(own if is_changed else f"{own}: nothing has changed")


def list_plans(folder: Path | None, *, as_json: bool) -> None:
    """Prints all plans."""
    with opened(folder) as connection:
        found = plans.listed(connection)
    if as_json:
        typer.echo(json_text({"plans": found}))
        return
    _table(
        ("plan", "target", "sizes", "every", "budget", "daily", "agents"),
        [_plan_row(row["id"], row["plan"]) for row in found],
    )


def _plan_row(own: str, plan: dict[str, Any]) -> tuple[str, ...]:
    target, only = plan["target"], plan["agents"]
    return (
        own,
        f"{target['host']}:{target['port']}",
        ", ".join(map(size_words, plan["sizes_bytes"])),
        period_words(plan["schedule"]["every_s"]),
        size_words(plan["budget_bytes"]),
        size_words(plan["daily_bytes"]),
        "all" if only is None else str(len(only)),
    )


def remove_plan(folder: Path | None, name: str) -> None:
    """Lets no agent carry a plan out any more."""
    with opened(folder) as connection, changing(connection):
        if not plans.remove(connection, name, current_ms()):
            raise UserError(f"{name}: there is no such plan (`mptcplab server plan list`)")
    typer.echo(f"{name}: removed; its results stay")


def add_token(folder: Path | None, name: str, role: Role, *, as_json: bool) -> None:
    """Prints a new token of a person or a program."""
    try:
        TypeAdapter(Word).validate_python(name)
    except ValidationError:
        shown = ascii(name)[1:-1][:100]
        raise UserError(f'NAME "{shown}": write 1 to 100 printable characters') from None
    secret = new_secret()
    with opened(folder) as connection, changing(connection):
        own = people.add(connection, name, role, secret, current_ms())
    if as_json:
        typer.echo(json_text({"id": own, "secret": secret}))
    else:
        typer.echo(secret)


def list_tokens(folder: Path | None, *, as_json: bool) -> None:
    """Prints all tokens of people, without their secrets."""
    with opened(folder) as connection:
        found = people.listed(connection)
    if as_json:
        typer.echo(json_text({"tokens": found}))
        return
    _table(
        ("token", "name", "role", "made", "state"),
        [
            (
                row["id"],
                row["name"],
                row["role"],
                _day(row["created_ms"]),
                "good" if row["revoked_ms"] is None else "revoked",
            )
            for row in found
        ],
    )


def revoke_token(folder: Path | None, own: str) -> None:
    """Takes a person's token no more."""
    with opened(folder) as connection, changing(connection):
        if not people.revoke(connection, own, current_ms()):
            raise UserError(f"{own}: there is no such token (`mptcplab server token list`)")
    typer.echo(f"{own}: revoked")


def _day(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1e3, UTC).strftime("%Y-%m-%d")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None)
    for number, name in enumerate(head):
        # Commands take the first column as it stands.
        drawn.add_column(
            Text(name),
            justify="right" if name in right else "left",
            overflow="fold",
            no_wrap=number == 0,
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    console().print(drawn)
