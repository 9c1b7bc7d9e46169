"""Payload, checksums and data in the SYN: whether a path lets them pass as they were sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mptcplab.measure.plan import COMPARED_BYTES, Kind, Path, Step
from mptcplab.measure.survival import address, own_address

CHECKSUM_SETTING = "net.mptcp.checksum_enabled"
FAST_OPEN_SETTING = "net.ipv4.tcp_fastopen"
_CLIENT, _SERVER = 1, 2
"""Its bits: connections are opened by TCP Fast Open, listeners take data of SYNs."""
NOT_REACHED = "it ended before"

Connection = Mapping[str, Any]
Done = Sequence[tuple[Step, Mapping[str, Any]]]


class SynData(StrEnum):
    """The fate of data in a SYN."""

    ACKNOWLEDGED = "acknowledged"
    """By the SYN/ACK."""
    REFUSED = "refused"
    """They came with their cookie, and the target took none of them."""
    DROPPED = "dropped"
    """The SYN came without them."""
    STRIPPED = "stripped"
    """The SYN, or the answer to one that asked for a cookie, came without the option."""
    LOST = "lost"
    """The SYN, or its answer, did not come; one without them did."""


@dataclass(frozen=True)
class Settings:
    """Settings of one end. Null: not known."""

    checksum_enabled: bool | None = None
    tcp_fastopen: int | None = None
    mptcp_fast_open: bool = False
    """Its sockets of MPTCP have TCP Fast Open."""


@dataclass(frozen=True)
class BothSettings:
    """Settings of both ends."""

    probe: Settings
    target: Settings

    def no_fast_open(self) -> str | None:
        """The reason for which data in SYNs cannot be tried."""
        ends = ((_OURS, self.probe.tcp_fastopen, _CLIENT),
                (_THEIRS, self.target.tcp_fastopen, _SERVER))  # fmt: skip
        for whose, bits, bit in ends:
            if bits is None:
                return f"{whose} {FAST_OPEN_SETTING} is not known"
            if not bits & bit:
                return f"{whose} {FAST_OPEN_SETTING} has no bit {bit}"
        return None

    def no_mptcp_fast_open(self) -> str | None:
        """The same of MPTCP alone."""
        for whose, one in ((_OURS, self.probe), (_THEIRS, self.target)):
            if not one.mptcp_fast_open:
                return f"{whose} kernel has no TCP Fast Open for MPTCP, which is new in Linux 6.2"
        return None

    def no_checksum(self) -> str | None:
        """The reason for which MPTCP has no checksums: either end can ask for them."""
        ends = (self.probe.checksum_enabled, self.target.checksum_enabled)
        if any(ends):
            return None
        if None in ends:
            whose = _OURS if ends[0] is None else _THEIRS
            return f"{whose} {CHECKSUM_SETTING} is not known"
        return f"{CHECKSUM_SETTING} is 0 at both ends"


_OURS, _THEIRS = "this machine's", "the target's"


@dataclass(frozen=True)
class Passing:
    """All of it on a path. Null: not known, for the reason beside it."""

    payload: bool | None = None
    """It comes as it was sent."""
    changed_bytes: int = 0
    """Of those that were compared."""
    payload_unknown: str | None = None
    checksum: bool | None = None
    """Checksums of MPTCP are in use, and right."""
    wrong_checksums: int = 0
    """Mappings with a wrong one, at both ends together."""
    checksum_unknown: str | None = None
    tcp_syn: SynData | None = None
    tcp_syn_unknown: str | None = None
    mptcp_syn: SynData | None = None
    mptcp_syn_unknown: str | None = None
    fell_back: bool = False
    """The connection with data in its SYN was opened by MPTCP and was TCP."""


def passing(paths: Sequence[Path], done: Done, settings: BothSettings | None) -> list[Passing]:
    """Of each path."""
    return [_of_path(path, number, done, settings) for number, path in enumerate(paths)]


def _of_path(path: Path, number: int, done: Done, settings: BothSettings | None) -> Passing:
    own = [(step, result) for step, result in done if step.path == number]
    compared = [result for step, result in own if step.kind is Kind.PAYLOAD]
    # The first look gets a cookie.
    is_with_data = [step.kind is Kind.FAST_OPEN and step.repetition > 0 for step, _ in own]
    looks = [result for (_, result), with_data in zip(own, is_with_data, strict=True) if with_data]
    if not compared:
        payload: dict[str, Any] = dict.fromkeys(
            ("payload_unknown", "checksum_unknown"), NOT_REACHED
        )
    else:
        payload = _payload(path, compared[-1], settings)
    return Passing(**payload, **_syn_data(looks, settings))


def _payload(
    path: Path, result: Mapping[str, Any], settings: BothSettings | None
) -> dict[str, Any]:
    (one,) = result["connections"]
    ends = [end for end in (one["probe"], one["target"]) if end is not None]
    changed = sum(end["changed_bytes"] or 0 for end in ends)
    is_whole = len(ends) == 2 and all(end["received_bytes"] == COMPARED_BYTES for end in ends)
    is_mptcp = is_whole and all(end["seen"]["mptcp"] for end in ends)
    none_in_use = _no_checksum(ends, settings, is_mptcp=is_mptcp)
    counted = result["wrong_checksums"]
    wrong = (counted["probe"] or 0) + (counted["target"] or 0)
    # Subflows over other paths may have joined, and be those that had them.
    is_right = is_mptcp and not changed and _has_own_subflow(one, path)
    if is_right or settings is None or settings.no_checksum() is not None:
        wrong = 0
    if wrong:
        none_in_use = None
    payload, unknown = None, None
    if changed or wrong or one["refused"]:
        payload = False
    elif is_whole:
        payload = True
    else:
        unknown = one["failure"] or "not all of it came"
    return {
        "payload": payload,
        "changed_bytes": changed,
        "payload_unknown": unknown,
        "checksum": None if none_in_use is not None else not wrong,
        "wrong_checksums": wrong,
        "checksum_unknown": none_in_use,
    }


def _has_own_subflow(one: Connection, path: Path) -> bool:
    """The subflow with which a connection began is there still."""
    seen = one["probe"]["seen"]["subflows"]
    return own_address(path.source) in {address(subflow["local"]) for subflow in seen}


def _no_checksum(
    ends: Sequence[Mapping[str, Any]], settings: BothSettings | None, *, is_mptcp: bool
) -> str | None:
    """The reason for which nothing is known about checksums where none was wrong."""
    if settings is None:
        return "the settings of both ends are not known"
    reason = settings.no_checksum()
    if reason is not None:
        return reason
    if not is_mptcp:
        return "no connection that begins there was MPTCP"
    if not all(end["seen"]["checksum"] for end in ends):
        return "the kernels use none although one of them asks for it"
    return None


def _syn_data(looks: Sequence[Mapping[str, Any]], settings: BothSettings | None) -> dict[str, Any]:
    reason = None if settings is None else settings.no_fast_open()
    if reason is None and (settings is None or not looks):
        reason = NOT_REACHED
    if reason is not None or settings is None:
        return {"tcp_syn_unknown": reason, "mptcp_syn_unknown": reason}
    with_data = [look["connections"] for look in looks]
    tcp = [_fate(one, one) for one, _, _ in with_data]
    told = _best(tcp)
    told_of_mptcp: _Fate = (None, settings.no_mptcp_fast_open())
    if told_of_mptcp[1] is None:
        # The target sees SYNs of MPTCP where nothing but TCP is spoken.
        told_of_mptcp = _best([_fate(one, seen) for _, seen, one in with_data])
    last = with_data[-1][2]
    ends = (last["probe"], last["target"])
    came = last["connect_us"] is not None and last["target"] is not None
    return {
        "tcp_syn": told[0],
        "tcp_syn_unknown": told[1],
        "mptcp_syn": told_of_mptcp[0],
        "mptcp_syn_unknown": told_of_mptcp[1],
        "fell_back": came and not all(end["seen"]["mptcp"] for end in ends),
    }


_Fate = tuple[SynData | None, str | None]
"""Or the reason for which it is not known."""


def _best(fates: Sequence[_Fate]) -> _Fate:
    """The last one, but for data that were acknowledged once: others may be lost by chance."""
    for one in fates:
        if one[0] is SynData.ACKNOWLEDGED:
            return one
    return fates[-1]


def _fate(one: Connection, witness: Connection) -> _Fate:
    """Of the data in the SYN of a connection, whose like the target has seen."""
    seen = one["probe"]["seen"]
    if seen["syn_data_acked"]:
        return SynData.ACKNOWLEDGED, None
    if one["connect_us"] is None or one["target"] is None:
        return None, one["failure"] or "the target saw no connection"
    match seen["fast_open_failure"]:
        case "syn_retransmitted":
            return SynData.LOST, None
        case "cookie_unavailable":
            return SynData.STRIPPED, None
        case "data_not_acked":
            target = witness["target"]
            syn = None if target is None else target["syn"]
            if syn is None:
                return SynData.DROPPED, None
            if "fast-open" not in syn["names"]:
                return SynData.STRIPPED, None
            return (SynData.REFUSED if syn["data_bytes"] else SynData.DROPPED), None
        case _:
            return None, "this machine's kernel sent none"
