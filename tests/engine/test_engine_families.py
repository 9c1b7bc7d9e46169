"""Which subflows join on either engine: by family, and with ndiffports."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.system import ipv6_missing, mptcp_missing, namespaces_refused

from mptcplab.engine import run
from mptcplab.scenario import loads

KERNEL_LACKS = namespaces_refused() or mptcp_missing() or ipv6_missing()
ENGINES = [
    "sim",
    pytest.param(
        "kernel", marks=pytest.mark.skipif(KERNEL_LACKS is not None, reason=str(KERNEL_LACKS))
    ),
]
TWO = "{a: {}, b: {}}"
FIRST_IS_IPV4 = "{a: {}, b: {family: ipv6}, c: {family: both}}"
FIRST_IS_IPV6 = "{a: {family: ipv6}, b: {}, c: {family: both}}"
LINK = (
    "{{between: [client.{name}, server.{name}], rate: 10 Mbit/s, delay: 5 ms, queue: 500 packets}}"
)
"""A queue that holds what slow start sends: the kernel resets a subflow that joins on a path where
the peer's first segments are lost just then."""


def established(
    folder: Path,
    engine: str,
    interfaces: str,
    protocol: str = "mptcp",
    *,
    client: str = "",
    bulk: str = "",
) -> tuple[int, list[str]]:
    """The joins, and the address pair of each subflow that was established."""
    text = f"""\
hosts:
  client: {{interfaces: {interfaces}{client}}}
  server: {{interfaces: {interfaces}}}
links: {{{links(interfaces)}}}
traffic: [{{bulk: {{from: client, to: server, duration: 2 s{bulk}}}}}]
variants: {{it: {{protocol: {protocol}}}}}
"""
    recording = run(loads(text, "families.yaml", folder), "it", folder / "out", engine=engine)
    (transfer,) = recording.frame("transfers").iter_rows(named=True)
    assert transfer["error"] is None
    samples = recording.frame("subflow_samples").filter(
        (pl.col("node") == "client") & (pl.col("state") == "ESTABLISHED")
    )
    subflows = samples["subflow"].unique()
    return transfer["joins"] or 0, sorted(map(_pair, subflows))


def links(interfaces: str) -> str:
    """A link between the interfaces of each name."""
    names = [name for name in "abc" if f"{name}: " in interfaces]
    return ", ".join(f"{name}: {LINK.format(name=name)}" for name in names)


def _pair(subflow: str) -> str:
    """`10.0.1.1-10.0.1.2` of `10.0.1.1:40000-10.0.1.2:5001`."""
    return "-".join(end.rpartition(":")[0].strip("[]") for end in subflow.split("-"))


@pytest.mark.parametrize("engine", ENGINES)
def test_ndiffports_stays_on_the_pair_of_the_connection(tmp_path: Path, engine: str) -> None:
    manager = ", mptcp: {path_manager: {ndiffports: 3}}"
    joins, pairs = established(tmp_path, engine, TWO, client=manager)
    assert (joins, pairs) == (2, ["10.0.1.1-10.0.1.2"] * 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_connection_has_subflows_of_its_own_family(tmp_path: Path, engine: str) -> None:
    joins, pairs = established(tmp_path / "4", engine, FIRST_IS_IPV4)
    assert (joins, pairs) == (1, ["10.0.1.1-10.0.1.2", "10.0.3.1-10.0.3.2"])
    joins, pairs = established(tmp_path / "6", engine, FIRST_IS_IPV6)
    assert (joins, pairs) == (1, ["fd00:1::1-fd00:1::2", "fd00:3::1-fd00:3::2"])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("interfaces", "mixed"),
    [
        (
            FIRST_IS_IPV4,
            [
                "10.0.1.1-10.0.1.2",
                "10.0.3.1-10.0.3.2",
                "fd00:2::1-fd00:2::2",
                "fd00:3::1-fd00:3::2",
            ],
        ),
        (
            "{a: {family: ipv6}, b: {}, c: {}}",
            ["10.0.2.1-10.0.2.2", "10.0.3.1-10.0.3.2", "fd00:1::1-fd00:1::2"],
        ),
    ],
)
def test_a_dual_stack_connection_has_subflows_of_both_families(
    tmp_path: Path, engine: str, interfaces: str, mixed: list[str]
) -> None:
    joins, pairs = established(tmp_path, engine, interfaces, bulk=", dual_stack: true")
    assert (joins, pairs) == (len(mixed) - 1, mixed)


@pytest.mark.parametrize("engine", ENGINES)
def test_tcp_over_a_dual_stack_socket_is_told_as_ipv4(tmp_path: Path, engine: str) -> None:
    told = established(tmp_path, engine, FIRST_IS_IPV4, "tcp", bulk=", dual_stack: true")
    assert told == (0, ["10.0.1.1-10.0.1.2"])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["http", "request-response"])
def test_downloads_and_requests_have_dual_stack_sockets_too(
    tmp_path: Path, engine: str, kind: str
) -> None:
    of = "size: 20 kB" if kind == "http" else "count: 3"
    text = f"""\
hosts:
  client: {{interfaces: {FIRST_IS_IPV4}}}
  server: {{interfaces: {FIRST_IS_IPV4}}}
links: {{{links(FIRST_IS_IPV4)}}}
traffic: [{{{kind}: {{from: client, to: server, dual_stack: true, {of}}}}}]
"""
    scenario = loads(text, "families.yaml", tmp_path)
    recording = run(scenario, "mptcp", tmp_path / "out", engine=engine)
    (transfer,) = recording.frame("transfers").iter_rows(named=True)
    assert (transfer["error"], transfer["target"]) == (None, "10.0.1.2:5001")
    assert transfer["source"].startswith("10.0.1.1:")
