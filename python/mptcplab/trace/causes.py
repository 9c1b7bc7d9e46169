"""Causes that packets show: why a connection had a single path, and what held it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.trace.accounts import RECOVERY, WINDOW, Account, Row, SubflowAccount
from mptcplab.trace.coverage import coverage
from mptcplab.trace.views import View
from mptcplab.trace.words import ends, length, size

NOTICEABLE = 0.05
"""Part of the time below which a cause is none."""
_ROUND_TRIPS_OF_A_JOIN = 3
"""SYN, SYN/ACK and ACK of the join, after an announcement and its echo."""
_LATE_NS = 200_000_000
"""Two bins of samples."""
_LONG_QUEUE_NS = 100_000_000
"""A queue that adds more is felt: CoDel's interval (RFC 8289, section 4.3)."""


@dataclass(frozen=True)
class Cause:
    """A cause, as far as it can be told."""

    name: str
    """As in docs/json.md, and `plain_tcp` and `not_captured`."""
    subflow: int | None
    """Null where it is about the connection."""
    evidence: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab trace --explain --json`."""
        return {"name": self.name, "subflow": self.subflow, "evidence": list(self.evidence)}


def causes(account: Account, view: View) -> Sequence[Cause]:
    """The causes of a connection: a single path first, then what took most of its time."""
    rows = view.events.filter(view.events["connection"] == account.row["connection"])
    events = rows.to_dicts()
    missing = list(_not_captured(account, view))
    return [
        *(missing or _single_path(account, events)),
        *_late(account),
        *_window(account),
        *_recovery(account),
        *_backups(account),
        *_long_queues(account),
    ]


def _not_captured(account: Account, view: View) -> Iterator[Cause]:
    """Subflows of which nothing was captured: of a path that is missing here, nothing is known."""
    found = coverage(account, view)
    if found is not None and found.lacks_paths:
        missing = found.acknowledged_bytes - found.captured_bytes
        evidence = [
            f"{size(missing)} of the {size(found.acknowledged_bytes)} of data that were "
            "acknowledged went over subflows that the capture does not hold",
            "give the captures of all interfaces of the host together",
        ]
        yield Cause("not_captured", None, evidence)


def _single_path(account: Account, events: Sequence[Row]) -> Iterator[Cause]:
    row = account.row
    if row["fallback"] is not None:
        told = [one["text"] for one in events if one["kind"] == "fallback"]
        yield Cause("fallback", None, [f"fell back to TCP: {row['fallback']}", *told])
        return
    if row["protocol"] == "tcp":
        if not row["inferred"]:
            yield Cause("plain_tcp", None, ["neither SYN nor SYN/ACK asked for MPTCP"])
        return
    joins = [one.row for one in account.subflows if one.row["origin"] == "join"]
    if any(one["established_ns"] is not None for one in joins):
        return
    if joins:
        for one in joins:
            yield Cause("join_refused", one["subflow"], [_refusal(one, events)])
        return
    announced = [one for one in events if one["kind"] == "address_announced"]
    evidence = [f"the capture has no join in {account.duration_s:.3g} s"]
    if announced:
        evidence.append(f"announcements of further addresses that none followed: {len(announced)}")
    else:
        evidence.append("neither end announced another address")
    evidence.append("a single address, a path manager or its limits: packets do not tell which")
    yield Cause("no_join", None, evidence)


def _refusal(subflow: Row, events: Sequence[Row]) -> str:
    told = [
        one["text"]
        for one in events
        if one["subflow"] == subflow["subflow"] and one["kind"] in ("join_rejected", "hmac_wrong")
    ]
    if told:
        return f"{ends(subflow)}: {told[0]}"
    how = "was reset" if subflow["end"] == "reset" else "was not answered"
    return f"{ends(subflow)}: the join {how}"


def _late(account: Account) -> Iterator[Cause]:
    start_ns, whole_ns = account.row["start_ns"], account.duration_s * 1e9
    for one in account.subflows:
        joined_ns = one.row["established_ns"]
        if one.row["origin"] != "join" or joined_ns is None:
            continue
        after_ns = joined_ns - start_ns
        usual_ns = _ROUND_TRIPS_OF_A_JOIN * (one.row["handshake_rtt_ns"] or 0) + _LATE_NS
        if after_ns > usual_ns and after_ns >= NOTICEABLE * whole_ns:
            evidence = f"joined after {length(after_ns)} of {length(whole_ns)}"
            yield Cause("late_subflow", one.row["subflow"], [evidence])


def _window(account: Account) -> Iterator[Cause]:
    share = account.share(WINDOW)
    if share >= NOTICEABLE:
        most = account.row[f"{account.sender}_window_max_bytes"]
        evidence = [
            f"the receiver's window left no room for {share:.0%} of the time",
            f"it was {size(most)} at most",
        ]
        yield Cause("receive_buffer_too_small", None, evidence)


def _recovery(account: Account) -> Sequence[Cause]:
    """Loss by chance; congestion control itself fills queues until they drop something."""
    if account.is_near_receiver:
        return ()
    found = []
    for one in account.subflows:
        spent_s = one.account_s.get(RECOVERY, 0.0)
        packets, again = _sent(one, account.sender)
        is_chance = 2 * one.sudden_recoveries > one.recoveries
        if packets and is_chance and spent_s >= NOTICEABLE * account.duration_s:
            evidence = [
                f"{again} of {packets} packets sent again ({again / packets:.2%})",
                f"{one.sudden_recoveries} of {one.recoveries} times while its round trip was in "
                "the lower half of its range: no queue was full",
            ]
            found.append((again / packets, Cause("loss", one.row["subflow"], evidence)))
    return [cause for _, cause in sorted(found, key=lambda each: -each[0])]


def _sent(subflow: SubflowAccount, sender: str) -> tuple[int, int]:
    row = subflow.row
    return row[f"{sender}_wire_packets"], row[f"{sender}_retransmitted_packets"]


def _backups(account: Account) -> Iterator[Cause]:
    if len(account.subflows) < 2:
        return
    for one in account.subflows:
        row = one.row
        share = row[f"{account.sender}_share"] or 0.0
        if (row["client_backup"] or row["server_backup"]) and share < NOTICEABLE:
            yield Cause("backup", row["subflow"], [f"a backup, which carried {share:.1%}"])


def _long_queues(account: Account) -> Iterator[Cause]:
    for one in account.subflows:
        least, mean = (one.row[f"{account.sender}_rtt_{kind}_ns"] for kind in ("min", "mean"))
        if least is not None and mean is not None and mean - 2 * least > _LONG_QUEUE_NS:
            evidence = f"a round trip of {length(mean)} on average, {length(least)} at least"
            yield Cause("bufferbloat", one.row["subflow"], [evidence])


def to_json(account: Account, found: Sequence[Cause]) -> Mapping[str, Any]:
    """An account and its causes as in `mptcplab trace --explain --json`."""
    return {
        "connection": account.row["connection"],
        "ends": account.words,
        "sender": account.sender,
        "duration_s": account.duration_s,
        "near_receiver": account.is_near_receiver,
        "account_s": dict(account.account_s),
        "subflows": [
            {"subflow": one.row["subflow"], "ends": ends(one.row), "account_s": dict(one.account_s)}
            for one in account.subflows
        ],
        "causes": [one.to_json() for one in found],
    }
