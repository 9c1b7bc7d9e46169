"""Where the analysis and tshark (4.0) do not agree, by the names under which the docs explain it.

A difference is expected where its condition holds and nowhere else: what differs without a name
fails the tests, and so does a name that no case shows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.trace.shark import Row

_RETRANSMISSIONS = {"fast_retransmission", "timeout_retransmission"}
_RESENT = {"retransmission", "fast_retransmission", "spurious_retransmission"}
EXACT = (
    "t_ns",
    "flags",
    "raw_sequence",
    "raw_acknowledgement",
    "payload_bytes",
    "packet_bytes",
    "identification",
    "ecn",
    "ts_value",
    "ts_echo",
    "mss",
    "window_shift",
    "mptcp",
)
"""Columns that are the same in every packet of every capture."""


class Pair(NamedTuple):
    """A packet in the table `packets`, as tshark shows it, and as it was reckoned plainly."""

    ours: Row
    theirs: Row
    reckoned: dict[str, Any]


class Mismatch(NamedTuple):
    """A value that differs."""

    frame: int
    column: str
    ours: object
    theirs: object


def _sequence(pair: Pair) -> tuple[object, object]:
    number = pair.ours["sequence"]
    return None if number is None else number % 2**32, pair.theirs["sequence"]


def _acknowledgement(pair: Pair) -> tuple[object, object]:
    number = pair.ours["acknowledgement"]
    return None if number is None else number % 2**32, pair.theirs["acknowledgement"]


def _window(pair: Pair) -> tuple[object, object]:
    return pair.ours["window_bytes"], pair.theirs["window"]


def _in_flight(pair: Pair) -> tuple[object, object]:
    theirs = pair.theirs["bytes_in_flight"]
    return (None if theirs is None else pair.ours["in_flight_bytes"]), theirs


def _data_sequence(pair: Pair) -> tuple[object, object]:
    theirs = pair.theirs["data_sequence"][:1] if pair.theirs["payload_bytes"] else []
    return pair.ours["data_sequence"], (theirs or [None])[0]


def _data_acknowledgement(pair: Pair) -> tuple[object, object]:
    return pair.ours["data_acknowledgement"], pair.theirs["data_acknowledgement"]


def _reinjection(pair: Pair) -> tuple[object, object]:
    return pair.ours["reinjected_bytes"] > 0, bool(pair.theirs["reinjection_of"])


def _retransmission(pair: Pair) -> tuple[object, object]:
    return pair.ours["kind"] in _RETRANSMISSIONS, bool(pair.theirs["analysis"] & _RESENT)


def _out_of_order(pair: Pair) -> tuple[object, object]:
    return pair.ours["kind"] == "out_of_order", "out_of_order" in pair.theirs["analysis"]


def _keep_alive(pair: Pair) -> tuple[object, object]:
    return pair.ours["kind"] == "keep_alive", "keep_alive" in pair.theirs["analysis"]


def _window_probe(pair: Pair) -> tuple[object, object]:
    return pair.ours["kind"] == "window_probe", "zero_window_probe" in pair.theirs["analysis"]


def _round_trip(pair: Pair) -> tuple[object, object]:
    return pair.ours["rtt_ns"], pair.theirs["ack_rtt_ns"]


_COMPARED: dict[str, Callable[[Pair], tuple[object, object]]] = {
    "sequence": _sequence,
    "acknowledgement": _acknowledgement,
    "window_bytes": _window,
    "in_flight_bytes": _in_flight,
    "data_sequence": _data_sequence,
    "data_acknowledgement": _data_acknowledgement,
    "reinjection": _reinjection,
    "retransmission": _retransmission,
    "out_of_order": _out_of_order,
    "keep_alive": _keep_alive,
    "window_probe": _window_probe,
    "rtt_ns": _round_trip,
}


@dataclass(frozen=True)
class Difference:
    """A way in which the two differ."""

    name: str
    column: str
    holds: Callable[[Pair], bool]


def _options(pair: Pair) -> str:
    return pair.theirs["mptcp"] or ""


def _has_data_numbers(pair: Pair) -> bool:
    return "MP_CAPABLE" in _options(pair) or "dsn=" in _options(pair)


def _is_reset(pair: Pair) -> bool:
    return "R" in pair.theirs["flags"]


def _is_repair_taken_for_reordering(pair: Pair) -> bool:
    ours, theirs = pair.ours["kind"], pair.theirs["analysis"]
    return ours in _RETRANSMISSIONS and "out_of_order" in theirs


def _is_partly_new(pair: Pair) -> bool:
    return bool(pair.reckoned["again"]) and pair.ours["new_bytes"] > 0


def _without_keys(pair: Pair) -> bool:
    return "connection" not in pair.reckoned and "DSS" in _options(pair)


def _follows_data_fin(pair: Pair) -> bool:
    return bool(pair.reckoned.get("after_data_fin"))


def _opened_by_server(pair: Pair) -> bool:
    return pair.reckoned.get("opener") == "server"


def _is_ignored(pair: Pair) -> bool:
    return bool(pair.ours["kind"] == "not_acceptable")


DIFFERENCES: tuple[Difference, ...] = (
    *(
        Difference("segment that its receiver ignores", column, _is_ignored)
        for column in ("sequence", "acknowledgement", "window_bytes")
    ),
    Difference("data checksum", "mptcp", lambda pair: pair.theirs["data_checksum"] is not None),
    Difference("window of a reset", "window_bytes", _is_reset),
    Difference(
        "window of unknown scale",
        "window_bytes",
        lambda pair: pair.ours["window_bytes"] is None and pair.theirs["window_scale"] == -1,
    ),
    Difference(
        "bytes acknowledged before, in flight",
        "in_flight_bytes",
        lambda pair: (
            pair.reckoned["acknowledged_before"]
            or pair.theirs["bytes_in_flight"] == pair.reckoned["repeated_bytes"]
        ),
    ),
    Difference(
        "selectively acknowledged bytes in flight",
        "in_flight_bytes",
        lambda pair: (
            pair.ours["in_flight_bytes"] - pair.theirs["bytes_in_flight"]
            in (
                pair.reckoned["selective_bytes"],
                pair.reckoned["selective_bytes"] + pair.reckoned["duplicate_bytes"],
            )
        ),
    ),
    Difference(
        "bytes in flight beyond a hole", "in_flight_bytes", lambda pair: pair.reckoned["holes"]
    ),
    Difference(
        "bytes in flight after a reset", "in_flight_bytes", lambda pair: pair.reckoned["reset"]
    ),
    Difference(
        "data sequence numbers of 4 bytes",
        "data_sequence",
        lambda pair: "dsn_bytes=4" in _options(pair),
    ),
    Difference("data after a DATA_FIN", "data_sequence", _follows_data_fin),
    Difference("data after a DATA_FIN", "reinjection", _follows_data_fin),
    Difference("connection without keys", "data_sequence", _without_keys),
    Difference("connection without keys", "data_acknowledgement", _without_keys),
    Difference("subflows that the server opened", "data_sequence", _opened_by_server),
    Difference("subflows that the server opened", "data_acknowledgement", _opened_by_server),
    Difference(
        "infinite mapping",
        "data_sequence",
        lambda pair: _options(pair).endswith("len=0"),
    ),
    Difference(
        "mapping of a repair",
        "data_sequence",
        lambda pair: pair.theirs["missing_mapping"] and "dsn=" in _options(pair),
    ),
    Difference(
        "data without options",
        "data_sequence",
        lambda pair: not pair.theirs["data_sequence"] and not _has_data_numbers(pair),
    ),
    Difference(
        "data without options",
        "data_acknowledgement",
        lambda pair: "ack=" not in _options(pair),
    ),
    Difference(
        "retransmission of what was reinjected",
        "reinjection",
        lambda pair: pair.reckoned["again"] and not pair.ours["new_bytes"],
    ),
    Difference("repair taken for reordering", "retransmission", _is_repair_taken_for_reordering),
    Difference("repair taken for reordering", "out_of_order", _is_repair_taken_for_reordering),
    Difference("retransmission with new data", "retransmission", _is_partly_new),
    Difference(
        "round trip of no time",
        "rtt_ns",
        lambda pair: pair.ours["rtt_ns"] == 0 and pair.theirs["ack_rtt_ns"] is None,
    ),
    Difference(
        "round trip to a reset",
        "rtt_ns",
        lambda pair: _is_reset(pair) and pair.ours["rtt_ns"] is None,
    ),
    Difference(
        "round trip after a loss",
        "rtt_ns",
        lambda pair: bool(pair.reckoned["disturbed"]),
    ),
)


def mismatches(pair: Pair) -> Iterator[Mismatch]:
    """All that differs, whether expected or not."""
    frame = pair.theirs["frame"]
    for column in EXACT:
        if pair.ours[column] != pair.theirs[column]:
            yield Mismatch(frame, column, pair.ours[column], pair.theirs[column])
    for column, values in _COMPARED.items():
        ours, theirs = values(pair)
        if ours != theirs:
            yield Mismatch(frame, column, ours, theirs)


def name_of(pair: Pair, mismatch: Mismatch) -> str | None:
    """The name under which a mismatch is known."""
    for difference in DIFFERENCES:
        if difference.column == mismatch.column and difference.holds(pair):
            return difference.name
    return None
