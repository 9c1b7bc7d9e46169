import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.scenario.link import QueueLimit, parse_queue_limit
from mptcplab.scenario.units import (
    UnitError,
    format_rate,
    format_size,
    format_time,
    parse_probability,
    parse_rate,
    parse_size,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "bits_per_second"),
    [
        ("100 Mbit/s", 100_000_000),
        ("100Mbit/s", 100_000_000),
        ("  1.5 Gbit/s ", 1_500_000_000),
        ("64 kbit/s", 64_000),
        ("1 bit/s", 1),
        ("1e3 bit/s", 1_000),
    ],
)
def test_rates(text: str, bits_per_second: int) -> None:
    assert parse_rate(text) == bits_per_second


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1 ns", 1),
        ("2 us", 2_000),
        ("2 µs", 2_000),
        ("2 \u03bcs", 2_000),
        ("0.5 ms", 500_000),
        ("3.5 s", 3_500_000_000),
        ("2 min", 120_000_000_000),
        ("0 s", 0),
    ],
)
def test_times(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("38 B", 38),
        ("500 kB", 500_000),
        ("1.5 MB", 1_500_000),
        ("2 GB", 2 * 10**9),
        ("1 KiB", 1024),
        ("1 MiB", 2**20),
        ("1 GiB", 2**30),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("value", "fraction"), [("0.1 %", 0.001), ("100 %", 1.0), (0.25, 0.25), (1, 1.0), ("0.5", 0.5)]
)
def test_probabilities(value: object, fraction: float) -> None:
    assert parse_probability(value) == fraction


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("100 packets", "packets", 100),
        ("1 packet", "packets", 1),
        ("64 kB", "bytes", 64_000),
        ("1 BDP", "bdp", 1),
        ("unlimited", "unlimited", 0),
    ],
)
def test_queue_limits(text: str, unit: str, amount: int) -> None:
    limit = parse_queue_limit(text)
    assert (str(limit.unit), int(limit.amount)) == (unit, amount)


def test_a_fraction_of_a_bdp_is_exact() -> None:
    assert parse_queue_limit("0.1 BDP") != QueueLimit("bdp", parse_queue_limit("1 BDP").amount)
    assert str(parse_queue_limit("0.1 BDP").amount) == "0.1"


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("48 Mb", "48 Mbit/s"),
        ("48 Mbps", "48 Mbit/s"),
        ("48 mbit/s", "48 Mbit/s"),
        ("1 Gb/s", "1 Gbit/s"),
        ("9600 bps", "9600 bit/s"),
        ("3 kbits/s", "3 kbit/s"),
        ("6 MB/s", "48 Mbit/s"),
        ("48", "48 Mbit/s"),
    ],
)
def test_a_mistaken_rate_is_mended_to_one_that_can_be_read(text: str, suggestion: str) -> None:
    with pytest.raises(UnitError, match=f'did you mean "{suggestion}"') as caught:
        parse_rate(text)
    assert parse_rate(suggestion) > 0, caught.value


def test_a_bare_time_is_mended_by_the_unit_that_is_usual_there() -> None:
    with pytest.raises(UnitError, match='did you mean "5 ms"'):
        parse_time("5")
    with pytest.raises(UnitError, match='did you mean "5 s"'):
        parse_time("5", usual="s")


def test_an_enormous_exponent_is_refused_at_once() -> None:
    with pytest.raises(UnitError):
        parse_time("1e999999999 s")
    with pytest.raises(UnitError, match="too large"):
        parse_time("1e99 s")


@given(st.integers(0, 2**50))
def test_what_is_formatted_is_read_as_the_same(amount: int) -> None:
    assert parse_rate(format_rate(amount)) == amount
    assert parse_time(format_time(amount)) == amount
    assert parse_size(format_size(amount)) == amount


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    for parse in (parse_rate, parse_time, parse_size, parse_probability, parse_queue_limit):
        try:
            parse(text)
        except UnitError as error:
            reason = str(error)
        else:
            continue
        assert reason
