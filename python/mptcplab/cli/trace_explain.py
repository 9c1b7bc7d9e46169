"""`trace --explain`: where the time of connections in captures went, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from mptcplab.cli.output import console, json_text
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.trace.accounts import CANNOT_TELL, NOT_TRIED, Account, accounts
from mptcplab.trace.causes import Cause, causes, to_json
from mptcplab.trace.views import View


def print_explanation(view: View, *, as_json: bool) -> None:
    """Prints the account and the causes of each chosen connection."""
    if as_json:
        typer.echo(json_text(account_json(view, is_tried=False)))
        return
    print_accounts(view, is_tried=False)


def print_accounts(view: View, *, is_tried: bool) -> None:
    """The same as text; `is_tried` where changes are tried in a scenario that was fitted."""
    screen = console()
    for one in accounts(view):
        for sentence in sentences(one, causes(one, view)):
            screen.print(Text(sentence))
        screen.print(*laid_out(_table(one), screen), sep="")
    screen.print(Text(f"Packets do not tell {'; '.join(_cannot_tell(is_tried=is_tried))}."))


def account_json(view: View, *, is_tried: bool) -> dict[str, Any]:
    """The same for programs."""
    return {
        "connections": [to_json(one, causes(one, view)) for one in accounts(view)],
        "cannot_tell": _cannot_tell(is_tried=is_tried),
    }


def _cannot_tell(*, is_tried: bool) -> list[str]:
    return [one for one in CANNOT_TELL if one != NOT_TRIED or not is_tried]


def sentences(account: Account, found: Sequence[Cause]) -> list[str]:
    """The connection in a line, and a line for each cause."""
    number = account.row["connection"]
    first = f"Connection {number}, {account.words}, {account.duration_s:.3g} s, data of the "
    lines = [f"{first}{account.sender}:"]
    for one in found:
        where = "" if one.subflow is None else f" (subflow {one.subflow})"
        lines.append(f"  {one.name}{where}: {'; '.join(one.evidence)}")
    if not found:
        lines.append("  nothing that packets show took 5 % of its time")
    if account.is_near_receiver:
        lines.append(
            "  captured where its data arrives: what a window kept back, and whether queues were "
            "full, is seen at its sender"
        )
    return lines


def _table(of: Account) -> list[Column]:
    """The longest times of the connection first, each beside that of its subflows."""
    beside = {state for one in of.subflows for state in one.account_s}
    states = [*of.account_s, *sorted(beside - set(of.account_s))]
    return [
        Column("state", states, Kind.VALUE, is_left=True),
        Column("connection", [_seconds(of.account_s.get(state)) for state in states]),
        *(
            Column(
                f"subflow {one.row['subflow']}",
                [_seconds(one.account_s.get(state)) for state in states],
            )
            for one in of.subflows
        ),
    ]


def _seconds(spent_s: float | None) -> str:
    return "" if spent_s is None else f"{spent_s:.2f} s"
