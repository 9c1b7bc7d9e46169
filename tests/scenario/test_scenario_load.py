from pathlib import Path

import pytest

from mptcplab.scenario import (
    Scenario,
    ScenarioError,
    for_variant,
    load,
    loads,
    loads_kept,
    parse_value,
    with_duration,
    with_overrides,
)
from mptcplab.scenario.link import Link, Trace
from mptcplab.scenario.tree import parse_tree

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")
SECOND = 1_000_000_000


def test_a_scenario_is_what_its_file_says() -> None:
    scenario = loads(GOOD)
    assert list(scenario.hosts) == ["client", "server"]
    assert list(scenario.variants) == ["tcp-wifi", "mptcp"]
    assert scenario.links["wifi"].rate == 48_000_000
    assert scenario.repetitions == 3
    assert scenario.text == GOOD


def test_the_defaults_of_a_small_file() -> None:
    scenario = loads(
        "hosts: {a: {interfaces: {x: }}, b: {interfaces: {x: }}}\n"
        "links: {l: {between: [a.x, b.x]}}\n"
        "traffic: [{bulk: {from: a, to: b, size: 1 MB}}]\n"
    )
    assert list(scenario.variants) == ["mptcp"]
    assert scenario.variants["mptcp"].protocol == "mptcp"
    assert scenario.sample_interval == 100_000_000
    assert scenario.hosts["a"].congestion_control == "cubic"


def test_a_file_gets_its_name_from_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD, encoding="utf-8")
    assert load(tmp_path / "mine.yaml").name == "mine"
    assert load(str(tmp_path / "mine.yaml")).name == "mine"


def test_messages_name_files_below_the_working_folder_in_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("48 Mbit/s", "48 Mb"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"^mine\.yaml:15: links\.wifi\.rate"):
        load(tmp_path / "mine.yaml")


def test_a_trace_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "t.mahi").write_text("1\n2\n")
    text = GOOD.replace("rate: 48 Mbit/s", "trace: traces/t.mahi")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    assert load(tmp_path / "mine.yaml").links["wifi"].trace == Trace(file="traces/t.mahi")


def test_a_kept_text_needs_no_traces_and_is_checked_otherwise() -> None:
    text = GOOD.replace("rate: 48 Mbit/s", "trace: none.mahi")
    assert loads_kept(text).links["wifi"].trace == Trace(file="none.mahi")
    with pytest.raises(ScenarioError, match=r"^scenario:15: links\.wifi\.profile"):
        loads_kept(GOOD.replace("rate: 48 Mbit/s", "trace: none.mahi, profile: none"))


def test_a_scenario_never_changes() -> None:
    scenario = loads(GOOD)
    with pytest.raises(ValueError, match="frozen"):
        scenario.title = "Another"  # type: ignore[misc]
    with_overrides(scenario, {"title": "Another"})
    assert scenario.title == "Two paths"


def test_overrides_take_the_place_of_values() -> None:
    changed = with_overrides(
        loads(GOOD),
        {
            "links.wifi.rate": "10 Mbit/s",
            "hosts.client.mptcp.limits.subflows": 1,
            "traffic.0.bulk.streams": 4,
            "variants.mptcp.via": "eth",
        },
    )
    assert changed.links["wifi"].rate == 10_000_000
    assert changed.hosts["client"].mptcp.limits.subflows == 1
    assert changed.traffic[0].bulk is not None
    assert changed.traffic[0].bulk.streams == 4
    assert changed.variants["mptcp"].via == ["eth"]


def test_the_text_of_a_changed_scenario_is_what_was_run() -> None:
    changed = with_overrides(loads(GOOD), {"links.wifi.rate": "10 Mbit/s"})
    again = loads(changed.text)
    assert again.links["wifi"].rate == 10_000_000
    assert again.model_dump() == changed.model_dump()
    assert changed.overrides == {"links.wifi.rate": "10 Mbit/s"}


def test_overrides_add_up() -> None:
    once = with_overrides(loads(GOOD), {"links.wifi.rate": "10 Mbit/s"})
    twice = with_overrides(once, {"links.wifi.delay": "9 ms"})
    link = twice.links["wifi"]
    assert isinstance(link, Link)
    assert (link.rate, link.delay) == (10_000_000, 9_000_000)
    assert set(twice.overrides) == {"links.wifi.rate", "links.wifi.delay"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("48 Mbit/s", "48 Mbit/s"),
        ("8", 8),
        ("0.5", 0.5),
        ("true", True),
        ("no", "no"),
        ("{ndiffports: 3}", {"ndiffports": 3}),
        ("[a, b]", ["a", "b"]),
        ("'8'", "8"),
    ],
)
def test_values_of_the_command_line(text: str, value: object) -> None:
    assert parse_value(text, "--set x") == value


def times(scenario: Scenario) -> list[int]:
    return [event.at for event in scenario.events]


def test_a_new_duration_keeps_what_happens_in_mid_flow() -> None:
    shorter = with_duration(load("lisbon/A2"), 10 * SECOND)
    bulk = shorter.traffic[0].bulk
    assert bulk is not None
    assert bulk.duration == 10 * SECOND
    assert times(shorter) == [8 * SECOND * 10 // 30, 18 * SECOND * 10 // 30]


def test_a_longer_run_has_no_longer_outage() -> None:
    failure = 8 * SECOND * 100 // 30
    assert times(with_duration(load("lisbon/A2"), 100 * SECOND)) == [
        failure,
        failure + 10 * SECOND,
    ]


def test_a_longer_run_has_the_outages_of_a_variant_no_longer() -> None:
    longer = for_variant(with_duration(load("lisbon/F1"), 600 * SECOND), "failure")
    failure, back = times(longer)
    assert back - failure == 10 * SECOND
    longer = with_duration(load("lisbon/A2"), 300 * SECOND)
    later = with_overrides(load("lisbon/A2"), {"variants.mptcp.set": {"events.1.at": "28 s"}})
    later = with_duration(later, 300 * SECOND)
    assert times(for_variant(later, "mptcp")) == [80 * SECOND, 100 * SECOND]
    assert times(for_variant(later, "tcp-eth")) == times(longer) == [80 * SECOND, 90 * SECOND]


@pytest.mark.parametrize(
    ("events", "longer"),
    [
        # A handover: what is down from the start on has no outage.
        ([(0, "eth", False), (2, "wifi", False), (2, "eth", True)], [0, 20, 20]),
        # Back again: the second change comes with the return of what failed in the first.
        (
            [
                (0, "eth", False),
                *((2, "wifi", False), (2, "eth", True)),
                *((5, "eth", False), (5, "wifi", True)),
            ],
            [0, 20, 20, 23, 23],
        ),
        # Outages that overlap go on together, whatever is between them; later ones by themselves.
        (
            [
                *((1, "wifi", False), (2, "eth", False), (3, "wifi", True), (4, "eth", True)),
                *((6, "wifi", False), (8, "wifi", True), (9, "eth", False)),
            ],
            [10, 11, 12, 13, 60, 62, 90],
        ),
    ],
)
def test_a_longer_run_keeps_the_order_of_events(
    events: list[tuple[int, str, bool]], longer: list[int]
) -> None:
    made = [{"at": f"{at} s", "carrier": link, "up": up} for at, link, up in events]
    scenario = with_duration(with_overrides(loads(GOOD), {"events": made}), 100 * SECOND)
    assert times(scenario) == [at * SECOND for at in longer]


def test_a_new_duration_keeps_what_comes_one_after_the_other() -> None:
    scenario = loads(
        "hosts: {a: {interfaces: {x: }}, b: {interfaces: {x: }}}\n"
        "links: {l: {between: [a.x, b.x]}}\n"
        "traffic:\n"
        "  - bulk: {from: a, to: b, duration: 10 s}\n"
        "  - bulk: {from: a, to: b, duration: 10 s, start: 11 s}\n"
        "  - ftp: {from: a, to: b, size: 50 MB, start: 22 s}\n"
    )
    shorter = with_duration(scenario, 2 * SECOND)
    assert [item.body.start for item in shorter.traffic] == [0, 2_200_000_000, 4_400_000_000]
    assert shorter.traffic[2].ftp is not None
    assert shorter.traffic[2].ftp.size == 50_000_000


def test_a_new_duration_replaces_a_size() -> None:
    bulk = with_duration(load("carfi/netcat-topology"), SECOND).traffic[0].bulk
    assert bulk is not None
    assert (bulk.duration, bulk.size) == (SECOND, None)


def test_a_new_duration_reaches_what_variants_set() -> None:
    sets = {
        "traffic.0.bulk.duration": "2 s",
        "traffic.0.bulk.start": "1 s",
        "events.0.at": "2 s",
        "links.wifi.delay": "1 s",
    }
    scenario = with_overrides(loads(GOOD), {"variants.mptcp.set": sets})
    # From 10 s to 20 s.
    made = for_variant(with_duration(scenario, 20 * SECOND), "mptcp")
    bulk = made.traffic[0].bulk
    assert bulk is not None
    assert (bulk.duration, bulk.start) == (20 * SECOND, 2 * SECOND)
    assert made.events[0].at == 4 * SECOND
    assert made.links["wifi"].delay == SECOND


def test_a_new_duration_replaces_whole_transfers_of_variants() -> None:
    shorter = with_duration(load("carfi/netcat-topology"), SECOND)
    for variant in shorter.variants:
        bulk = for_variant(shorter, variant).traffic[0].bulk
        assert bulk is not None
        assert (bulk.duration, bulk.size) == (SECOND, None)


def test_a_new_duration_is_refused_where_it_cannot_be_worked_in() -> None:
    item = {"bulk": {"from": "client", "to": "server", "size": "1 MB"}}
    scenario = with_overrides(loads(GOOD), {"variants.mptcp.set": {"traffic.0": item}})
    with pytest.raises(ScenarioError, match=r"variants\.mptcp\.set\.traffic\.0: a new duration"):
        with_duration(scenario, SECOND)


def test_a_new_duration_is_refused_where_no_traffic_has_one() -> None:
    with pytest.raises(ScenarioError) as refused:
        with_duration(load("birzeit/short-equal"), SECOND)
    assert str(refused.value) == (
        "--duration: birzeit/short-equal has no bulk transfer, stream or datagrams to set it of: "
        "only http"
    )


@pytest.mark.parametrize(("written", "given"), [("way", "direction"), ("direction", "way")])
def test_a_direction_is_replaced_by_either_of_its_keys(written: str, given: str) -> None:
    scenario = loads(GOOD.replace("duration: 10 s", f"duration: 10 s, {written}: up"))
    changed = with_overrides(scenario, {f"traffic.0.bulk.{given}": "both"})
    directions = [one.traffic[0].bulk.direction for one in (scenario, changed)]  # type: ignore[union-attr]
    assert directions == ["up", "both"]


def test_every_key_has_its_line() -> None:
    tree = parse_tree("a:\n  - b: 1\n  - c:\n      d: 2\n", "x")
    assert tree.value == {"a": [{"b": 1}, {"c": {"d": 2}}]}
    assert tree.lines == {
        ("a",): 1,
        ("a", 0): 2,
        ("a", 0, "b"): 2,
        ("a", 1): 3,
        ("a", 1, "c"): 3,
        ("a", 1, "c", "d"): 4,
    }


def test_scalars_are_read_by_the_core_schema() -> None:
    text = "[yes, no, on, null, ~, true, 0x1f, 1_000, 1e3, .inf, 2026-01-01, 007, -3, '1', 1.50]"
    assert parse_tree(text, "x").value == [
        "yes", "no", "on", None, None, True, "0x1f", "1_000", 1000.0, ".inf", "2026-01-01", 7, -3,
        "1", 1.5,
    ]  # fmt: skip


def test_aliases_stand_for_what_they_name() -> None:
    assert parse_tree("a: &x {b: 1}\nc: *x\nd: [*x]\n", "x").value == {
        "a": {"b": 1},
        "c": {"b": 1},
        "d": [{"b": 1}],
    }


def test_the_text_of_a_changed_scenario_keeps_the_order_that_addresses_follow() -> None:
    changed = with_duration(load("lisbon/A1"), 2_000_000_000)
    again = loads(changed.text)
    assert list(again.links) == list(changed.links) == ["wifi", "lan", "eth"]
    assert list(again.variants) == list(changed.variants)
