"""Filters choose the connections that they tell, and mistakes are shown where they stand."""

from pathlib import Path

import pytest

from mptcplab.trace import TraceError, open_tables, view
from mptcplab.trace.filter import FilterError
from mptcplab.trace.matching import FIELDS, WORDS, check


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("mptcp", [0, 1]),
        ("tcp", [2]),
        ("protocol == tcp", [2]),
        ("version == 1", [0, 1]),
        ("not mptcp", [2]),
        ("not version == 1", [2]),
        ("version != 1", []),
        ("address == 10.0.8.2", [0]),
        ("address == 10.0.0.0/8", [0, 1]),
        ("address != 10.0.0.0/8", [2]),
        ("address == 2001:db8::/32", [2]),
        ("client.address == [2001:db8::2]", [2]),
        ("server.address == 2001:db8::2", []),
        ("port == 443 or port == 80", [1, 2]),
        ("client.port >= 40100", [1, 2]),
        ("bytes > 1 MB", [0]),
        ("bytes > 1MB and mptcp", [0]),
        ("bytes >= 56000 and bytes < 60 kB", [2]),
        ("server.bytes <= 14 kB", [1]),
        ("client.bytes == 0", [0, 1, 2]),
        ("subflows >= 2", [0]),
        ("duration > 200 ms and duration < 1 s", [2]),
        ("start > 0.9 s", [1]),
        ("goodput > 5 Mbit/s", [2]),
        ("silence > 300 ms", [0]),
        ("rtt < 11ms", [2]),
        ("retransmissions == 6", [0]),
        ("retransmissions >= 0x6", [0]),
        ("reinjected", [0]),
        ("reinjected == 8400 B", [0]),
        ("moved", [0]),
        ("end == FAST_CLOSE", [1]),
        ("token == 0x5e6f7081", [0, 1]),
        ("connection == 2 or connection == 0 and mptcp", [0, 2]),
        ("(connection == 2 or connection == 0) and mptcp", [0]),
        ("not (tcp or end == fast_close)", [0]),
        ("fallback", []),
        ("inferred or checksums", []),
        ("retransmissions", [0]),
        ("retransmissions.fast == 5 and retransmissions.timeout == 1", [0]),
        ("retransmissions.spurious > 0", []),
        ("retransmitted == 0 B", [0, 1, 2]),
        ("recovery", []),
        ("recovery > 1 s", []),
        ("rtt.max > 40 ms", [0]),
        ("rtt.mean < 13 ms", [2]),
        ("data_rtt < 1 s", []),
        ("handshake > 30 ms", [0]),
        ("handshake < 15 ms", [2]),
        ("joined", [0]),
        ("hmac == valid", [0]),
        ("hmac == wrong or hmac == unknown", []),
        ("hmac != valid", [1, 2]),
        ("id == 2", [0]),
        ("client.id == 2", []),
        ("server.id == 2", [0]),
        ("key == 0x0123456789abcdef", [0, 1]),
        ("key == 0xfedcba9876543210", [0, 1]),
        ("key == 0xffffffffffffffffffff", []),
    ],
)
def test_a_filter_chooses(tables: Path, text: str, numbers: list[int]) -> None:
    assert view(open_tables(tables), matching=text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("bites > 1", "'bites' is nothing to ask for: did you mean \"bytes\"?", 0),
        ("mptcp and mtpcp", "'mtpcp' is nothing to ask for: did you mean \"mptcp\"?", 10),
        ("bytes = 3", "expected a sign: did you mean ==?", 6),
        ("bytes >", "expected a value", 7),
        ("(mptcp", "expected )", 6),
        ("mptcp)", "expected `and`, `or` or the end", 5),
        ("mptcp && tcp", "did you mean and?", 6),
        ("mptcp tcp", "expected `and`, `or` or the end", 6),
        ("bytes > 1 m", 'did you mean "1 MB"?', 8),
        ("duration > 3", "a time needs a unit", 11),
        ("goodput > 3 MB/s", "bit/s", 10),
        ("address < 10.0.0.1", "goes with == and != only", 8),
        ("address == 10.0.0.256", "is no address and no network", 11),
        ("port > http", "is a whole number", 7),
        ("port", "needs a comparison", 0),
        ("", "expected a field", 0),
        ("and", "expected a field", 0),
        ("not " * 60 + "mptcp", "too deep", 203),
    ],
)
def test_a_mistake_is_shown_where_it_stands(text: str, message: str, place: int) -> None:
    with pytest.raises(FilterError) as caught:
        check(text)
    assert message in str(caught.value)
    assert caught.value.place == place
    assert str(caught.value).splitlines()[-1].index("^") == place + 2


def test_every_field_can_be_compared(tables: Path) -> None:
    values = {
        "number": "1",
        "size": "1 kB",
        "time": "1 s",
        "rate": "1 Mbit/s",
        "word": "fin",
        "address": "::1",
        "key": "0xfedcba9876543210",
    }
    trace = open_tables(tables)
    for name, field in FIELDS.items():
        equal = view(trace, matching=f"{name} == {values[field.kind]}").numbers
        unequal = view(trace, matching=f"not {name} == {values[field.kind]}").numbers
        assert sorted(equal + unequal) == [0, 1, 2], name
    for word in WORDS:
        view(trace, matching=word)


def test_numbers_choose_and_are_checked(tables: Path) -> None:
    trace = open_tables(tables)
    assert view(trace, connections=[2, 0]).numbers == [0, 2]
    assert view(trace, connections=[2, 0], matching="tcp").numbers == [2]
    with pytest.raises(TraceError, match="no connection has the number 7: they go from 0 to 2"):
        view(trace, connections=[0, 7])


def test_a_range_of_time_chooses_events_samples_and_packets(tables: Path) -> None:
    trace = open_tables(tables)
    whole = view(trace)
    part = view(trace, from_ns=2_000_000_000, to_ns=2_500_000_000)
    assert part.numbers == [0]
    assert part.events["kind"].to_list() == ["timeout", "reinjection", "traffic_moved"]
    assert part.connections.row(0) == whole.connections.row(0)
    times = part.packets.select("t_ns").collect()["t_ns"] - part.origin_ns
    assert times.is_between(2_000_000_000, 2_500_000_000).all()
    assert part.handovers.height == 1
    assert view(trace, from_ns=3_000_000_000).handovers.height == 0
