"""Switches in a scenario: segments and their addresses, and mistakes in them."""

from __future__ import annotations

from typing import Any

import pytest

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import ScenarioError, loads
from mptcplab.scenario.network import End, build

TWO_PATHS = """\
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {eth: {}}}
switches: {s1: {}, s2: {}, s3: {}}
controller: disjoint
links:
  other: {between: [s1.up, s3.left]}
  ca: {between: [client.a, s1.a]}
  cb: {between: [client.b, s1.b]}
  direct: {between: [s1.across, s2.across]}
  back: {between: [s3.right, s2.up]}
  server: {between: [s2.server, server.eth]}
traffic: [{bulk: {from: client, to: server, duration: 1 s}}]
variants: {mptcp: {}}
"""


def plan(text: str, variant: str = "mptcp") -> Any:
    return compile_plan(loads(text), variant, seed=1).to_json()


def addresses(made: Any) -> dict[str, list[str]]:
    return {
        f"{node['name']}.{interface['name']}": [one["address"] for one in interface["addresses"]]
        for node in made["nodes"]
        for interface in node["interfaces"]
        if interface["addresses"]
    }


def test_links_that_switches_join_are_one_network() -> None:
    made = plan(TWO_PATHS)
    assert addresses(made) == {
        "client.a": ["10.0.1.1"],
        "client.b": ["10.0.1.2"],
        "server.eth": ["10.0.1.3"],
    }
    assert [node["switch"] for node in made["nodes"]] == [
        None,
        None,
        *({"datapath_id": number, "is_open_vswitch": False} for number in (1, 2, 3)),
    ]
    assert made["controller"] == {
        "policy": "disjoint",
        "policy_source": None,
        "argv": None,
        "address": None,
        "discovery_ns": 0,
        "link_probe_ns": 1_000_000_000,
        "channel_delay_ns": 0,
        "channel_rate_bps": None,
        "sizes": "told",
        "tcp_fallback": False,
    }


def test_the_way_through_switches_is_the_shortest() -> None:
    network = build(loads(TWO_PATHS))
    reached = network.forwarding(End("client", "b"), 4)
    assert list(reached) == [End("server", "eth")]
    crossed = [network.link_of[end] for end in reached[End("server", "eth")]]
    assert list(dict.fromkeys(crossed)) == ["cb", "direct", "server"]


def test_a_router_on_a_segment_is_the_gateway_of_its_hosts() -> None:
    text = TWO_PATHS.replace("switches:", "routers: {r: {}}\nswitches:")
    text = text.replace("[s2.server, server.eth]", "[s2.server, r.in]")
    text = text.replace("traffic:", "  far: {between: [r.out, server.eth]}\ntraffic:")
    made = plan(text)
    nodes = {node["name"]: node for node in made["nodes"]}
    assert [one["gateways"] for one in nodes["client"]["interfaces"]] == [["10.0.1.3"]] * 2
    assert nodes["server"]["interfaces"][0]["gateways"] == ["10.0.7.1"]
    assert nodes["r"]["routes"] == []


def test_two_segments_have_networks_of_their_own() -> None:
    text = TWO_PATHS.replace("  direct: {between: [s1.across, s2.across]}\n", "")
    text = text.replace("  back: {between: [s3.right, s2.up]}\n", "")
    text = text.replace(
        "server: {interfaces: {eth: {}}}", "server: {interfaces: {eth: {}, near: {}}}"
    )
    text = text.replace("traffic:", "  near: {between: [s3.near, server.near]}\ntraffic:")
    made = plan(text)
    assert addresses(made) == {
        "client.a": ["10.0.1.1"],
        "client.b": ["10.0.1.2"],
        "server.near": ["10.0.1.3"],
        "server.eth": ["10.0.4.1"],
    }


def test_a_variant_sets_the_controller() -> None:
    text = TWO_PATHS + (
        "  other:\n    set: {controller.policy: mpsshetn, controller.delay: 2 ms,"
        " controller.rate: 10 Mbit/s}\n"
    )
    text = text.replace("variants: {mptcp: {}}", "variants:\n  mptcp: {}")
    text = text.replace("controller: disjoint", "controller: {policy: disjoint, sizes: learned}")
    assert plan(text, "other")["controller"] == {
        "policy": "mpsshetn",
        "policy_source": None,
        "argv": None,
        "address": None,
        "discovery_ns": 0,
        "link_probe_ns": 1_000_000_000,
        "channel_delay_ns": 2_000_000,
        "channel_rate_bps": 10_000_000,
        "sizes": "learned",
        "tcp_fallback": False,
    }
    assert plan(text)["controller"]["policy"] == "disjoint"


def test_a_controller_may_take_mptcp_from_a_connection() -> None:
    asked = "controller: {policy: earliest-completion, tcp_fallback: true}"
    assert plan(TWO_PATHS.replace("controller: disjoint", asked))["controller"]["tcp_fallback"]


def test_a_switch_may_be_a_bridge_of_open_vswitch() -> None:
    made = plan(TWO_PATHS.replace("s2: {}", "s2: {kind: openvswitch}"))
    switches = [node["switch"] for node in made["nodes"] if node["switch"]]
    assert [one["is_open_vswitch"] for one in switches] == [False, True, False]


def test_another_controller_is_a_program_or_an_address() -> None:
    program = "controller: {command: osken-manager 'my app.py', discovery: 3 s, delay: 1 ms}"
    made = plan(TWO_PATHS.replace("controller: disjoint", program))["controller"]
    assert (made["policy"], made["address"]) == (None, None)
    assert made["argv"] == ["osken-manager", "my app.py"]
    assert (made["discovery_ns"], made["channel_delay_ns"]) == (3_000_000_000, 1_000_000)
    for text, host, port in [
        ("tcp:192.0.2.1:6653", "192.0.2.1", 6653),
        ("tcp:[2001:db8::1]:1", "2001:db8::1", 1),
    ]:
        address = f'controller: {{address: "{text}"}}'
        made = plan(TWO_PATHS.replace("controller: disjoint", address))["controller"]
        assert (made["policy"], made["argv"]) == (None, None)
        assert made["address"] == {"host": host, "port": port}
        assert made["discovery_ns"] == 1_000_000_000


def test_a_router_between_two_segments_of_switches_is_refused() -> None:
    text = TWO_PATHS.replace("switches:", "routers: {r: {}}\nswitches:")
    text = text.replace("[s1.across, s2.across]", "[s1.across, r.left]")
    text = text.replace("[s3.right, s2.up]", "[r.right, s2.up]")
    with pytest.raises(ScenarioError) as caught:
        loads(text)
    assert "routers.r: joins two segments of switches" in str(caught.value)


MISTAKES = {
    "no controller": (
        "controller: disjoint\n",
        "",
        "switches: no controller tells them where packets go: add `controller: shortest`",
    ),
    "a policy that is none": (
        "controller: disjoint",
        "controller: disjont",
        'controller: "disjont": there is no such policy: did you mean "disjoint"? '
        "(in Python: FILE.py:FUNCTION)",
    ),
    "a policy in full that is none": (
        "controller: disjoint",
        "controller: {policy: disjont}",
        'controller.policy: "disjont": there is no such policy: did you mean "disjoint"?',
    ),
    "a kind of switch that is none": (
        "switches: {s1: {}",
        "switches: {s1: {kind: openvswich}",
        'switches.s1.kind: "openvswich": did you mean "openvswitch"?',
    ),
    "a program and a policy": (
        "controller: disjoint",
        "controller: {command: app, policy: disjoint}",
        "controller: a controller has exactly one of policy, command and address",
    ),
    "sizes for another controller": (
        "controller: disjoint",
        "controller: {command: app, sizes: told}",
        "controller.sizes: is of a policy: another controller asks for no sizes",
    ),
    "probes of another controller": (
        "controller: disjoint",
        "controller: {command: app, link_probe: 1 s}",
        "controller.link_probe: is of a policy: another controller has its own",
    ),
    "probes that are too often": (
        "controller: disjoint",
        "controller: {policy: disjoint, link_probe: 0.1 s}",
        'controller.link_probe: "0.1 s": frames by which links are found are 500 ms to 60 s apart',
    ),
    "TCP for another policy": (
        "controller: disjoint",
        "controller: {policy: disjoint, tcp_fallback: true}",
        "controller.tcp_fallback: is of the policy earliest-completion alone",
    ),
    "TCP without sizes": (
        "controller: disjoint",
        "controller: {policy: earliest-completion, sizes: learned, tcp_fallback: true}",
        "controller.tcp_fallback: needs sizes that are told",
    ),
    "discovery of a policy": (
        "controller: disjoint",
        "controller: {policy: disjoint, discovery: 1 s}",
        "controller.discovery: is of another controller",
    ),
    "a command line that is none": (
        "controller: disjoint",
        "controller: {command: app 'one}",
        "controller.command:",
    ),
    "a name for an address": (
        "controller: disjoint",
        "controller: {address: tcp:localhost:6653}",
        '"localhost" is no IP address: write it like tcp:127.0.0.1:6653 or tcp:[::1]:6653',
    ),
    "an address with a zone": (
        "controller: disjoint",
        'controller: {address: "tcp:[fe80::1%eth0]:6653"}',
        "names an interface: give an address that needs none",
    ),
    "an address without a port": (
        "controller: disjoint",
        "controller: {address: tcp:127.0.0.1}",
        "write it like tcp:127.0.0.1:6653 or tcp:[::1]:6653",
    ),
    "a port that is none": (
        "controller: disjoint",
        "controller: {address: tcp:127.0.0.1:65536}",
        '"65536" is no port: there are 1 to 65535',
    ),
    "an address of TLS": (
        "controller: disjoint",
        "controller: {address: ssl:127.0.0.1:6653}",
        "the lab speaks plain TCP with a controller",
    ),
    "a flow of the program's name": (
        "controller: disjoint",
        "controller: {command: app}",
        "",
    ),
    "no switches": (
        "switches: {s1: {}, s2: {}, s3: {}}",
        "routers: {s1: {}, s2: {}, s3: {}}",
        "controller: there are no switches: add `switches: {s1: {}}`",
    ),
    "a name of two nodes": (
        "switches: {s1: {}",
        "switches: {client: {}, s1: {}",
        "switches.client: there is a host of this name",
    ),
    "traffic of a switch": (
        "to: server",
        "to: s2",
        '"s2" is a switch: only hosts have applications',
    ),
    "a middlebox at a switch": (
        "ca: {between: [client.a, s1.a]}",
        "ca: {between: [client.a, s1.a], middleboxes: [{split: {payload: 700 B}}]}",
        "switch s1 is at this link, which carries frames: put it into another one",
    ),
    "mtus that differ": (
        "server: {interfaces: {eth: {}}}",
        "server: {interfaces: {eth: {mtu: 9000 B}}}",
        "9000 B, but client.a at the same segment has 1500 B: give both the same",
    ),
    "addresses of two networks": (
        "client: {interfaces: {a: {}",
        "client: {interfaces: {a: {addresses: [192.0.2.1/24]}",
        "",
    ),
}


@pytest.mark.parametrize("name", [name for name, (*_, text) in MISTAKES.items() if text])
def test_a_mistake_is_named(name: str) -> None:
    right, wrong, message = MISTAKES[name]
    assert right in TWO_PATHS
    with pytest.raises(ScenarioError) as caught:
        loads(TWO_PATHS.replace(right, wrong, 1))
    assert message in str(caught.value)


def test_a_flow_has_another_name_than_the_program_of_a_controller() -> None:
    right, wrong, _ = MISTAKES["a flow of the program's name"]
    text = TWO_PATHS.replace("bulk: {from", "bulk: {name: controller, from")
    loads(text)
    with pytest.raises(ScenarioError) as caught:
        loads(text.replace(right, wrong))
    assert '"controller" is the controller\'s program in recordings' in str(caught.value)


def test_a_given_address_makes_the_network_of_its_segment() -> None:
    right, wrong, _ = MISTAKES["addresses of two networks"]
    made = plan(TWO_PATHS.replace(right, wrong, 1))
    assert addresses(made) == {
        "client.a": ["192.0.2.1"],
        "client.b": ["192.0.2.2"],
        "server.eth": ["192.0.2.3"],
    }
