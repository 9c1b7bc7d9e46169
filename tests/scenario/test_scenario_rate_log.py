import time

import pytest

from mptcplab.scenario.mahimahi import mean_rate_bps, parse_trace
from mptcplab.scenario.rate_log import Columns, LogError, trace_of_log

RATES = Columns("Timestamp", rate="DL_bitrate")
OF_BYTES = Columns("1", bytes="5", time_unit="ms")


def passing(times: list[int], start_ms: int, end_ms: int) -> int:
    return sum(start_ms < time <= end_ms for time in times)


def test_rates_hold_until_the_next_line() -> None:
    text = (
        "Timestamp,Speed,DL_bitrate\n2018.01.18_14.38.03,1,12032\n"
        "2018.01.18_14.38.04,1,0\n2018.01.18_14.38.06,1,1203.2\n"
    )
    times = trace_of_log(text, RATES, "log")
    assert [passing(times, *span) for span in ((0, 1000), (1000, 3000), (3000, 5000))] == [
        1000,
        0,
        200,
    ]
    assert times[-1] == 5000
    assert parse_trace("\n".join(map(str, times)), "made") == times


def test_bytes_came_since_the_line_before() -> None:
    text = "1453120000000 0 51.0 3.7 999999\n1453120001000 1000 51.0 3.7 15040\n"
    text += "1453120001500 1500 51.0 3.7 150400\n1453120001500 1500 51.0 3.7 0\n"
    times = trace_of_log(text, OF_BYTES, "log")
    assert [passing(times, 0, 1000), passing(times, 1000, 1500)] == [10, 100]
    assert mean_rate_bps(times) == 110 * 12_032 * 1000 // 1500


def test_a_log_that_ends_in_silence_keeps_its_length() -> None:
    times = trace_of_log("t;r\n0;100\n1;0\n9;0\n", Columns("t", rate="r"), "log")
    assert times[-1] == 17_000
    assert passing(times, 1000, 16_999) == 0


def test_dates_without_a_zone_have_the_same_distance_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "t,r\n2018-10-28 02:59:59,100\n2018-10-28 03:00:00,100\n"
    monkeypatch.setenv("TZ", "Europe/Brussels")
    time.tzset()
    try:
        assert trace_of_log(text, Columns("t", rate="r"), "log")[-1] == 2000
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("", RATES, "log: is empty"),
        ("Timestamp,DL_bitrates\n", RATES, 'log: has no column "DL_bitrate": did you mean'),
        ("1,2\n", Columns("²", rate="2"), 'log: has no column "²": known: 1, 2'),
        ("x" * 200_000 + ",y\n", RATES, "log:1: field larger than field limit"),
        ("1 2\n", OF_BYTES, "log: has no column 5: it has 2"),
        ("t,r\n0,1\n1\n", Columns("t", rate="r"), "log:3: has 1 columns"),
        ("t,r\n0,1\n1,-\n", Columns("t", rate="r"), 'log:3: "-" is no amount from 0 up'),
        ("t,r\n0,-5\n", Columns("t", rate="r"), 'log:2: "-5" is no amount from 0 up'),
        ("t,r\n0,nan\n", Columns("t", rate="r"), 'log:2: "nan" is no amount from 0 up'),
        ("t,r\n0,1e300\n", Columns("t", rate="r"), 'log:2: "1e300" is no amount from 0 up'),
        ("t,r\nnoon,5\n", Columns("t", rate="r"), 'log:2: "noon" is no time'),
        ("t,r\n5,1\n4,1\n", Columns("t", rate="r"), "log:3: is earlier than the line before it"),
        ("t,r\n0,1\n1e9,1\n", Columns("t", rate="r"), "log:3: is more than a week after"),
        ("t,r\n0,1\n", Columns("t", rate="r"), "log: needs two lines at different times"),
        ("t,r\n0,9e8\n99,0\n", Columns("t", rate="r"), "log: more than 2000000 packets: cut it"),
    ],
)
def test_a_log_that_is_wrong_is_told_with_its_line(
    text: str, columns: Columns, message: str
) -> None:
    with pytest.raises(LogError) as caught:
        trace_of_log(text, columns, "log")
    assert str(caught.value).startswith(message)
