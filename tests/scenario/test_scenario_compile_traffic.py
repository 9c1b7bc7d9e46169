"""Traffic of the plan."""

import pytest
from tests.scenario.compiled import BASE, BULK, flow, plan

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.kernel.run import settings_of
from mptcplab.scenario import load, loads


def test_the_initial_subflow_uses_the_first_interface_that_reaches_the_server() -> None:
    made = flow()
    assert (made["source"], made["target"]) == ("10.0.1.1", "10.0.2.2")
    assert made["expected_joins"] == 1


def test_via_chooses_the_interface_and_the_server_address_on_its_side() -> None:
    (made,) = compile_plan(load("lisbon/A1"), "tcp-eth", seed=1).to_json()["traffic"]
    assert (made["source"], made["target"]) == ("10.0.3.1", "10.0.3.2")
    assert (made["protocol"], made["expected_joins"]) == ("tcp", 0)


def test_tcp_over_several_interfaces_at_once_is_a_flow_for_each() -> None:
    more = "vary: {start: 50 ms}\nvariants: {tcp: {protocol: tcp, via: [wifi, eth]}, mptcp: {}}"
    both = plan(more=more, variant="tcp")["traffic"]
    assert [(made["name"], made["source"], made["target"]) for made in both] == [
        ("bulk-wifi", "10.0.1.1", "10.0.2.2"),
        ("bulk-eth", "10.0.3.1", "10.0.3.2"),
    ]
    assert both[0]["port"] != both[1]["port"]
    (single,) = plan(more=more)["traffic"]
    assert {made["start_ns"] for made in both} == {single["start_ns"]}
    assert single["start_ns"] > 0


@pytest.mark.parametrize(
    ("size", "joins"), [("499 kB", 0), ("500 kB", 1), ("10 kB", 0), ("10 MB", 1)]
)
def test_short_transfers_are_not_expected_to_have_joins(size: str, joins: int) -> None:
    # 8 Mbit/s carry 500 kB in half a second.
    for kind in ("bulk", "http", "ftp"):
        traffic = f"{kind}: {{from: client, to: server, size: {size}}}"
        (made,) = plan("rate: 8 Mbit/s", traffic)["traffic"]
        assert made["expected_joins"] == joins


@pytest.mark.parametrize(
    ("kind", "settings", "joins"),
    [
        ("bulk", "duration: 499 ms", 0),
        ("bulk", "duration: 500 ms", 1),
        # Over after the last answer, not an interval later.
        ("request-response", "count: 1, interval: 10 s", 0),
        ("request-response", "count: 2, interval: 479 ms, request: 1 B, response: 1 B", 0),
        ("request-response", "count: 2, interval: 480 ms", 1),
        # A round trip of 20 ms each.
        ("request-response", "count: 24, interval: 0 s, request: 1 B, response: 1 B", 0),
        ("request-response", "count: 25, interval: 0 s", 1),
        # 8 Mbit/s carry 480 kB in the rest of half a second.
        ("request-response", "count: 1, request: 200 kB, response: 279 kB", 0),
        ("request-response", "count: 1, request: 200 kB, response: 280 kB", 1),
    ],
)
def test_short_connections_are_not_expected_to_have_joins(
    kind: str, settings: str, joins: int
) -> None:
    traffic = f"{kind}: {{from: client, to: server, {settings}}}"
    (made,) = plan("rate: 8 Mbit/s, delay: 10 ms", traffic)["traffic"]
    assert made["expected_joins"] == joins


def test_a_short_command_is_not_expected_to_have_joins() -> None:
    text = "command: {on: client, run: a, server: {on: server, run: b}, duration: "
    assert flow(text + "499 ms}")["expected_joins"] == 0
    assert flow(text + "500 ms}")["expected_joins"] == 1


def test_a_command_is_expected_to_have_joins_where_its_server_is_known() -> None:
    known = flow("command: {on: client, run: a, server: {on: server, run: b}}")
    assert known["expected_joins"] == 1
    assert flow("command: {on: client, run: a}")["expected_joins"] == 0


def test_each_end_has_its_hosts_congestion_control() -> None:
    text = BASE.format(wifi="", traffic=BULK, more="")
    text = text.replace("server: {", "server: {congestion_control: vegas, ", 1)
    made = compile_plan(loads(text), "mptcp", seed=7)
    (item,) = made.traffic
    assert (item.congestion_control, item.server_congestion_control) == ("cubic", "vegas")
    assert settings_of(made)["congestion_control"] == ["cubic", "vegas"]


FOREGROUND = "\n  - ping: {from: client, to: server}"


def test_a_flow_that_fixes_its_protocol_is_left_alone_by_the_variant() -> None:
    traffic = "bulk: {from: client, to: server, duration: 1 s, protocol: tcp}"
    more = "variants: {x: {protocol: mptcp, via: eth}}"
    fixed, other = plan(traffic=traffic + FOREGROUND, more=more, variant="x")["traffic"]
    assert (fixed["protocol"], fixed["source"]) == ("tcp", "10.0.1.1")
    assert (other["protocol"], other["source"]) == ("mptcp", "10.0.3.1")


def test_a_flow_that_fixes_its_via_keeps_it() -> None:
    traffic = "bulk: {from: client, to: server, duration: 1 s, via: wifi}"
    more = "variants: {x: {protocol: mptcp, via: eth}}"
    fixed, _ = plan(traffic=traffic + FOREGROUND, more=more, variant="x")["traffic"]
    assert (fixed["protocol"], fixed["source"]) == ("mptcp", "10.0.1.1")


@pytest.mark.parametrize(
    ("traffic", "workload"),
    [
        (
            "bulk: {from: client, to: server, way: both, size: 1 MB, streams: 2}",
            {
                "kind": "bulk",
                "way": "both",
                "streams": 2,
                "duration_ns": None,
                "bytes": 1_000_000,
                "rate_bps": None,
            },
        ),
        (
            "bulk: {from: client, to: server, duration: 1 s, rate: 3 Mbit/s}",
            {
                "kind": "bulk",
                "way": "down",
                "streams": 1,
                "duration_ns": 1_000_000_000,
                "bytes": None,
                "rate_bps": 3_000_000,
            },
        ),
        (
            "datagrams: {from: client, to: server, way: up, rate: 2 Mbit/s, packet: 1 kB, "
            "duration: 1 s, on_off: {burst: 20 ms, pause: 30 ms}}",
            {
                "kind": "datagrams",
                "way": "up",
                "rate_bps": 2_000_000,
                "packet_bytes": 1000,
                "duration_ns": 1_000_000_000,
                "on_off_ns": [20_000_000, 30_000_000],
            },
        ),
        (
            "http: {from: client, to: server, size: 10 kB, count: 5}",
            {"kind": "http", "bytes": 10_000, "count": 5},
        ),
        (
            "ftp: {from: client, to: server, direction: up, size: 10 kB}",
            {"kind": "ftp", "way": "up", "bytes": 10_000, "count": 1},
        ),
        (
            "ping: {from: client, to: server}",
            {"kind": "ping", "interval_ns": 100_000_000, "count": 10, "payload_bytes": 56},
        ),
        (
            "request-response: {from: client, to: server, request: 1 kB, interval: 0 s}",
            {
                "kind": "request_response",
                "request_bytes": 1000,
                "response_bytes": 64,
                "interval_ns": 0,
                "count": 10,
            },
        ),
        (
            "command: {on: client, run: \"iperf3 -c {server} -t '1 2'\", "
            "server: {on: server, run: [iperf3, -s]}, duration: 3 s}",
            {
                "kind": "command",
                "argv": ["iperf3", "-c", "{server}", "-t", "1 2"],
                "server_argv": ["iperf3", "-s"],
                "duration_ns": 3_000_000_000,
            },
        ),
    ],
)
def test_workloads(traffic: str, workload: object) -> None:
    assert flow(traffic)["workload"] == workload


def test_flows_have_names_and_ports_of_their_own() -> None:
    traffic = (
        "bulk: {from: [client, server2], to: server, duration: 1 s}\n"
        "  - ping: {from: client, to: server}\n"
        "  - bulk: {from: client, to: server, duration: 1 s}\n"
    )
    text = BASE.format(wifi="", traffic=traffic, more="")
    text = text.replace("  server: ", "  server2: {interfaces: {x: {}}}\n  server: ")
    text = text.replace("  lan: {", "  extra: {between: [server2.x, ap.x]}\n  lan: {")
    made = compile_plan(loads(text), "mptcp", seed=1).to_json()["traffic"]
    assert [(item["name"], item["port"]) for item in made] == [
        ("bulk-client", 5001),
        ("bulk-server2", 5002),
        ("ping", 5003),
        ("bulk-2", 5004),
    ]


def test_a_command_without_a_server_is_its_own() -> None:
    made = flow("command: {on: client, run: uname -a, via: eth}")
    assert made["server"] == made["client"] == 0
    assert (made["source"], made["target"]) == (None, "10.0.3.1")


@pytest.mark.parametrize(
    ("traffic", "limit_s"),
    [
        ("bulk: {from: client, to: server, duration: 10 s, start: 5 s}", 10 + 5 + 30),
        ("ping: {from: client, to: server, interval: 1 s, count: 7}", 7 + 30),
        ("command: {on: client, run: sleep 1}", 3600),
        # 100 MB at 8 Mbit/s take 100 s: ten times that, and a minute.
        ("bulk: {from: client, to: server, size: 100 MB}", 1060),
        ("bulk: {from: client, to: server, size: 50 MB, streams: 2}", 1060),
        ("bulk: {from: client, to: server, way: both, size: 50 MB}", 1060),
        ("http: {from: client, to: server, size: 1 MB, count: 100}", 1060),
    ],
)
def test_runs_have_a_limit(traffic: str, limit_s: int) -> None:
    assert plan("rate: 8 Mbit/s", traffic=traffic)["time_limit_ns"] == limit_s * 10**9


def test_the_limit_knows_of_rates_that_fall() -> None:
    more = "events: [{at: 1 s, link: wifi, change: {rate: 1 Mbit/s}}]"
    made = plan("rate: 8 Mbit/s", "bulk: {from: client, to: server, size: 1 MB}", more)
    assert made["time_limit_ns"] == (10 * 8 + 60) * 10**9
