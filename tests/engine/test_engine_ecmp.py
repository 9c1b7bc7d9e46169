"""Routers with equally short ways, on either engine."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.system import ipv6_missing, mptcp_missing, namespaces_refused

from mptcplab.engine import run
from mptcplab.engine.kernel.sysctl import read_sysctl
from mptcplab.recording import Recording
from mptcplab.scenario import loads

KERNEL_LACKS = namespaces_refused() or mptcp_missing() or ipv6_missing()
if KERNEL_LACKS is None and read_sysctl("net.ipv4.fib_multipath_hash_seed") is None:
    KERNEL_LACKS = "this kernel has no net.ipv4.fib_multipath_hash_seed"
kernel = pytest.mark.skipif(KERNEL_LACKS is not None, reason=str(KERNEL_LACKS))
both_engines = pytest.mark.parametrize("engine", ["sim", pytest.param("kernel", marks=kernel)])
BULK = "bulk: {from: client, to: server, direction: both, size: 20 kB, streams: 24}"
"""So many connections that all take the same way once in ten million runs."""


def divided(
    folder: Path,
    engine: str,
    *,
    ecmp: str = "true",
    family: str = "ipv4",
    traffic: str = BULK,
    protocol: str = "tcp",
    client: str = "",
    events: str = "",
) -> Recording:
    """Traffic over two routers that two links join."""
    text = f"""\
hosts:
  client: {{interfaces: {{a: {{family: {family}}}}}{client}}}
  server: {{interfaces: {{a: {{family: {family}}}}}}}
routers: {{left: {{ecmp: {ecmp}}}, right: {{ecmp: {ecmp}}}}}
links:
  in: {{between: [client.a, left.in]}}
  one: {{between: [left.one, right.one], rate: 10 Mbit/s, delay: 1 ms, queue: 500 packets}}
  two: {{between: [left.two, right.two], rate: 10 Mbit/s, delay: 1 ms, queue: 500 packets}}
  out: {{between: [right.out, server.a]}}
traffic: [{{{traffic}}}]
events: [{events}]
variants: {{it: {{protocol: {protocol}}}}}
"""
    recording = run(loads(text, "ecmp.yaml", folder), "it", folder / "out", engine=engine)
    assert set(recording.frame("transfers")["error"]) == {None}
    return recording


def carried(recording: Recording, since_s: float = 0) -> dict[tuple[str, str], int]:
    """The bytes that each link took from each end since a time."""
    taken: dict[tuple[str, str], int] = {}
    before: dict[tuple[str, str], int] = {}
    samples = recording.frame("link_samples").filter(pl.col("link").is_in(["one", "two"]))
    for row in samples.sort("t_ns").iter_rows(named=True):
        counted = before if row["t_ns"] < since_s * 1e9 else taken
        counted[row["link"], row["from"]] = row["offered_bytes"]
    return {end: total - before.get(end, 0) for end, total in taken.items()}


@both_engines
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_connections_divide_among_equal_ways_in_both_directions(
    engine: str, family: str, tmp_path: Path
) -> None:
    shares = carried(divided(tmp_path, engine, family=family))
    assert len(shares) == 4
    assert all(share > 20_000 for share in shares.values()), shares


@both_engines
def test_without_ecmp_all_take_one_way(engine: str, tmp_path: Path) -> None:
    shares = carried(divided(tmp_path, engine, ecmp="false"))
    assert sorted(share > 0 for share in shares.values()) == [False, False, True, True]


@both_engines
def test_subflows_of_one_pair_of_addresses_divide_too(engine: str, tmp_path: Path) -> None:
    recording = divided(
        tmp_path,
        engine,
        traffic="bulk: {from: client, to: server, direction: up, size: 1 MB, streams: 6}",
        protocol="mptcp",
        client=", mptcp: {path_manager: {ndiffports: 4}}",
    )
    assert set(recording.frame("transfers")["joins"]) == {3}
    shares = carried(recording)
    assert shares["one", "left.one"] > 20_000
    assert shares["two", "left.two"] > 20_000


@both_engines
def test_connections_of_a_way_that_fails_take_another_and_come_back(
    engine: str, tmp_path: Path
) -> None:
    recording = divided(
        tmp_path,
        engine,
        traffic="bulk: {from: client, to: server, direction: up, duration: 2 s, streams: 24}",
        events="{at: 0.4 s, carrier: one, up: false}, {at: 1 s, carrier: one, up: true}",
    )
    assert all(moved > 0 for moved in recording.frame("transfers")["bytes"])
    shares = carried(recording, since_s=1.2)
    assert shares["one", "left.one"] > 20_000
    assert shares["two", "left.two"] > 20_000
