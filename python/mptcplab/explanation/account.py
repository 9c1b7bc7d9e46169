"""The account of a connection: each moment of it and of its paths has exactly one state.

From the kernel's own times between two samples (`busy_us` and its parts), and from what the samples
say of the connection's buffer and window where a subflow had nothing to send.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mptcplab.explanation.observed import Connection, Observed, PathLink
from mptcplab.metrics.rows import Row

NOT_JOINED = "not_joined"
LINK_DOWN = "link_down"
WAITING = "waiting_for_path"
"""Followed by a colon and the path whose data the connection waits for."""
SEND_BUFFER = "send_buffer_limited"
RECEIVE_WINDOW = "receive_window_limited"
SCHEDULER = "idle_by_scheduler"
RECOVERY = "recovery"
CONGESTION_WINDOW = "congestion_window_limited"
LINK_FULL = "link_full"
APPLICATION = "application_limited"
UNKNOWN = "unknown"
"""Between the last sample of a subflow and the end, or where an older recording does not tell."""

_WORST_FIRST = (
    LINK_DOWN, WAITING, SEND_BUFFER, RECEIVE_WINDOW, SCHEDULER, RECOVERY, NOT_JOINED,
    CONGESTION_WINDOW, UNKNOWN, LINK_FULL, APPLICATION,
)  # fmt: skip
"""The order in which the states of paths count as that of the connection."""
_FULL = 0.95
"""Part of a link's rate from which on it counts as full: headers of acknowledgements, pauses."""
_FREE_TO_WAKE = 3
"""A writer is woken when a third of its buffer is free (`sk_stream_is_writeable` of Linux)."""

_SEGMENT_BYTES = 1460
"""A window with less room is closed to a full segment."""

Times = Mapping[str, int]
"""State → nanoseconds."""


@dataclass(frozen=True)
class Account:
    """Where the time of a connection went. The times of each sum to `end - start`."""

    connection: Connection
    times_ns: Times
    paths_ns: Mapping[str, Times]

    @property
    def duration_ns(self) -> int:
        """From the connection's start to its end."""
        return self.connection.end_ns - self.connection.start_ns

    def share(self, *states: str) -> float:
        """Part of the connection's time in these states, whichever path they wait for."""
        spent = (ns for state, ns in self.times_ns.items() if state.partition(":")[0] in states)
        return sum(spent) / self.duration_ns

    def share_of(self, path: str, *states: str) -> float:
        """Part of a path's time in these states."""
        times = self.paths_ns.get(path, {})
        spent = (ns for state, ns in times.items() if state.partition(":")[0] in states)
        return sum(spent) / self.duration_ns

    @property
    def waited_for_ns(self) -> Mapping[str, int]:
        """Path → time for which the connection waited for its data."""
        return {
            state.partition(":")[2]: ns
            for state, ns in self.times_ns.items()
            if state.startswith(WAITING)
        }


@dataclass(frozen=True)
class _Piece:
    """The counts of a subflow from one of its samples to the next."""

    begin_ns: int
    end_ns: int
    busy_ns: int
    times_ns: Times

    def part(self, begin_ns: int, end_ns: int) -> Times:
        """The times of a part of it, in proportion; they sum to the part's length."""
        length_ns = self.end_ns - self.begin_ns
        if (begin_ns, end_ns) == (self.begin_ns, self.end_ns):
            return self.times_ns
        first, last = begin_ns - self.begin_ns, end_ns - self.begin_ns
        known = [
            (state, ns * last // length_ns - ns * first // length_ns)
            for state, ns in self.times_ns.items()
        ]
        return divided(end_ns - begin_ns, known, max(self.times_ns, key=self.times_ns.__getitem__))


class _Series:
    """The pieces of a subflow, in order and without gaps."""

    def __init__(self, pieces: Sequence[_Piece], *, has_ended: bool) -> None:
        self.pieces = pieces
        self.has_ended = has_ended
        self._begins = [piece.begin_ns for piece in pieces]

    def at(self, at_ns: int) -> _Piece | None:
        """The piece that has this moment."""
        place = bisect_right(self._begins, at_ns) - 1
        if place < 0 or self.pieces[place].end_ns <= at_ns:
            return None
        return self.pieces[place]

    def is_unknown(self, at_ns: int) -> bool:
        """Whether it was there before this moment, and is not known to have ended."""
        return bool(self.pieces) and self.pieces[-1].end_ns <= at_ns and not self.has_ended


def account(observed: Observed, connection: Connection) -> Account:
    """The account of a connection."""
    series = _series(observed, connection)
    start_ns, end_ns = connection.start_ns, connection.end_ns
    places = {
        place
        for own in series.values()
        for one in own
        for piece in one.pieces
        for place in (piece.begin_ns, piece.end_ns)
    }
    whole: dict[str, int] = {}
    by_path: dict[str, dict[str, int]] = {path: {} for path in connection.paths}
    for begin, end in pairwise(sorted({start_ns, *places, end_ns})):
        joined: list[Times] = []
        is_unknown, are_down = False, True
        for path, own in series.items():
            # Subflows of one path share its link: the busiest tells what the path did.
            piece = max(
                (piece for one in own if (piece := one.at(begin))),
                key=lambda piece: piece.busy_ns / (piece.end_ns - piece.begin_ns),
                default=None,
            )
            was_there = any(one.is_unknown(begin) for one in own)
            times: Times
            is_down = _is_down(observed, connection, path, begin)
            if is_down:
                times = {LINK_DOWN: end - begin}
            elif piece is not None:
                times = piece.part(begin, end)
            else:
                times = {UNKNOWN if was_there else NOT_JOINED: end - begin}
            _add(by_path[path], times)
            if piece is not None:
                joined.append(times)
            is_unknown = is_unknown or was_there
            are_down = are_down and is_down
        alone = LINK_DOWN if are_down else UNKNOWN if is_unknown else NOT_JOINED
        _add(whole, merged(joined or [{alone: end - begin}], end - begin))
    return Account(connection, whole, by_path)


def _series(observed: Observed, connection: Connection) -> Mapping[str, Sequence[_Series]]:
    """Path → its subflows, each with the states between its own samples."""
    times = [row["t_ns"] for row in connection.samples]
    found: dict[str, list[_Series]] = {path: [] for path in connection.paths}
    links = {path: observed.path_link(connection, path) for path in connection.paths}
    for one in connection.subflows:
        link = links[one.path]
        at_link = [] if link is None else [row["t_ns"] for row in link.samples]
        pieces: list[_Piece] = []
        before: Row | None = None
        # It was not there yet at the sample before its first one.
        begin = connection.start_ns
        if one.samples:
            begin = max(begin, one.samples[0]["t_ns"] - observed.plan.sample_interval_ns)
        for after in one.samples:
            end = after["t_ns"]
            if end > begin:
                # Lists of sockets are read one after the other: connections a little later.
                place = bisect_left(times, end)
                whole = connection.samples[min(place, len(times) - 1)] if times else None
                idle = _idle_state(end, whole, connection)
                around: Sequence[Row] = ()
                if link is not None:
                    first, last = bisect_left(at_link, begin), bisect_right(at_link, end)
                    around = link.samples[first:last]
                is_full = _is_full(link, around)
                states = _path_times(end - begin, (before, after), idle, one.path, is_full=is_full)
                pieces.append(_Piece(begin, end, _ns(before, after, "busy_us"), states))
                begin = end
            before = after
        ended = bool(one.samples and one.samples[-1]["final"])
        found[one.path].append(_Series(pieces, has_ended=ended))
    return found


def merged(parts: Iterable[Times], length_ns: int) -> dict[str, int]:
    """The time of a whole from that of its parts.

    The worst state counts first, each as long as the part that was in it longest, as far as there
    is time left.
    """
    every = list(parts)
    found: dict[str, int] = {}
    left = length_ns
    states = {state for times in every for state in times}
    for state in sorted(states, key=lambda one: (_WORST_FIRST.index(one.partition(":")[0]), one)):
        spent = min(left, max(times.get(state, 0) for times in every))
        if spent:
            found[state] = spent
            left -= spent
    if left:
        found[UNKNOWN] = found.get(UNKNOWN, 0) + left
    return found


def divided(length_ns: int, known: Sequence[tuple[str, int]], rest: str) -> dict[str, int]:
    """An interval divided among states in this order, as far as it reaches, and the rest."""
    found: dict[str, int] = {}
    left = length_ns
    for state, ns in known:
        spent = max(0, min(left, ns))
        if spent:
            found[state] = found.get(state, 0) + spent
            left -= spent
    if left:
        found[rest] = found.get(rest, 0) + left
    return found


def _path_times(
    length_ns: int,
    samples: tuple[Row | None, Row],
    idle: tuple[str, str],
    path: str,
    *,
    is_full: bool,
) -> Times:
    """The states of a subflow between two of its samples."""
    before, after = samples
    if after["busy_us"] is None:
        return {UNKNOWN: length_ns}
    busy = _ns(before, after, "busy_us")
    window = _ns(before, after, "rwnd_limited_us")
    buffer = _ns(before, after, "sndbuf_limited_us")
    state, slowest = idle
    if state == WAITING and slowest == path:
        # Its own data is what fills the buffer.
        state = SEND_BUFFER
    rest = f"{WAITING}:{slowest}" if state == WAITING else state
    again = (after["bytes_retrans"] or 0) - ((before or {}).get("bytes_retrans") or 0)
    recovery = (after["rtt_us"] or 0) * 1000 if again > 0 else 0
    network = max(0, busy - window - buffer)
    if state == APPLICATION and not _has_waiting(after):
        # All that there is is on its way.
        carried = APPLICATION
    elif is_full:
        carried = LINK_FULL
    elif _fills_window(after):
        carried = CONGESTION_WINDOW
    else:
        carried = rest
    recovering = min(recovery, network)
    if carried == LINK_FULL:
        recovering = 0
    # The connection's buffer also fills where its window or another path holds up its data.
    is_held_up = state == RECEIVE_WINDOW or rest.startswith(WAITING)
    buffer_state = rest if is_held_up else SEND_BUFFER
    return divided(
        length_ns,
        (
            (RECEIVE_WINDOW, window),
            (buffer_state, buffer),
            (RECOVERY, recovering),
            (carried, network - recovering),
        ),
        rest,
    )


def _idle_state(end: int, after: Row | None, connection: Connection) -> tuple[str, str]:
    """Why a subflow had nothing to send until `end`, and the path that is waited for."""
    if after is None or after["snd_buf"] is None:
        return UNKNOWN, ""
    queued, held = after["snd_queued"], after["snd_buf"]
    in_flight = (after["bytes_sent"] or 0) - (after["bytes_acked"] or 0)
    unsent = (after["write_seq"] or 0) - (after["snd_una"] or 0) - in_flight
    windows = [row["snd_wnd"] for _, row in connection.by_time.get(end, ()) if row["snd_wnd"]]
    if windows and in_flight + _SEGMENT_BYTES > max(windows):
        return RECEIVE_WINDOW, ""
    if _FREE_TO_WAKE * queued > (_FREE_TO_WAKE - 1) * held:
        return WAITING, _slowest(end, connection)
    return (SCHEDULER, "") if unsent > 0 else (APPLICATION, "")


def _slowest(at_ns: int, connection: Connection) -> str:
    """The path with data in flight whose acknowledgements take longest."""
    found = [
        (row["rtt_us"] or 0, one.path)
        for one, row in connection.by_time.get(at_ns, ())
        if row["unacked"] or row["notsent_bytes"]
    ]
    return max(found)[1] if found else connection.paths[0]


def _is_down(observed: Observed, connection: Connection, path: str, at_ns: int) -> bool:
    """Whether the link or the interface of a path was down at a time, by the scenario's events."""
    down = False
    for change in observed.view.changes:
        is_own = (connection.client, path) in change.interfaces
        if is_own and change.up is not None and change.at_ns <= at_ns:
            down = not change.up
    return down


def _fills_window(sample: Row) -> bool:
    """Whether the congestion window kept something back: more waits, or it is full."""
    return _has_waiting(sample) or (sample["unacked"] or 0) >= (sample["cwnd"] or 1)


def _has_waiting(sample: Row) -> bool:
    """Whether a full segment waits to be sent; less may wait for more (Nagle's algorithm)."""
    return (sample["notsent_bytes"] or 0) >= _SEGMENT_BYTES


def _is_full(link: PathLink | None, samples: Sequence[Row]) -> bool:
    """Whether a link carried about its rate, or had a queue all the time."""
    if link is None or len(samples) < 2:
        return False
    if all(row["queued_bytes"] for row in samples):
        return True
    length_ns = samples[-1]["t_ns"] - samples[0]["t_ns"]
    carried_bits = 8 * (samples[-1]["delivered_bytes"] - samples[0]["delivered_bytes"])
    return bool(link.rate_bps) and carried_bits * 1e9 >= _FULL * (link.rate_bps or 0) * length_ns


def _ns(before: Row | None, after: Row, column: str) -> int:
    earlier = 0 if before is None else before[column] or 0
    return max(0, (after[column] or 0) - earlier) * 1000


def _add(sums: dict[str, int], times: Times) -> None:
    for state, ns in times.items():
        sums[state] = sums.get(state, 0) + ns
