from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mptcplab.scenario import ScenarioError, load, loads, with_overrides

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")


def messages(text: str, folder: Path = Path()) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        loads(text, "x.yaml", folder)
    return [str(problem) for problem in caught.value.problems]


def test_all_problems_are_reported_at_once() -> None:
    text = (
        GOOD.replace("48 Mbit/s", "48 Mb").replace("10 s", "10 sec").replace("via: wifi", "vai: 1")
    )
    assert messages(text) == [
        'x.yaml:15: links.wifi.rate: "48 Mb": did you mean "48 Mbit/s"?',
        'x.yaml:19: traffic.0.bulk.duration: "10 sec": did you mean "10 s"?',
        'x.yaml:23: variants.tcp-wifi.vai: unknown key: did you mean "via"?',
    ]


def test_hosts_without_a_way_between_them() -> None:
    text = """\
hosts:
  a: {interfaces: {x: {}}}
  b: {interfaces: {x: {}}}
  c: {interfaces: {x: {family: ipv6}}}
routers: {r: {}, s: {}}
links:
  one: {between: [a.x, r.one]}
  two: {between: [b.x, s.one]}
  three: {between: [c.x, r.two]}
traffic:
  - ping: {from: a, to: b}
  - ping: {from: a, to: c}
"""
    assert messages(text) == [
        "x.yaml:11: traffic.0.ping: there is no way from a to b (variant mptcp): "
        "join them by links and routers",
        "x.yaml:12: traffic.1.ping: there is no way from a to c (variant mptcp): "
        "join them by links and routers",
    ]


def test_networks_that_leave_none_to_assign() -> None:
    text = GOOD.replace("wifi: {}", "wifi: {addresses: [10.0.0.9/8]}", 1)
    assert messages(text) == [
        "x.yaml:16: links.lan: no IPv4 network is left to assign: give ap.lan an address"
    ]


def test_a_network_that_is_full() -> None:
    text = GOOD.replace("wifi: {}", "wifi: {addresses: [10.9.0.1/32]}", 1)
    assert messages(text) == [
        "x.yaml:13: routers.ap: no address is left in 10.9.0.1/32: give one, or a shorter prefix"
    ]


def test_backups_need_a_path_manager_that_has_them() -> None:
    text = GOOD.replace("wifi: {}", "wifi: {backup: true}", 1).replace(
        "fullmesh", "{ndiffports: 2}"
    )
    assert messages(text) == [
        "x.yaml:5: hosts.client.interfaces.wifi.backup: client's path manager is ndiffports, "
        "which has no backups: use fullmesh"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "lan: {}\n      eth: {}",
            "lan: {}\n      eth: {}\n    mptcp: {path_manager: {ndiffports: 2}}",
            "x.yaml:12: hosts.server.mptcp.path_manager: "
            "ndiffports opens subflows of clients, and no traffic starts here",
        ),
        (
            "duration: 10 s",
            "duration: 10 s, via: eth",
            "x.yaml:23: variants.tcp-wifi.via: "
            "applies to nothing: every flow fixes its own `via` or `protocol`",
        ),
        (
            "mptcp: {}\n",
            "mptcp: {set: {repetitions: 5}}\n",
            "x.yaml:24: variants.mptcp.set.repetitions: "
            "a variant changes topology, hosts, routers, switches, controller, links, traffic, "
            "events, sample_interval only",
        ),
        (
            "- bulk: {from: client, to: server, duration: 10 s}",
            "- ping: {from: client, to: server, interval: 10 min, count: 1000000}",
            "x.yaml:19: traffic.0.ping.count: so many intervals last longer than a week",
        ),
        (
            "duration: 10 s",
            "duration: 20000 min",
            'x.yaml:19: traffic.0.bulk.duration: "20000 min": '
            "nothing lasts longer than a week (10080 min)",
        ),
    ],
)
def test_what_would_be_ignored_is_refused(old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert messages(GOOD.replace(old, new, 1)) == [message]


def test_a_variant_is_checked_with_its_own_values_only() -> None:
    off = "{protocol: tcp, via: wifi, set: {hosts.client.mptcp.enabled: false}}"
    assert loads(GOOD.replace("{protocol: tcp, via: wifi}", off))
    assert messages(GOOD.replace("mptcp: {}\n", f"mptcp: {off.replace('tcp', 'mptcp', 1)}\n")) == [
        "x.yaml:24: variants.mptcp.set.hosts.client.mptcp.enabled: "
        "is false, but variant mptcp opens MPTCP connections from client"
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5\nx\n", "t.mahi:2: is no time in milliseconds, such as 25"),
        ("5\n4\n", "t.mahi:2: is earlier than the line before it"),
        ("\n", "t.mahi: holds no time"),
        ("0\n0\n", "t.mahi: ends at 0 ms; its last time is its length"),
        (
            "7\n" * 83_113,
            "t.mahi:83112: more than 83111 lines for 7 ms: the largest rate is 1000 Gbit/s",
        ),
    ],
)
def test_traces_that_cannot_be_replayed(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "t.mahi").write_text(content)
    text = GOOD.replace("rate: 48 Mbit/s", "trace: t.mahi")
    assert messages(text, folder=tmp_path) == [f"x.yaml:15: links.wifi.trace: {message}"]


def test_a_missing_trace() -> None:
    text = GOOD.replace("rate: 48 Mbit/s", "trace: none.mahi")
    assert messages(text) == [
        "x.yaml:15: links.wifi.trace: none.mahi: cannot be read (No such file or directory)"
    ]


def test_a_file_that_is_too_large() -> None:
    assert messages("#" * 200_000) == ["x.yaml: larger than 128 KiB"]


def test_aliases_that_expand_without_end() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert messages("\n".join(lines)) == [
        "x.yaml:5: more than 20000 values (aliases counted in full)"
    ]


def test_an_alias_inside_its_own_anchor() -> None:
    assert messages("a: &a [*a]") == ['x.yaml:1: a.0: "*a" refers to nothing before it']


def test_files_that_are_no_scenario() -> None:
    assert messages("") == ["x.yaml:1: a scenario is a mapping with hosts, links and traffic"]
    assert messages("- 1") == ["x.yaml:1: a scenario is a mapping with hosts, links and traffic"]
    assert messages("a: \0") == [
        "x.yaml: not valid YAML: unacceptable character #x0000: special characters are not allowed"
    ]


def test_paths_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.yaml").write_bytes(b"title: \xe9\n")
    for name, message in [
        ("missing.yaml", "missing.yaml: cannot be read (No such file or directory)"),
        ("latin.yaml", "latin.yaml: is not text in UTF-8 (byte 7)"),
        (
            "lisbon/A11",
            'lisbon/A11: neither a file nor in the catalogue: did you mean "lisbon/A1"?',
        ),
    ]:
        with pytest.raises(ScenarioError) as caught:
            load(name)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("links.wifi.rate", "48 Mb", '--set links.wifi.rate: "48 Mb": did you mean "48 Mbit/s"?'),
        (
            "links.wlan.rate",
            "1 bit/s",
            '--set links.wlan.rate: there is no link "wlan": did you mean "lan"?',
        ),
        ("links..rate", "1 bit/s", "--set links..rate: is no path: write it like links.wifi.rate"),
        ("links.wifi.rat", "1 bit/s", '--set links.wifi.rat: unknown key: did you mean "rate"?'),
        ("repetitions", 0, "--set repetitions: 0: must be at least 1"),
    ],
)
def test_overrides_name_their_path(path: str, value: object, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        with_overrides(loads(GOOD), {path: value})
    assert str(caught.value) == message


WORDS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "  ",
    "&a ",
    "*a",
    "!!set ",
    "? ",
    "#",
    "'",
    '"',
    "%",
    "null",
    "-1",
    "1e400",
    "0x7f",
    "5 ms",
    "client",
    "client.wifi",
    "{}",
    "[]",
    "<<: ",
    "\t",
    "|",
    ">",
    "\0",
    "\u2028",
    "9" * 5000,
    "true",
    "~",
    "--- ",
    "1 BDP",
    "unlimited",
    "set: ",
]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_mutation_of_a_file_raises_anything_but_scenario_errors(data: st.DataObject) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        word = data.draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)))
        text = text[:start] + word + text[end:]
    try:
        loads(text)
    except ScenarioError as error:
        named = error.problems
    else:
        return
    assert named


SCALARS = [st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)]
KEYS = st.text(max_size=5)
VALUES = st.recursive(
    st.one_of(*SCALARS, st.sampled_from(WORDS)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def paths(tree: object, start: str = "") -> list[str]:
    items = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    found = []
    for key, value in items:
        path = f"{start}{key}"
        found += [path, *paths(value, f"{path}.")]
    return found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_value_anywhere_raises_anything_but_scenario_errors(data: st.DataObject) -> None:
    good = loads(GOOD)
    path = data.draw(st.sampled_from(paths(good.provenance.tree)))
    try:
        with_overrides(good, {path: data.draw(VALUES)})
    except ScenarioError as error:
        named = error.problems
    else:
        return
    assert named


LARGEST = "the largest rate is 1000 Gbit/s"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "carrier: eth, up: false",
            "link: eth, change: {rate: 2 Gbit/s, down: {rate: 1001 Gbit/s}}",
            f'x.yaml:21: events.0.change.down.rate: "1001 Gbit/s": {LARGEST}',
        ),
        (
            "duration: 10 s",
            "duration: 10 s, rate: 1001 Gbit/s",
            f'x.yaml:19: traffic.0.bulk.rate: "1001 Gbit/s": {LARGEST}',
        ),
        (
            "bulk: {from: client, to: server",
            "datagrams: {from: client, to: server, rate: 1001 Gbit/s",
            f'x.yaml:19: traffic.0.datagrams.rate: "1001 Gbit/s": {LARGEST}',
        ),
        (
            "mptcp: {}",
            "mptcp: {set: {links.eth.rate: 1001 Gbit/s}}",
            f'x.yaml:24: variants.mptcp.set.links.eth.rate: "1001 Gbit/s": {LARGEST}',
        ),
    ],
)
def test_a_rate_above_the_largest_is_refused_wherever_it_stands(
    old: str, new: str, message: str
) -> None:
    assert messages(GOOD.replace(old, new)) == [message]


def test_an_override_above_the_largest_rate_is_refused_and_the_largest_is_taken() -> None:
    good = loads(GOOD, "x.yaml")
    with pytest.raises(ScenarioError, match=f'--set links.wifi.rate: "1001 Gbit/s": {LARGEST}'):
        with_overrides(good, {"links.wifi.rate": "1001 Gbit/s"})
    assert with_overrides(good, {"links.wifi.rate": "1000 Gbit/s"}).links["wifi"].rate == 10**12
