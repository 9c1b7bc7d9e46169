from pathlib import Path
from typing import Any

import pytest

from mptcplab.engine.compile import Capture, compile_plan
from mptcplab.engine.kernel.run import settings_of
from mptcplab.scenario import ScenarioError, load, loads

BASE = """\
hosts:
  client: {{interfaces: {{wifi: {{}}, eth: {{}}}}}}
  server: {{interfaces: {{lan: {{}}, eth: {{}}}}}}
routers: {{ap: {{}}}}
links:
  wifi: {{between: [client.wifi, ap.wlan]{wifi}}}
  lan: {{between: [ap.lan, server.lan], rate: 1 Gbit/s}}
  eth: {{between: [client.eth, server.eth], rate: 100 Mbit/s, delay: 10 ms}}
traffic:
  - {traffic}
{more}
"""
BULK = "bulk: {from: client, to: server, way: up, duration: 10 s}"


def plan(
    wifi: str = "",
    traffic: str = BULK,
    more: str = "",
    variant: str = "mptcp",
    folder: Path = Path(),
) -> Any:
    text = BASE.format(wifi=f", {wifi}" if wifi else "", traffic=traffic, more=more)
    return compile_plan(loads(text, folder=folder), variant, seed=7)


def direction(wifi: str, index: int = 0, folder: Path = Path()) -> Any:
    return plan(wifi, folder=folder)["links"][0]["config"]["directions"][index]


def flow(traffic: str = BULK) -> Any:
    (made,) = plan(traffic=traffic)["traffic"]
    return made


def test_a_link_without_settings_is_a_perfect_wire() -> None:
    assert direction("") == {
        "rate": {"kind": "unlimited"},
        "framing_bytes": 0,
        "delay_ns": 0,
        "jitter": {"kind": "none"},
        "loss": {"kind": "none"},
        "reordering": None,
        "duplication": 0.0,
        "queue": {
            "limit_packets": None,
            "limit_bytes": None,
            "discipline": {"kind": "drop_tail"},
        },
        "up": True,
    }


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("rate: 48 Mbit/s", "rate", {"kind": "fixed", "bits_per_second": 48_000_000}),
        ("framing: 38 B", "framing_bytes", 38),
        ("delay: 1.5 ms", "delay_ns", 1_500_000),
        ("jitter: 1 ms", "jitter", {"kind": "uniform", "range_ns": 1_000_000}),
        ("jitter: {normal: 1 ms}", "jitter", {"kind": "normal", "sd_ns": 1_000_000}),
        ("loss: 0.5 %", "loss", {"kind": "random", "probability": 0.005}),
        (
            "loss: {gilbert-elliott: {p: 1 %, r: 25 %}}",
            "loss",
            {"kind": "gilbert_elliott", "p": 0.01, "r": 0.25, "loss_good": 0.0, "loss_bad": 1.0},
        ),
        (
            "reordering: {probability: 2 %, by: 3 ms}",
            "reordering",
            {"probability": 0.02, "extra_ns": 3_000_000},
        ),
        ("duplication: 1 %", "duplication", 0.01),
    ],
)
def test_each_setting_reaches_both_directions(setting: str, key: str, value: object) -> None:
    assert direction(setting, 0)[key] == value
    assert direction(setting, 1)[key] == value


@pytest.mark.parametrize(
    ("setting", "packets", "size_bytes"),
    [
        # 100 Mbit/s × (20 + 20) ms = 500 kB.
        ("rate: 100 Mbit/s, delay: 20 ms", None, 500_000),
        ("rate: 100 Mbit/s, delay: 20 ms, queue: 2 BDP", None, 1_000_000),
        ("rate: 100 Mbit/s, delay: 20 ms, queue: 0.5 BDP", None, 250_000),
        # The way back counts: 100 Mbit/s × (20 + 60) ms = 1 MB.
        ("rate: 100 Mbit/s, delay: 20 ms, down: {delay: 60 ms}", None, 1_000_000),
        # Below 16 packets of 1500 bytes: those.
        ("rate: 10 Mbit/s, delay: 1 ms", None, 24_000),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: 50 packets", 50, None),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: 9 kB", None, 9_000),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: unlimited", None, None),
        ("delay: 20 ms", None, None),
    ],
)
def test_queues_hold_one_bdp_unless_said(
    setting: str, packets: int | None, size_bytes: int | None
) -> None:
    queue = direction(setting)["queue"]
    assert (queue["limit_packets"], queue["limit_bytes"]) == (packets, size_bytes)


def test_codel_has_the_parameters_of_its_rfc_unless_said() -> None:
    assert direction("rate: 1 Mbit/s, queue: {discipline: codel}")["queue"]["discipline"] == {
        "kind": "codel",
        "target_ns": 5_000_000,
        "interval_ns": 100_000_000,
    }
    made = direction("rate: 1 Mbit/s, queue: {discipline: codel, target: 1 ms, interval: 20 ms}")
    assert made["queue"]["discipline"]["target_ns"] == 1_000_000
    assert made["queue"]["discipline"]["interval_ns"] == 20_000_000


def test_up_is_from_the_first_end_to_the_second() -> None:
    setting = "rate: 10 Mbit/s, up: {rate: 1 Mbit/s}, down: {loss: 1 %}"
    up, down = direction(setting, 0), direction(setting, 1)
    assert up["rate"]["bits_per_second"] == 1_000_000
    assert down["rate"]["bits_per_second"] == 10_000_000
    assert (up["loss"]["kind"], down["loss"]["kind"]) == ("none", "random")
    (link, *_) = plan(setting)["links"]
    assert link["ends"] == [{"node": 0, "interface": 0}, {"node": 2, "interface": 0}]


def test_a_links_own_settings_win_over_its_profile() -> None:
    made = direction("profile: lte, rate: 3 Mbit/s")
    assert made["rate"]["bits_per_second"] == 3_000_000
    assert made["delay_ns"] == 25_000_000
    assert plan("profile: wifi-g")["links"][0]["config"]["duplex"] == "half"
    assert plan("profile: wifi-g, duplex: full")["links"][0]["config"]["duplex"] == "full"


def test_a_trace_is_replayed_as_the_rate(tmp_path: Path) -> None:
    (tmp_path / "t.mahi").write_text("0\n5\n5\n10\n")
    made = direction("trace: t.mahi, delay: 1 s", folder=tmp_path)
    assert made["rate"] == {"kind": "trace", "opportunities_ms": [0, 5, 5, 10]}
    # Four opportunities of 1504 bytes in 10 ms, over a round trip of 2 s.
    assert made["queue"]["limit_bytes"] == 4 * 1504 * 100 * 2
    # It takes the place of the profile's rate.
    assert direction("profile: 4g, trace: t.mahi", folder=tmp_path)["rate"]["kind"] == "trace"


def test_fast_links_take_large_segments() -> None:
    wifi, lan, eth = plan("rate: 499 Mbit/s")["links"]
    assert (wifi["offload"], lan["offload"], eth["offload"]) == (False, True, False)
    assert plan("rate: 1 Mbit/s, offload: true")["links"][0]["offload"] is True


def test_the_initial_subflow_uses_the_first_interface_that_reaches_the_server() -> None:
    made = flow()
    assert (made["source"], made["target"]) == ("10.0.1.1", "10.0.2.2")
    assert made["expected_joins"] == 1


def test_via_chooses_the_interface_and_the_server_address_on_its_side() -> None:
    (made,) = compile_plan(load("lisbon/A1"), "tcp-eth", seed=1)["traffic"]
    assert (made["source"], made["target"]) == ("10.0.3.1", "10.0.3.2")
    assert (made["protocol"], made["expected_joins"]) == ("tcp", 0)


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
    (item,) = made["traffic"]
    assert (item["congestion_control"], item["server_congestion_control"]) == ("cubic", "vegas")
    assert settings_of(made)["congestion_control"] == ["cubic", "vegas"]


FOREGROUND = "\n  - ping: {from: client, to: server}"


def test_an_item_that_fixes_its_protocol_is_left_alone_by_the_variant() -> None:
    traffic = "bulk: {from: client, to: server, duration: 1 s, protocol: tcp}"
    more = "variants: {x: {protocol: mptcp, via: eth}}"
    fixed, other = plan(traffic=traffic + FOREGROUND, more=more, variant="x")["traffic"]
    assert (fixed["protocol"], fixed["source"]) == ("tcp", "10.0.1.1")
    assert (other["protocol"], other["source"]) == ("mptcp", "10.0.3.1")


def test_an_item_that_fixes_its_via_keeps_it() -> None:
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
            "ftp: {from: client, to: server, way: up, size: 10 kB}",
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
    made = compile_plan(loads(text), "mptcp", seed=1)["traffic"]
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


@pytest.mark.parametrize(
    ("event", "action", "label"),
    [
        (
            "link: eth, change: {rate: 10 Mbit/s, loss: 1 %}",
            {
                "kind": "link",
                "link": 2,
                "change": {
                    "rate": {"kind": "fixed", "bits_per_second": 10_000_000},
                    "loss": {"kind": "random", "probability": 0.01},
                },
                "carrier": None,
            },
            "eth: 10 Mbit/s, loss 1 %",
        ),
        (
            "link: eth, change: {queue: 2 BDP}",
            {
                "kind": "link",
                "link": 2,
                # 2 × 100 Mbit/s × 20 ms.
                "change": {"limits": {"limit_packets": None, "limit_bytes": 500_000}},
                "carrier": None,
            },
            "eth: new queue",
        ),
        (
            "link: eth, up: false",
            {"kind": "link", "link": 2, "change": {"up": False}, "carrier": None},
            "eth fails silently",
        ),
        (
            "carrier: eth, up: true",
            {"kind": "link", "link": 2, "change": {"up": True}, "carrier": True},
            "eth plugged in",
        ),
        (
            "interface: client.eth, up: false",
            {"kind": "interface", "interface": {"node": 0, "interface": 1}, "up": False},
            "client.eth down",
        ),
        (
            "interface: client.eth, backup: true",
            {"kind": "backup", "interface": {"node": 0, "interface": 1}, "backup": True},
            "client.eth becomes backup",
        ),
    ],
)
def test_events(event: str, action: object, label: str) -> None:
    (made,) = plan(more=f"events: [{{at: 2 s, {event}}}]")["events"]
    assert made == {"at_ns": 2_000_000_000, "action": action, "label": label}


def test_a_change_of_one_direction_names_it() -> None:
    more = "events: [{at: 2 s, link: eth, change: {down: {delay: 5 ms}}}]"
    (made,) = plan(more=more)["events"]
    assert made["action"]["change"] == {"direction": 1, "delay_ns": 5_000_000}
    assert made["label"] == "eth: down 5 ms"


def limits(wifi: str, *changes: str) -> list[tuple[Any, Any, Any]]:
    """Time, direction and bytes of each new limit of wifi's queues; a change a second."""
    events = ", ".join(
        f"{{at: {at} s, link: wifi, change: {{{change}}}}}" for at, change in enumerate(changes, 1)
    )
    return [
        (event["at_ns"] // 10**9, change.get("direction"), change["limits"]["limit_bytes"])
        for event in plan(wifi, more=f"events: [{events}]")["events"]
        if "limits" in (change := event["action"]["change"])
    ]


def test_a_new_limit_in_bdp_is_of_each_directions_own_rate() -> None:
    wifi = "rate: 10 Mbit/s, up: {rate: 1 Mbit/s}, delay: 100 ms"
    # 2 × 1 Mbit/s × 200 ms, and 2 × 10 Mbit/s × 200 ms.
    assert limits(wifi, "queue: 2 BDP") == [(1, 0, 50_000), (1, 1, 500_000)]
    assert limits(wifi, "down: {queue: 2 BDP}") == [(1, 1, 500_000)]


def test_a_new_limit_in_bdp_is_of_both_delays_after_the_event() -> None:
    wifi = "rate: 10 Mbit/s, delay: 10 ms"
    # 10 Mbit/s × (100 + 100) ms; × (100 + 10) ms, in either direction.
    assert limits(wifi, "delay: 100 ms, queue: 1 BDP") == [(1, None, 250_000)]
    one = limits(wifi, "up: {delay: 100 ms}, queue: 1 BDP")
    assert one == [(1, 0, 137_500), (1, 1, 137_500)]


def test_a_new_limit_in_bdp_knows_of_earlier_events() -> None:
    wifi = "rate: 10 Mbit/s, delay: 10 ms"
    # 20 Mbit/s × (10 + 100) ms.
    found = limits(wifi, "rate: 20 Mbit/s", "down: {delay: 100 ms}", "queue: 1 BDP")
    assert found == [(3, None, 275_000)]
    # 20 Mbit/s × (100 + 100) ms, whatever the order in the file.
    late = "{at: 3 s, link: wifi, change: {queue: 1 BDP}}"
    early = "{at: 1 s, link: wifi, change: {rate: 20 Mbit/s, delay: 100 ms}}"
    *_, last = plan(wifi, more=f"events: [{late}, {early}]")["events"]
    assert last["action"]["change"]["limits"]["limit_bytes"] == 500_000


def test_a_queue_keeps_its_limit_until_it_is_told_another() -> None:
    assert limits("rate: 10 Mbit/s, delay: 10 ms", "rate: 20 Mbit/s", "delay: 50 ms") == []


def test_a_link_that_gets_its_first_rate_gets_the_queue_of_it() -> None:
    # 10 Mbit/s × 200 ms once; then as a device's memory.
    found = limits("delay: 100 ms", "delay: 100 ms", "rate: 10 Mbit/s", "rate: 20 Mbit/s")
    assert found == [(2, None, 250_000)]


def test_events_are_in_order_of_time() -> None:
    more = "events: [{at: 3 s, link: eth, up: true}, {at: 1 s, link: eth, up: false}]"
    assert [event["at_ns"] for event in plan(more=more)["events"]] == [10**9, 3 * 10**9]


def test_captures_are_of_all_interfaces_of_hosts_unless_named() -> None:
    scenario = load("lisbon/A1")
    folder = Path("/somewhere")
    every = compile_plan(scenario, "mptcp", 1, Capture(folder))["capture"]
    assert [(end["node"], end["interface"]) for end in every["interfaces"]] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    one = compile_plan(scenario, "mptcp", 1, Capture(folder, ("ap.lan",), 96))["capture"]
    assert one == {
        "folder": "/somewhere",
        "interfaces": [{"node": 2, "interface": 1}],
        "snap_length": 96,
    }


def test_a_variants_values_apply_to_it_alone() -> None:
    more = "variants: {a: {}, b: {set: {links.wifi.rate: 5 Mbit/s}}}"
    rates = [
        plan("rate: 8 Mbit/s", more=more, variant=name)["links"][0]["config"]["directions"][0][
            "rate"
        ]
        for name in "ab"
    ]
    assert [rate["bits_per_second"] for rate in rates] == [8_000_000, 5_000_000]


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ScenarioError, match='no variant "mtpcp": did you mean "mptcp"'):
        plan(variant="mtpcp")
