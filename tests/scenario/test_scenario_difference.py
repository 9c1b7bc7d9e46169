"""In what settings two scenarios differ."""

from mptcplab.scenario import (
    Difference,
    Scenario,
    differences,
    load,
    loads,
    with_duration,
    with_overrides,
)

TEXT = """
title: Two paths
hosts:
  laptop: {interfaces: {wifi: {}, lte: {}}}
  server: {interfaces: {left: {}, right: {}}}
links:
  wifi: {between: [laptop.wifi, server.left], rate: 20 Mbit/s, delay: 5 ms}
  lte: {between: [laptop.lte, server.right], profile: ethernet-100}
traffic:
  - bulk: {from: laptop, to: server, way: down, duration: 1 s}
variants:
  tcp: {protocol: tcp, via: wifi}
  mptcp: {protocol: mptcp}
expect:
  - mptcp.goodput > tcp.goodput
"""


def edited(*replacements: tuple[str, str]) -> tuple[Difference, ...]:
    text = TEXT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return differences(loads(TEXT), loads(text))


def overridden(scenario: Scenario, path: str, value: object) -> tuple[Difference, ...]:
    return differences(scenario, with_overrides(scenario, {path: value}))


def test_a_scenario_is_itself() -> None:
    assert edited() == ()


def test_what_is_run_differs_and_words_about_it_do_not() -> None:
    assert edited(("delay: 5 ms", "delay: 9 ms"), ("Two paths", "Other words")) == (
        Difference("links.wifi.delay", "5 ms", "9 ms"),
    )
    assert edited(("tcp.goodput\n", "2 * tcp.goodput\n")) == ()


def test_a_value_in_another_unit_is_the_same() -> None:
    assert edited(("20 Mbit/s", "20000 kbit/s"), ("5 ms", "0.005 s"), ("1 s}", "1000 ms}")) == ()


def test_the_older_key_of_a_direction_is_the_same() -> None:
    assert edited(("way: down", "direction: down")) == ()
    assert edited(("way: down", "direction: up")) == (
        Difference("traffic.0.bulk.direction", "down", "up"),
    )


def test_what_is_added_and_taken_away_has_one_side() -> None:
    assert edited(("delay: 5 ms", "delay: 5 ms, loss: 1 %")) == (
        Difference("links.wifi.loss", None, "1 %"),
    )
    assert edited((", delay: 5 ms", "")) == (Difference("links.wifi.delay", "5 ms", None),)


def test_a_profile_says_what_a_link_does_not() -> None:
    scenario = loads(TEXT)
    assert overridden(scenario, "links.lte.delay", "250 us") == ()
    assert overridden(scenario, "links.lte.delay", "20 ms") == (
        Difference("links.lte.delay", "250 µs", "20 ms"),
    )


def test_variants_that_only_one_has_are_no_difference() -> None:
    assert (
        edited(("  tcp: {protocol: tcp, via: wifi}\n", ""), ("> tcp.goodput", "> 1 Mbit/s")) == ()
    )
    assert edited(("via: wifi", "via: lte")) == (Difference("variants.tcp.via", "wifi", "lte"),)


def test_the_catalogue_and_its_duration() -> None:
    scenario = load("lisbon/A1")
    assert differences(scenario, with_duration(scenario, 20_000_000_000)) == ()
    assert differences(scenario, with_duration(scenario, 1_000_000_000)) == (
        Difference("traffic.0.bulk.duration", "20 s", "1 s"),
    )
