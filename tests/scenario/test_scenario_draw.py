from itertools import combinations
from xml.etree import ElementTree

import pytest

from mptcplab.scenario import Entry, catalogue, load, loads, with_overrides
from mptcplab.scenario.network import build
from mptcplab.scenario.topology import draw_svg, draw_text
from mptcplab.scenario.topology.layout import lay_out

TEXT = "{http://www.w3.org/2000/svg}text"
A1 = """\
lisbon/A1 — WiFi and Ethernet, idle network

Paths
  client.wifi 10.0.1.1 ── [wifi: 48.4 Mbit/s, 1 ms, half duplex] ── ap
        ── [lan: 1 Gbit/s, 100 µs] ── server.lan 10.0.2.2
  client.eth 10.0.3.1 ── [eth: 100 Mbit/s, 250 µs] ── server.eth 10.0.3.2

Traffic
  bulk: client → server, 20 s

Variants
  tcp-wifi: tcp via wifi
  tcp-eth: tcp via eth
  mptcp: mptcp
"""


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(TEXT)]


def test_the_text_shows_each_path_with_its_links() -> None:
    assert draw_text(load("lisbon/A1")).startswith(A1)


def test_the_text_shows_links_off_the_paths_and_events() -> None:
    text = draw_text(load("carfi/netcat-topology"))
    assert "  r1.r2 ── [r1-r2: 1.186 Mbit/s, 10 ms] ── r2.r1\n" in text
    assert "       8 s  eth unplugged\n      18 s  eth plugged in\n" in draw_text(load("lisbon/A2"))


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_the_picture_names_every_node_link_and_interface(entry: Entry) -> None:
    scenario = load(entry.name)
    shown = words(draw_svg(scenario))
    for name in (*scenario.hosts, *scenario.routers, *scenario.links):
        assert name in shown
    for host in scenario.hosts.values():
        assert set(host.interfaces) <= set(shown)


def test_the_text_says_how_large_the_bucket_of_a_rate_is() -> None:
    base = load("lisbon/B1")
    scenario = with_overrides(base, {"links.eth1.burst": "15 kB"})
    assert "[eth1: 100 Mbit/s with bursts of 15 kB, 250 µs]" in draw_text(scenario)


def test_the_controller_is_said_to_choose_among_the_ways_of_which_one_is_drawn() -> None:
    text = draw_text(load("birzeit/controller"))
    assert "\nController\n  disjoint: chooses the ways over the switches, of which" in text
    assert "Controller" not in draw_text(load("lisbon/A1"))


def test_the_picture_says_what_differs_between_directions() -> None:
    base = load("lisbon/B1")
    scenario = with_overrides(base, {"links.eth1.up": {"rate": "5 Mbit/s", "loss": "1 %"}})
    assert "↑ 5 Mbit/s ↓ 100 Mbit/s" in words(draw_svg(scenario))
    assert "250 µs · ↑ loss 1 % ↓ –" in words(draw_svg(scenario))


def test_hosts_that_are_client_and_server_stand_apart() -> None:
    back = {"bulk": {"from": "server", "to": "client", "duration": "1 s"}}
    base = load("lisbon/B1")
    there = {"bulk": {"from": "client", "to": "server", "duration": "1 s"}}
    scenario = with_overrides(base, {"traffic": [there, back]})
    column = {b.node: b.column for b in lay_out(scenario, build(scenario)).boxes}
    assert column == {"client": 0, "server": 1}


def test_links_within_a_column_run_beside_each_other() -> None:
    text = """\
hosts:
  a: {interfaces: {x: {}, y: {}, z: {}}}
  b: {interfaces: {x: {}, y: {}}}
  c: {interfaces: {z: {}}}
links: {l: {between: [a.x, b.x]}, m: {between: [a.y, b.y]}, n: {between: [a.z, c.z]}}
traffic: [{ping: {from: [a], to: c}}, {command: {on: b, run: date}}]
"""
    scenario = loads(text)
    layout = lay_out(scenario, build(scenario))
    assert layout.beside("l") < layout.beside("m")


def test_the_picture_is_safe_to_put_into_a_page() -> None:
    text = """\
title: <script>alert(1)</script> & more
hosts: {a: {interfaces: {x: {}}}, b: {interfaces: {x: {}}}}
links: {l: {between: [a.x, b.x]}}
traffic: [{ping: {from: a, to: b}}]
"""
    svg = draw_svg(loads(text))
    assert "<script" not in svg
    title = ElementTree.fromstring(svg).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "Topology: <script>alert(1)</script> & more"


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_nothing_is_drawn_over_anything_else(entry: Entry) -> None:
    scenario = load(entry.name)
    layout = lay_out(scenario, build(scenario))
    for a, b in combinations(layout.boxes, 2):
        if a.column == b.column:
            upper, lower = sorted((a, b), key=lambda box: box.y)
            assert upper.y + upper.height < lower.y
    for box in layout.boxes:
        assert box.y >= 0
        assert box.y + box.height < layout.height


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_servers_stand_right_of_routers_and_routers_right_of_clients(entry: Entry) -> None:
    scenario = load(entry.name)
    column = {b.node: b.column for b in lay_out(scenario, build(scenario)).boxes if b.node}
    last = max(column.values())
    if scenario.topology is not None:
        # All its hosts are clients and servers: none has a side.
        return
    for item in scenario.traffic:
        assert {column[client] for client in item.body.clients} == {0}
        if set(item.body.servers).isdisjoint(item.body.clients):
            assert {column[server] for server in item.body.servers} == {last}
    assert all(0 < column[router] < last for router in scenario.routers)
