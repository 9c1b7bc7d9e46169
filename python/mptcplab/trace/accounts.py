"""Accounts of connections from outside: where their time went, as far as packets tell it.

Every 100 ms (a bin of the table `samples`) a subflow is in one state, by what its sender sent.
Of the connection the time in which the receiver's window was closed is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.trace.views import View
from mptcplab.trace.words import ends

NOT_JOINED = "not_joined"
ENDED = "ended"
WINDOW = "receive_window_limited"
RECOVERY = "recovery"
SENDING = "sending"
WAITING = "waiting_for_acknowledgement"
BESIDE = "idle_while_others_send"
IDLE = "idle"
_WORST_FIRST = (RECOVERY, SENDING, WAITING, IDLE)
"""The order in which states of subflows count as that of the connection."""
_HELD_UP = (WAITING, SENDING, IDLE, RECOVERY)
"""The states that a closed window makes look so, the first one first."""
_NEAR = 0.1
"""Part of a round trip below which data is acknowledged where it was captured."""
NOT_TRIED = "what changes would gain: no scenario is known"
"""The question that `mptcplab explain` answers by a fitted scenario."""
CANNOT_TELL = (
    "whether a sender that sent, or was idle, had no more data, or was held back by its send "
    "buffer, its congestion window, its pacing or its scheduler",
    "what a middlebox did beyond the place of the capture",
    NOT_TRIED,
)
"""Questions that packets do not answer."""
_LONGEST = 0.98
"""Part of the longest trips of samples below which the range ends: the others are outliers."""
_BIN_NS = 100_000_000
_NS_PER_S = 1e9

Row = Mapping[str, Any]


@dataclass(frozen=True)
class SubflowAccount:
    """Where the time of a subflow went, from the start of its connection to the end of that."""

    row: Row
    """Of the table `subflows`."""
    account_s: Mapping[str, float]
    """State → time, the longest first."""
    recoveries: int
    """How often it began to send something again."""
    sudden_recoveries: int
    """Of these, where the round trip was in the lower half of its range: no queue was full."""


@dataclass(frozen=True)
class Account:
    """Where the time of a connection went, in the direction of most of its data."""

    row: Row
    """Of the table `connections`."""
    sender: str
    """`client` or `server`: the end that sent more."""
    account_s: Mapping[str, float]
    """State → time, the longest first; they sum to the duration."""
    subflows: Sequence[SubflowAccount]

    @property
    def duration_s(self) -> float:
        """From its first to its last packet in the capture."""
        return float(self.row["end_ns"] - self.row["start_ns"]) / _NS_PER_S

    @property
    def words(self) -> str:
        """The ends, the client first."""
        return ends(self.row)

    @property
    def is_near_receiver(self) -> bool:
        """Whether it was captured where its data arrives: what a window keeps back is not seen."""
        for one in self.subflows:
            least, whole = one.row[f"{self.sender}_rtt_min_ns"], one.row["handshake_rtt_ns"]
            if least is not None and whole is not None and least < _NEAR * whole:
                return True
        return False

    def share(self, state: str) -> float:
        """Part of its time in a state."""
        return self.account_s.get(state, 0.0) / self.duration_s if self.duration_s else 0.0


def accounts(view: View) -> Iterator[Account]:
    """The accounts of the chosen connections, in order of number."""
    samples: dict[tuple[int, int, str], dict[int, Row]] = {}
    for row in view.samples.iter_rows(named=True):
        key = (row["connection"], row["subflow"], row["from"])
        samples.setdefault(key, {})[row["t_ns"]] = row
    subflows: dict[int, list[Row]] = {}
    for row in view.subflows.iter_rows(named=True):
        subflows.setdefault(row["connection"], []).append(row)
    for row in view.connections.iter_rows(named=True):
        yield _account(row, subflows.get(row["connection"], []), samples)


def _account(
    row: Row, subflows: Sequence[Row], samples: Mapping[tuple[int, int, str], Mapping[int, Row]]
) -> Account:
    sender = "server" if row["server_payload_bytes"] > row["client_payload_bytes"] else "client"
    own = [samples.get((row["connection"], one["subflow"], sender), {}) for one in subflows]
    of_each: list[dict[str, int]] = [{} for _ in subflows]
    whole: dict[str, int] = {}
    in_flight = [0] * len(subflows)
    first_ns = row["start_ns"] // _BIN_NS * _BIN_NS
    for bin_ns in range(first_ns, row["end_ns"] + 1, _BIN_NS):
        begin_ns, end_ns = max(bin_ns, row["start_ns"]), min(bin_ns + _BIN_NS, row["end_ns"])
        if end_ns <= begin_ns:
            continue
        seen = [one.get(bin_ns) for one in own]
        in_flight = [
            before if sample is None else sample["in_flight_bytes"]
            for before, sample in zip(in_flight, seen, strict=True)
        ]
        are_sending = [sample is not None and sample["payload_bytes"] > 0 for sample in seen]
        states = [
            _state(subflow, sample, begin_ns, end_ns, in_flight[place])
            for place, (subflow, sample) in enumerate(zip(subflows, seen, strict=True))
        ]
        for place, state in enumerate(states):
            if state == IDLE and any(are_sending):
                states[place] = BESIDE
            times = of_each[place]
            times[states[place]] = times.get(states[place], 0) + end_ns - begin_ns
        together = next((one for one in _WORST_FIRST if one in states), IDLE)
        whole[together] = whole.get(together, 0) + end_ns - begin_ns
    return Account(
        row,
        sender,
        _seconds(_with_window(whole, row[f"{sender}_window_limited_ns"])),
        [
            SubflowAccount(one, _seconds(times), *_recoveries(one, samples_of, sender))
            for one, times, samples_of in zip(subflows, of_each, own, strict=True)
        ],
    )


def _recoveries(subflow: Row, samples: Mapping[int, Row], sender: str) -> tuple[int, int]:
    """How often it began to send again, and how often so while no queue can have been full."""
    least = subflow[f"{sender}_rtt_min_ns"]
    # One trip that lasted a recovery would double the range.
    longest = sorted(trip for one in samples.values() if (trip := one["rtt_max_ns"]) is not None)
    most = longest[int(_LONGEST * (len(longest) - 1))] if longest else None
    every = sudden = 0
    before: Row | None = None
    for _, sample in sorted(samples.items()):
        is_first = before is None or not before["retransmissions"]
        if sample["retransmissions"] and is_first:
            every += 1
            # The lost data had been sent a round trip before.
            trip = sample["rtt_max_ns"] if before is None else before["rtt_max_ns"]
            sudden += None not in (trip, least, most) and 2 * trip < least + most
        before = sample
    return every, sudden


def _state(
    subflow: Row,
    sample: Row | None,
    begin_ns: int,
    end_ns: int,
    in_flight: int,
) -> str:
    joined_ns = subflow["established_ns"]
    if (joined_ns is None and not subflow["inferred"]) or (joined_ns or 0) >= end_ns:
        return NOT_JOINED
    if subflow["end"] not in ("open", "silent") and subflow["end_ns"] <= begin_ns:
        return ENDED
    if sample is None or sample["payload_bytes"] == 0:
        return WAITING if in_flight > 0 else IDLE
    if sample["retransmissions"]:
        return RECOVERY
    return SENDING


def _with_window(whole: Mapping[str, int], limited_ns: int) -> dict[str, int]:
    """The account with the time in which the window was closed, which the table has exactly."""
    left_ns = limited_ns
    found: dict[str, int] = {}
    for state in (*_HELD_UP, *whole):
        if state in whole and state not in found:
            taken_ns = min(left_ns, whole[state])
            left_ns -= taken_ns
            found[state] = whole[state] - taken_ns
    found[WINDOW] = limited_ns - left_ns
    return {state: ns for state, ns in found.items() if ns}


def _seconds(times_ns: Mapping[str, int]) -> dict[str, float]:
    longest_first = sorted(times_ns.items(), key=lambda item: -item[1])
    return {state: ns / _NS_PER_S for state, ns in longest_first}
