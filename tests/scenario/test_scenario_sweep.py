"""Sweeps: how axes are combined, what values ranges and draws have, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from mptcplab.scenario import ScenarioError, differences, loads
from mptcplab.scenario.draw import Distribution
from mptcplab.scenario.points import at_point, check_points, checked_points, count_points
from mptcplab.scenario.spacing import spaced
from mptcplab.scenario.sweep import point, points

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")


def swept(sweep: str) -> Any:
    return loads(f"{GOOD}\nsweep: {sweep}\n", "x.yaml")


def axes_of(sweep: str) -> Any:
    return swept(sweep).sweep.every_axis


def problems(sweep: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        swept(sweep)
    return [str(problem).split(": ", 1)[1] for problem in caught.value.problems]


def test_axes_are_crossed_with_zipped_groups_and_draws() -> None:
    axes = axes_of(
        "{axes: {links.wifi.delay: [1 ms, 2 ms]},"
        " zipped: [{links.eth.rate: [1 Mbit/s, 2 Mbit/s], links.eth.delay: [3 ms, 4 ms]}],"
        " drawn: {count: 3, values: {links.wifi.loss: {uniform: {from: 0 %, to: 1 %}}}}}"
    )
    made = list(points(axes))
    assert len(made) == count_points(axes) == 12
    assert made == [point(axes, number) for number in range(1, 13)]
    pairs = {(one["links.eth.rate"], one["links.eth.delay"]) for one in made}
    assert pairs == {("1 Mbit/s", "3 ms"), ("2 Mbit/s", "4 ms")}
    assert len({one["links.wifi.loss"] for one in made}) == 3
    assert [one["links.wifi.delay"] for one in made] == ["1 ms"] * 6 + ["2 ms"] * 6


def test_a_key_of_several_paths_sets_all_of_them() -> None:
    scenario = swept("{axes: {'links.wifi.rate, links.eth.rate': [7 Mbit/s]}}")
    changed = at_point(scenario, point(scenario.sweep.every_axis, 1))
    assert {link.rate for link in changed.links.values() if link.rate} >= {7_000_000}
    assert changed.links["wifi"].rate == changed.links["eth"].rate == 7_000_000


@pytest.mark.parametrize(
    ("ends", "count", "is_log", "made"),
    [
        (("1 ms", "3 ms"), 3, False, ["1 ms", "2 ms", "3 ms"]),
        (("500 us", "0.5 s"), 4, True, ["500 us", "5 ms", "50 ms", "0.5 s"]),
        (
            ("1 Mbit/s", "100 Mbit/s"),
            5,
            True,
            ["1 Mbit/s", "3.162 Mbit/s", "10 Mbit/s", "31.62 Mbit/s", "100 Mbit/s"],
        ),
        (("50 kB", "5 MB"), 3, True, ["50 kB", "500 kB", "5 MB"]),
        ((1, 8), 8, False, [1, 2, 3, 4, 5, 6, 7, 8]),
        ((0.0, 1), 3, False, [0.0, 0.5, 1]),
        (("0 %", "1 %"), 3, False, ["0 %", "0.5 %", "1 %"]),
        (("1 BDP", "2 BDP"), 3, False, ["1 BDP", "1.5 BDP", "2 BDP"]),
        (("3 ms", "1 ms"), 3, False, ["3 ms", "2 ms", "1 ms"]),
        (("5Mbit/s", "5001kbit/s"), 3, False, ["5Mbit/s", "5.0005 Mbit/s", "5001kbit/s"]),
        (("5001 kbit/s", "5 Mbit/s"), 3, False, ["5001 kbit/s", "5.0005 Mbit/s", "5 Mbit/s"]),
        # In four digits the middle would be 5.001, beyond the end.
        (
            ("5000450 bit/s", "5000600 bit/s"),
            3,
            False,
            ["5000450 bit/s", "5.0005 Mbit/s", "5000600 bit/s"],
        ),
        (("100 s", "100.1 s"), 5, True, ["100 s", "100.02 s", "100.05 s", "100.07 s", "100.1 s"]),
        ((0.1, 0.10001), 3, False, [0.1, 0.100005, 0.10001]),
        (("10.00001 %", "10.00002 %"), 3, False, ["10.00001 %", "10.000015 %", "10.00002 %"]),
    ],
)
def test_ranges(ends: tuple[Any, Any], count: int, is_log: bool, made: list[Any]) -> None:
    assert spaced(*ends, count, is_log=is_log) == made


@pytest.mark.parametrize(
    ("ends", "count", "is_log", "message"),
    [
        (("1 ms", "3 Mbit/s"), 3, False, "two quantities of one kind"),
        (("0 ms", "3 ms"), 3, True, "a logarithmic scale has no 0"),
        ((1, 4), 8, False, "not 8 different values"),
        (("1 ns", "3 ns"), 4, False, "not 4 different values"),
        (("5 ms", "5000 us"), 2, False, "not 2 different values"),
        ((True, False), 2, False, "two numbers"),
    ],
)
def test_ranges_that_there_are_not(
    ends: tuple[Any, Any], count: int, is_log: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        spaced(*ends, count, is_log=is_log)


def test_a_narrow_range_has_as_many_digits_as_it_takes() -> None:
    made = spaced("100ms", "101ms", 21, is_log=False)
    inner = [f"{100 + number / 20:.2f}".rstrip("0").rstrip(".") for number in range(1, 20)]
    assert made == ["100ms", *(f"{number} ms" for number in inner), "101ms"]


@pytest.mark.parametrize(
    ("distribution", "share", "value"),
    [
        ({"uniform": {"from": "0 ms", "to": "10 ms"}}, 0.25, "2.5 ms"),
        ({"log-uniform": {"from": "1 Mbit/s", "to": "100 Mbit/s"}}, 0.5, "10 Mbit/s"),
        ({"exponential": {"mean": "10 ms"}}, 0.5, "6.931 ms"),
        ({"normal": {"mean": "50 ms", "deviation": "5 ms"}}, 0.5, "50 ms"),
        ({"normal": {"mean": "0 ms", "deviation": "10 ms"}}, 0.5, "6.745 ms"),
        ({"choice": ["reno", "cubic"]}, 0.49, "reno"),
        ({"choice": ["reno", "cubic"]}, 0.51, "cubic"),
    ],
)
def test_quantiles_of_distributions(distribution: Any, share: float, value: str) -> None:
    assert Distribution.model_validate(distribution).quantile(share) == value


def test_a_draw_depends_on_the_seed_its_number_and_its_path_alone() -> None:
    loss = "links.wifi.loss: {uniform: {from: 0 %, to: 1 %}}"
    text = f"{{drawn: {{count: COUNT, seed: SEED, values: {{MORE{loss}}}}}}}"
    more = "links.eth.delay: {exponential: {mean: 5 ms}}, "

    def drawn(count: int, seed: int, more: str = "") -> list[Any]:
        made = text.replace("COUNT", f"{count}").replace("SEED", f"{seed}").replace("MORE", more)
        return [one["links.wifi.loss"] for one in points(axes_of(made))]

    first = drawn(50, 1)
    assert len(set(first)) > 45
    assert drawn(80, 1)[:50] == drawn(50, 1, more) == first
    assert drawn(50, 2) != first


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ("{}", "sweep: names no axis: give axes, zipped or drawn"),
        (
            "{axes: {links.wifi.delay: 5 ms}}",
            'sweep.axes.links.wifi.delay: "5 ms": expected a list',
        ),
        ("{axes: {links.wifi.delay: []}}", "sweep.axes.links.wifi.delay: needs at least 1 entry"),
        (
            "{axes: {links.wifi.delay: [1 ms, 1 ms]}}",
            'sweep.axes.links.wifi.delay.1: "1 ms": is there already',
        ),
        (
            "{axes: {repetitions: [10, 10.0]}}",
            "sweep.axes.repetitions.1: 10.0: is there already",
        ),
        (
            "{axes: {links.wifi.loss: [{bursts: 1}, {bursts: 1.0}]}}",
            'sweep.axes.links.wifi.loss.1: {"bursts": 1.0}: is there already',
        ),
        (
            "{axes: {links.wifi.rate: [5Mbit/s, 7 Mbit/s, 5000 kbit/s]}}",
            'sweep.axes.links.wifi.rate.2: "5000 kbit/s": is there already as "5Mbit/s"',
        ),
        (
            "{axes: {links.wifi.queue: [1BDP, 9 kB, 1.0 BDP]}}",
            'sweep.axes.links.wifi.queue.2: "1.0 BDP": is there already as "1BDP"',
        ),
        (
            "{axes: {links.wifi.loss: [0.01, {bursts: 1, x: 5 ms}, {x: 5ms, bursts: 1}]}}",
            'sweep.axes.links.wifi.loss.2: {"x": "5ms", "bursts": 1}: is there already as {',
        ),
        (
            "{zipped: [{links.wifi.delay: [1 ms, 2 ms, 1ms], links.eth.loss: [0, 0, 0 %]}]}",
            'sweep.zipped: entry 0: "1ms" with "0 %": is there already as "1 ms" with 0',
        ),
        (
            "{zipped: [{links.wifi.delay: [1 ms, 2 ms, 2 ms]}]}",
            'sweep.zipped: entry 0: "2 ms": is there already',
        ),
        (
            "{axes: {links.wifi.delay: {from: 1 ms, to: 2 ms}}}",
            "sweep.axes.links.wifi.delay: a range has from, to and count",
        ),
        (
            "{axes: {links.wifi.delay: {from: 1 ms, to: 2, count: 3}}}",
            "sweep.axes.links.wifi.delay: the ends are two numbers",
        ),
        (
            "{zipped: [{links.wifi.delay: [1 ms], links.eth.delay: [1 ms, 2 ms]}]}",
            "sweep.zipped: entry 0: values go together: links.wifi.delay has 1",
        ),
        (
            "{axes: {links.wifi.delay: [1 ms]}, zipped: [{links.wifi.delay: [1 ms]}]}",
            "sweep: links.wifi.delay is set twice",
        ),
        (
            "{drawn: {count: 3, values: {links.wifi.delay: {uniform: {from: 1 ms, to: 1 B}}}}}",
            "sweep.drawn.values.links.wifi.delay: the ends are two numbers",
        ),
        (
            "{drawn: {count: 3, values: {links.wifi.delay: {evenly: {}}}}}",
            "sweep.drawn.values.links.wifi.delay.evenly: unknown key",
        ),
        (
            "{axes: {links.wifi.delay: {from: 1 ms, to: 9 s, count: 400},"
            " links.eth.delay: {from: 1 ms, to: 9 s, count: 400}}}",
            "sweep: 160000 points: at most 100000",
        ),
    ],
)
def test_sweeps_that_are_refused(sweep: str, message: str) -> None:
    (problem,) = problems(sweep)
    assert problem.startswith(message)


def test_values_that_go_together_differ_as_rows() -> None:
    rates, delays = ["10 Mbit/s", "10 Mbit/s", "50 Mbit/s"], ["5 ms", "20 ms", "20 ms"]
    (axis,) = axes_of(f"{{zipped: [{{links.eth.rate: {rates}, links.eth.delay: {delays}}}]}}")
    assert axis.rows == list(zip(rates, delays, strict=True))


def test_numbers_that_a_float_cannot_tell_apart_differ() -> None:
    (axis,) = axes_of(f"{{axes: {{traffic.0.bulk.seed: [{2**53}, {2**53 + 1}, 1{'0' * 400}]}}}}")
    assert len(axis.rows) == 3


def test_a_value_that_stands_in_a_group_twice_is_named_where_it_does_not_fit() -> None:
    text = (
        f"{GOOD}\nsweep:\n  zipped:\n    - links.wifi.queue:\n        - 9 kB\n        - 9 kB\n"
        "      links.wifi.rate:\n        - 9 Mbit/s\n        - null\n"
    )
    (problem,) = check_points(loads(text, "x.yaml"))
    assert problem.key == "sweep.zipped.0.links.wifi.queue.1"
    assert problem.line == text[: text.rindex("9 kB")].count("\n") + 1


def test_a_value_of_an_axis_is_checked_at_its_line() -> None:
    text = f"{GOOD}\nsweep:\n  axes:\n    links.wifi.delay:\n      - 1 ms\n      - 2 mss\n"
    line = text.count("\n")
    (problem,) = check_points(loads(text, "x.yaml"))
    assert str(problem) == (
        f"x.yaml:{line}: sweep.axes.links.wifi.delay.1: "
        '"2 mss": unknown unit "mss": did you mean "ms"?'
    )
    (problem,) = check_points(swept("{axes: {links.wify.delay: [1 ms, 2 ms]}}"))
    assert "there is no link" in problem.text


def test_of_many_points_the_ends_are_checked() -> None:
    axes = axes_of(
        "{axes: {links.wifi.delay: {from: 1 ms, to: 99 ms, count: 99}, links.eth.loss: [0, 0.1]}}"
    )
    made = [tuple(point(axes, number).values()) for number in checked_points(axes)]
    assert {delay for delay, _ in made} == {delay for (delay,) in axes[0].rows}
    assert {loss for _, loss in made} == {0, 0.1}
    assert len(made) == 100


def test_a_sweep_is_no_difference_of_what_is_run() -> None:
    assert differences(loads(GOOD), swept("{axes: {links.wifi.delay: [1 ms]}}")) == ()
