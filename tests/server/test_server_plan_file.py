"""Plans as YAML files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.made import PLAN, encoded

from mptcplab.measure.plan import MOST_PATHS, Direction, loads, steps
from mptcplab.scenario.problem import ScenarioError
from mptcplab.scenario.units import UnitError
from mptcplab.server.period import parse_period, period_words
from mptcplab.server.plan import Plan
from mptcplab.server.plan_file import parse_plan, read_plan

LINES = """\
name: lines
target: {host: t.example.org, token: mptcplab1-AAAA}
interfaces: [wifi, lte]
sizes: [100 kB, 1 MB]
directions: [down]
repeat: 2
congestion_control: cubic
order: interleaved
seed: 7
schedule: {every: 1 h, spread: 10 min}
windows: [{from: "22:00", to: "06:00"}]
budget: 50 MB
daily: 500 MB
most_experiments: 100
until: 2027-01-31 12:00
"""


def test_a_file_becomes_a_plan_in_base_units() -> None:
    name, plan = parse_plan(LINES, "lines.yaml", "other")
    assert name == "lines"
    assert plan.directions == [Direction.DOWN]
    told = plan.of_agent(name, 3)
    assert told == {
        "id": "lines@3",
        "name": "lines",
        "target": {"host": "t.example.org", "port": 4420, "token": "mptcplab1-AAAA"},
        "interfaces": ["wifi", "lte"],
        "addresses": None,
        "namespace": None,
        "sizes_bytes": [100_000, 1_000_000],
        "directions": ["down"],
        "repeat": 2,
        "congestion_control": ["cubic"],
        "order": "interleaved",
        "seed": 7,
        "schedule": {"every_s": 3600, "spread_s": 600},
        "windows": [{"from": "22:00", "to": "06:00"}],
        "budget_bytes": 50_000_000,
        "daily_bytes": 500_000_000,
        "most_experiments": 100,
        "until_unix_s": 1_801_396_800,
    }


def test_a_plan_may_have_several_congestion_controls() -> None:
    _, plan = parse_plan(LINES.replace("cubic", "[cubic, bbr]"), "lines.yaml", "other")
    assert plan.of_agent("lines", 1)["congestion_control"] == ["cubic", "bbr"]
    of_api = encoded(PLAN | {"congestion_control": "reno"})
    assert Plan.model_validate_json(of_api).congestion_control == ["reno"]
    assert Plan.model_validate_json(encoded(PLAN)).congestion_control is None


def test_paths_may_be_addresses_in_a_namespace() -> None:
    text = LINES.replace("interfaces: [wifi, lte]", "addresses: [192.0.2.7]\nnamespace: lines")
    told = parse_plan(text, "lines.yaml", "other")[1].of_agent("lines", 1)
    expected = {"interfaces": None, "addresses": ["192.0.2.7"], "namespace": "lines"}
    assert {key: told[key] for key in expected} == expected


def test_a_plan_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "night.yaml"
    file.write_text(LINES.partition("\n")[2])
    assert read_plan(file)[0] == "night"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "sizes: [100 kB, 1 MB]",
            "size: 1 MB",
            'p.yaml:4: size: unknown key: did you mean "sizes"?',
        ),
        ("[100 kB, 1 MB]", "[100]", "p.yaml:4: sizes.0: "),
        ("[100 kB, 1 MB]", "[1 MB, 1 MB]", "sizes: each at most once"),
        ("1 h", "1 hour", 'p.yaml:10: schedule.every: "1 hour": not a period: write "10 min"'),
        ("10 min", "2 h", "p.yaml:10: schedule: spread: at most every"),
        ("budget: 50 MB", "budget: 1 MB", "budget: TCP over one path and MPTCP alone take 4400000"),
        ("budget: 50 MB", "budget: 600 MB", "budget: at most daily"),
        ("[down]", "[sideways]", "p.yaml:5: directions.0: "),
        ("interleaved", "odd", 'p.yaml:8: order: "odd": '),
        ('"06:00"', '"6"', "p.yaml:11: windows.0.to: "),
        ("mptcplab1-AAAA", "secret", "p.yaml:2: target.token: "),
        ("2027-01-31 12:00", "soon", 'p.yaml:15: until: "soon": not a time'),
        ("daily: 500 MB", "", "daily: missing"),
        ("every: 1 h", "every: 0 s", 'schedule.every: "0 s": write a time from 1 s to 366 d'),
        ("every: 1 h", "every: 400 d", 'schedule.every: "400 d": write a time from 1 s to 366 d'),
        ("500 MB", "0 B", 'daily: "0 B": write a size from 1 B on'),
        ("t.example.org", '"a b"', 'target.host: "a b": write the name or the address'),
        ("mptcplab1-AAAA", '"mptcplab1-A "', "target.token: write the line that the target has"),
        ("cubic", "CUBIC!", 'congestion_control.0: "CUBIC!": write names of congestion controls'),
        ("cubic", "[bbr, bbr]", "congestion_control: each at most once"),
        (
            "[wifi, lte]",
            "[wifi]\naddresses: [wifi]",
            'p.yaml:4: addresses.0: "wifi": write addresses',
        ),
        ("[wifi, lte]", "[wifi]\nnamespace: a/b", 'namespace: "a/b": write the name of a network'),
        ("cubic", "[]", "p.yaml:7: congestion_control: "),
        ("cubic", "7", "p.yaml:7: congestion_control: "),
        ("[down]", "[left]", 'directions.0: "left": write down, up'),
        ('"22:00"', '"24:00"', 'windows.0.from: "24:00": write a time of the day'),
        ("seed: 7", "seed: 7\nagents: [boat]", 'agents.0: "boat": write ids of agents'),
        (
            "sizes: [100 kB, 1 MB]\ndirections: [down]\nrepeat: 2",
            "sizes: [1 B, 2 B, 3 B]\nrepeat: 80",
            "repeat: an experiment over 8 paths would have 5496 steps, and a result takes 5000",
        ),
        ("name: lines", "name: My Lines", 'p.yaml:1: name: "My Lines" is no name'),
        ("repeat: 2", "repeat: 0", "p.yaml:6: repeat: 0: must be at least 1"),
        (LINES, "- a", "a plan is a mapping"),
        (LINES, "", "a plan is a mapping"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_its_fix(old: str, new: str, told: str) -> None:
    assert old in LINES
    with pytest.raises(ScenarioError) as refused:
        parse_plan(LINES.replace(old, new), "p.yaml", "p")
    assert told in str(refused.value)
    assert "_bytes" not in str(refused.value)
    assert "_s:" not in str(refused.value)


@pytest.mark.parametrize("repeat", [1, 50])
def test_the_steps_of_a_plan_are_those_of_a_probe(repeat: int) -> None:
    sizes = [1, 2, 3]
    told = PLAN | {"sizes_bytes": sizes, "repeat": repeat, "directions": ["down", "up"]}
    planned = steps(MOST_PATHS, sizes, repeat, 0) + loads(MOST_PATHS, 10**12)
    assert Plan.model_validate_json(encoded(told)).most_steps() == len(planned)


@given(st.integers(1, 10**9))
def test_a_period_is_read_as_it_is_written(seconds: int) -> None:
    assert parse_period(period_words(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "-1 h", "1.5 h", "1 hour", "999999999 d", 3, None])
def test_other_periods_are_refused(text: object) -> None:
    with pytest.raises(UnitError):
        parse_period(text)
