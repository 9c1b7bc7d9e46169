"""Which engine runs a scenario, and what each refuses before it starts."""

import pytest

from mptcplab.engine import choice
from mptcplab.engine.choice import KERNEL, SIM, EngineName, choose
from mptcplab.engine.kernel import refuse
from mptcplab.scenario import Scenario, ScenarioError, loads

TEXT = """\
hosts:
  client: {interfaces: {a: {}, b: {}}CLIENT}
  server: {interfaces: {a: {}, b: {}}}
routers: {r: {ROUTER}}
links:
  a: {between: [client.a, r.a], rate: 10 Mbit/sLINK}
  r: {between: [r.s, server.a]}
  b: {between: [client.b, server.b], rate: 10 Mbit/s}
traffic:
  - TRAFFIC
EVENTS
"""
PLAIN = {
    "CLIENT": "",
    "ROUTER": "",
    "LINK": "",
    "TRAFFIC": "bulk: {from: client, to: server, duration: 1 s}",
    "EVENTS": "",
}
BULK = "bulk: {from: client, to: server, duration: 1 s, rate: 1 Mbit/s}"
FTP = "ftp: {from: client, to: server, size: 1 MB}"
DATAGRAMS = "datagrams: {from: client, to: server, duration: 1 s, rate: 1 Mbit/s}"
SUBFLOW = "events: [{at: 1 s, subflow: {of: bulk, from: client.b, to: server.b}, up: true}]"
NO_JOINING = (
    "the kernel engine joins segments in front of hosts only, as the kernel of a router cuts them "
    "again"
)
KERNEL_REFUSES = [
    (
        {"LINK": ", middleboxes: [{coalesce: {payload: 4 kB}}]"},
        f"x.yaml:6: links.a.middleboxes.0: {NO_JOINING}",
    ),
    (
        {"TRAFFIC": FTP, "EVENTS": SUBFLOW.replace("bulk", "ftp")},
        "x.yaml:11: events.0.subflow: the kernel engine's FTP is a program that opens no subflows "
        "itself",
    ),
    (
        {"EVENTS": SUBFLOW},
        "x.yaml:2: hosts.client: the kernel leaves subflows to applications with the path manager "
        "`application` only",
    ),
    (
        {"CLIENT": ", mptcp: {scheduler: {name: round-robin, num_segments: 2}}"},
        "x.yaml:2: hosts.client.mptcp.scheduler: the kernel's schedulers have no options",
    ),
    (
        {"CLIENT": ", clock_granularity: 1 ms"},
        "x.yaml:2: hosts.client.clock_granularity: the kernel engine has the machine's clock",
    ),
    (
        {"CLIENT": ", pacing: true"},
        "x.yaml:2: hosts.client.pacing: the kernel engine paces as the congestion control asks",
    ),
]
SIM_REFUSES = [
    (
        {"TRAFFIC": "command: {on: client, run: 'true'}"},
        "x.yaml:10: traffic.0.command: the sim engine runs no programs",
    ),
    (
        {"CLIENT": ", sysctls: {net.ipv4.tcp_sack: 0}"},
        "x.yaml:2: hosts.client.sysctls.net.ipv4.tcp_sack: "
        "the sim engine knows no sysctl net.ipv4.tcp_sack",
    ),
    (
        {"CLIENT": ", congestion_control: bbr"},
        "x.yaml:2: hosts.client.congestion_control: the sim engine has no congestion control bbr",
    ),
]


def scenario(changes: dict[str, str]) -> Scenario:
    text = TEXT
    for mark, words in (PLAIN | changes).items():
        text = text.replace(mark, words)
    return loads(text, "x.yaml")


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that lacks nothing, whatever this one is."""
    monkeypatch.setattr(refuse, "namespaces_refused", lambda: None)
    monkeypatch.setattr(refuse, "has_mptcp", lambda: True)
    monkeypatch.setattr(refuse, "schedulers", lambda: ["default"])
    monkeypatch.setattr(refuse, "has_congestion_control", lambda name: name != "olia")
    monkeypatch.setattr(refuse, "load_refused", lambda _: "built without BPF")
    monkeypatch.setattr(refuse, "read_sysctl", lambda _: "cubic reno")


def message(engine: EngineName, one: Scenario) -> str:
    with pytest.raises(ScenarioError) as caught:
        choose(engine, one, list(one.variants))
    return str(caught.value)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize(("changes", "words"), KERNEL_REFUSES, ids=[w for _, w in KERNEL_REFUSES])
def test_the_kernel_engine_refuses_by_name(changes: dict[str, str], words: str) -> None:
    one = scenario(changes)
    assert message(EngineName.KERNEL, one) == f"{words}: use the sim engine (--engine sim)"
    assert choose(EngineName.AUTO, one, ["mptcp"]).engines == (SIM,)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize(("changes", "words"), SIM_REFUSES, ids=[w for _, w in SIM_REFUSES])
def test_the_sim_engine_refuses_by_name(changes: dict[str, str], words: str) -> None:
    one = scenario(changes)
    assert message(EngineName.SIM, one) == f"{words}: use the kernel engine (--engine kernel)"
    assert choose(EngineName.AUTO, one, ["mptcp"]).engines == (KERNEL,)


NARROW = """\
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {mtu: SERVER B}}}}
routers:
  r: {interfaces: {s: {mtu: 1400 B}}}
  s: {interfaces: {r: {mtu: 1400 B}, a: {mtu: SERVER B}}}
links:
  a: {between: [client.a, r.a], rate: 10 Mbit/s}
  m: {between: [r.s, s.r], rate: 10 Mbit/s}
  b: {between: [s.a, server.a], rate: 10 Mbit/s}
traffic: [bulk: {from: client, to: server, duration: 1 s}]
"""


@pytest.mark.usefixtures("able")
def test_the_sim_engine_refuses_a_way_narrower_in_its_middle_than_at_both_ends() -> None:
    assert message(EngineName.SIM, loads(NARROW.replace("SERVER", "1500"), "x.yaml")) == (
        "x.yaml:3: routers.r.interfaces.s.mtu: the sim engine has no path MTU discovery: "
        "use the kernel engine (--engine kernel). "
        "Or give the hosts of the way from client.a to server.a an mtu of 1400 B too"
    )
    as_narrow = loads(NARROW.replace("SERVER", "1400"), "x.yaml")
    assert choose(EngineName.SIM, as_narrow, list(as_narrow.variants)).engines == (SIM,)


@pytest.mark.usefixtures("able")
def test_auto_takes_the_kernel_without_a_word_where_it_can() -> None:
    assert choose(EngineName.AUTO, scenario({}), ["mptcp"]) == choice.Choice({KERNEL: ("mptcp",)})


@pytest.mark.usefixtures("able")
def test_auto_says_in_one_sentence_why_it_took_the_simulator() -> None:
    one = scenario({"CLIENT": ", congestion_control: olia, mptcp: {scheduler: ecf}"})
    assert choose(EngineName.AUTO, one, ["mptcp"]).notes == (
        f"{one.name} runs on the sim engine: "
        "this kernel has no MPTCP scheduler ecf (it has: default) and "
        "this kernel has no congestion control olia (it has: cubic reno), "
        "and it cannot be loaded: built without BPF.",
    )


@pytest.mark.usefixtures("able")
def test_what_can_be_loaded_is_not_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refuse, "load_refused", lambda _: None)
    one = scenario({"CLIENT": ", congestion_control: olia"})
    assert choose(EngineName.AUTO, one, ["mptcp"]).engines == (KERNEL,)


@pytest.mark.usefixtures("able")
def test_what_a_machine_lacks_is_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refuse, "read_sysctl", lambda _: None)
    assert message(EngineName.KERNEL, scenario({"ROUTER": "ecmp: true"})) == (
        "x.yaml:4: routers.r.ecmp: this kernel's routers would divide flows all alike "
        "(it lacks net.ipv4.fib_multipath_hash_seed): use the sim engine (--engine sim)"
    )
    monkeypatch.setattr(refuse, "has_mptcp", lambda: False)
    one = scenario({"EVENTS": "variants: {tcp: {protocol: tcp}, mptcp: {}}"})
    assert choose(EngineName.AUTO, one, ["tcp"]).engines == (KERNEL,)
    assert choose(EngineName.AUTO, one, ["tcp", "mptcp"]).notes == (
        f"{one.name} runs on the sim engine: this kernel has no MPTCP.",
    )
    assert message(EngineName.KERNEL, one) == (
        "--engine kernel: variant mptcp: this kernel has no MPTCP: "
        "use the sim engine (--engine sim)"
    )
    monkeypatch.setattr(refuse, "namespaces_refused", lambda: "it allows none. Be root")
    assert message(EngineName.KERNEL, one) == (
        "--engine kernel: it allows none: use the sim engine (--engine sim). Be root"
    )


@pytest.mark.usefixtures("able")
def test_what_neither_can_do_is_refused_with_both_reasons() -> None:
    one = scenario(
        {
            "TRAFFIC": "command: {on: client, run: 'true'}",
            "LINK": ", middleboxes: [{coalesce: {payload: 4 kB}}]",
        }
    )
    assert message(EngineName.AUTO, one).splitlines() == [
        f"x.yaml:6: links.a.middleboxes.0: {NO_JOINING}: "
        "neither engine can run all of this: take it out",
        "x.yaml:10: traffic.0.command: the sim engine runs no programs: "
        "neither engine can run all of this: take it out",
    ]


@pytest.mark.usefixtures("able")
def test_both_needs_both() -> None:
    assert choose(EngineName.BOTH, scenario({}), ["mptcp"]).engines == (KERNEL, SIM)
    for traffic in (BULK, DATAGRAMS):
        assert choose(EngineName.BOTH, scenario({"TRAFFIC": traffic}), ["mptcp"]).engines == (
            KERNEL,
            SIM,
        )
    one = scenario({"CLIENT": ", pacing: true"})
    assert "the kernel engine paces as the congestion control asks" in message(EngineName.BOTH, one)


@pytest.mark.usefixtures("able")
def test_only_the_variants_that_run_count() -> None:
    sets = "set: {hosts.client.mptcp.scheduler: ecf}"
    one = scenario({"EVENTS": f"variants: {{plain: {{}}, ecf: {{{sets}}}}}"})
    assert choose(EngineName.AUTO, one, ["plain"]).engines == (KERNEL,)
    assert choose(EngineName.AUTO, one, ["plain", "ecf"]).engines == (SIM,)
    assert message(EngineName.KERNEL, one) == (
        "x.yaml:11: variants.ecf.set.hosts.client.mptcp.scheduler: "
        "this kernel has no MPTCP scheduler ecf (it has: default): "
        "use the sim engine (--engine sim)"
    )


VARIANTS = """\
variants:
  plain: {}
  tcp: {protocol: tcp}
  ecf: {set: {hosts.client.mptcp.scheduler: ecf}}
  cut: {set: {"links.a.middleboxes": [{coalesce: {payload: 4 kB}}]}}
  bbr: {set: {hosts.client.congestion_control: bbr}}
"""


@pytest.mark.usefixtures("able")
def test_both_leaves_out_of_each_engine_what_it_cannot_run_and_says_so() -> None:
    one = scenario({"EVENTS": VARIANTS})
    assert choose(EngineName.BOTH, one, list(one.variants)) == choice.Choice(
        {KERNEL: ("plain", "tcp", "bbr"), SIM: ("plain", "tcp", "ecf", "cut")},
        (
            f"{one.name}: the kernel engine leaves out ecf and cut: "
            "this kernel has no MPTCP scheduler ecf (it has: default) and "
            f"{NO_JOINING}.",
            f"{one.name}: the sim engine leaves out bbr: "
            "the sim engine has no congestion control bbr.",
        ),
    )
    assert choose(EngineName.BOTH, one, ["plain"]).notes == ()


@pytest.mark.usefixtures("able")
def test_both_refuses_a_variant_that_neither_can_run() -> None:
    sets = '{hosts.client.congestion_control: bbr, "links.a.middleboxes": [{coalesce: {}}]}'
    sets = sets.replace("{}", "{payload: 4 kB}")
    one = scenario({"EVENTS": f"variants: {{plain: {{}}, odd: {{set: {sets}}}}}"})
    assert message(EngineName.BOTH, one).splitlines() == [
        f"x.yaml:11: variants.odd.set.links.a.middleboxes.0: {NO_JOINING}: "
        "neither engine can run all of this: take it out",
        "x.yaml:11: variants.odd.set.hosts.client.congestion_control: "
        "the sim engine has no congestion control bbr: "
        "neither engine can run all of this: take it out",
    ]


@pytest.mark.usefixtures("able")
def test_a_refusal_names_all_variants_that_it_is_of() -> None:
    sets = "set: {hosts.client.congestion_control: bbr}"
    one = scenario({"EVENTS": f"variants: {{plain: {{}}, one: {{{sets}}}, two: {{{sets}}}}}"})
    assert message(EngineName.SIM, one) == (
        "x.yaml:11: variants.one.set.hosts.client.congestion_control: variants one, two: "
        "the sim engine has no congestion control bbr: use the kernel engine (--engine kernel)"
    )


LOAD = "Or load it into the kernel: as a module, or by BPF (`mptcplab cc load FILE`)"
IN_PYTHON = "Or write it in Python (docs/howto)"
NEITHER = "neither engine can run all of this: take it out"


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("engine", [EngineName.KERNEL, EngineName.SIM, EngineName.AUTO])
def test_an_engine_is_named_as_the_mend_only_where_it_can_run_it(
    engine: EngineName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refuse, "has_congestion_control", lambda name: name != "vegas")
    one = scenario({"CLIENT": ", congestion_control: vegas"})
    key = "x.yaml:2: hosts.client.congestion_control: "
    assert message(engine, one).splitlines() == [
        f"{key}this kernel has no congestion control vegas (it has: cubic reno): {NEITHER}. {LOAD}",
        f"{key}the sim engine has no congestion control vegas: {NEITHER}",
    ]


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("engine", [EngineName.KERNEL, EngineName.SIM])
def test_an_engine_is_no_mend_for_other_keys_either(engine: EngineName) -> None:
    one = scenario(
        {
            "TRAFFIC": "command: {on: client, run: 'true'}",
            "LINK": ", middleboxes: [{coalesce: {payload: 4 kB}}]",
        }
    )
    assert message(engine, one).splitlines() == [
        f"x.yaml:6: links.a.middleboxes.0: {NO_JOINING}: {NEITHER}",
        f"x.yaml:10: traffic.0.command: the sim engine runs no programs: {NEITHER}",
    ]


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("engine", [EngineName.KERNEL, EngineName.SIM])
def test_where_each_variant_has_its_engine_both_is_the_hint(engine: EngineName) -> None:
    one = scenario({"EVENTS": VARIANTS})
    lines = message(engine, one).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.endswith(
            f"{NEITHER}, or run each variant where it can be run (--engine both)"
        ), line


@pytest.mark.usefixtures("able")
def test_the_kernel_runs_every_name_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    one = scenario({"CLIENT": ", congestion_control: mycc, mptcp: {scheduler: bpf_burst}"})
    assert message(EngineName.KERNEL, one).splitlines() == [
        "x.yaml:2: hosts.client.mptcp.scheduler: this kernel has no MPTCP scheduler bpf_burst "
        f"(it has: default): {NEITHER}. {LOAD}",
        "x.yaml:2: hosts.client.congestion_control: the sim engine has no congestion control mycc "
        f"(it has: reno cubic lia olia balia wvegas): {NEITHER}. {IN_PYTHON}",
        "x.yaml:2: hosts.client.mptcp.scheduler: the sim engine has no MPTCP scheduler bpf_burst "
        f"(it has: default lowest-rtt round-robin redundant blest ecf): {NEITHER}. {IN_PYTHON}",
    ]
    monkeypatch.setattr(refuse, "schedulers", lambda: ["default", "bpf_burst"])
    assert choose(EngineName.AUTO, one, ["mptcp"]) == choice.Choice({KERNEL: ("mptcp",)})


@pytest.mark.usefixtures("able")
def test_a_name_that_resembles_one_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refuse, "has_congestion_control", lambda name: name != "cubicc")
    one = scenario({"CLIENT": ", congestion_control: cubicc"})
    assert f'{NEITHER}. Did you mean "cubic"? {LOAD}' in message(EngineName.KERNEL, one)
