"""Switches and their controller, on either engine."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.system import ipv6_missing, mptcp_missing, namespaces_refused

from mptcplab.engine import run
from mptcplab.recording import Recording
from mptcplab.scenario import loads

KERNEL_LACKS = namespaces_refused() or mptcp_missing() or ipv6_missing()
kernel = pytest.mark.skipif(KERNEL_LACKS is not None, reason=str(KERNEL_LACKS))
both_engines = pytest.mark.parametrize("engine", ["sim", pytest.param("kernel", marks=kernel)])


def switched(
    folder: Path,
    engine: str,
    traffic: str,
    *,
    family: str = "ipv4",
    protocol: str = "mptcp",
    events: str = "",
    controller: str = "disjoint",
) -> Recording:
    """Traffic between two switches that two links join."""
    text = f"""\
hosts:
  client:
    interfaces: {{a: {{family: {family}}}, b: {{family: {family}}}}}
    mptcp: {{path_manager: subflow-signal}}
  server: {{interfaces: {{eth: {{family: {family}}}}}, mptcp: {{path_manager: default}}}}
switches: {{s1: {{}}, s2: {{}}}}
controller: {controller}
links:
  in-a: {{between: [client.a, s1.a], rate: 1 Gbit/s}}
  in-b: {{between: [client.b, s1.b], rate: 1 Gbit/s}}
  one: {{between: [s1.one, s2.one], rate: 10 Mbit/s, delay: 5 ms}}
  two: {{between: [s1.two, s2.two], rate: 10 Mbit/s, delay: 5 ms}}
  out: {{between: [s2.out, server.eth], rate: 1 Gbit/s}}
traffic: [{{{traffic}}}]
events: [{events}]
variants: {{it: {{protocol: {protocol}}}}}
"""
    return run(loads(text, "switches.yaml", folder), "it", folder / "out", engine=engine)


def decisions(recording: Recording) -> list[str]:
    """The controller's decisions about subflows, in order."""
    events = recording.frame("events").filter(pl.col("kind") == "controller")
    return events.sort("t_ns")["label"].to_list()


@both_engines
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_echoes_pass_switches(engine: str, family: str, tmp_path: Path) -> None:
    ping = "ping: {from: client, to: server, interval: 50 ms, count: 4}"
    recording = switched(tmp_path, engine, ping, family=family, protocol="tcp")
    delays_ns = recording.frame("latencies")["rtt_ns"].to_list()
    assert len(delays_ns) == 4
    assert all(10e6 < delay_ns < 20e6 for delay_ns in delays_ns), delays_ns


@both_engines
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_subflows_take_paths_of_their_own(engine: str, family: str, tmp_path: Path) -> None:
    bulk = "bulk: {from: client, to: server, size: 1 MB}"
    recording = switched(tmp_path, engine, bulk, family=family)
    assert set(recording.frame("transfers")["error"]) == {None}
    assert sorted(decisions(recording)) == ["over one", "over two"]
    samples = recording.frame("link_samples").filter(pl.col("from").is_in(["s2.one", "s2.two"]))
    carried = samples.group_by("link").agg(pl.col("offered_bytes").max())["offered_bytes"]
    assert min(carried) > 200_000, carried


@both_engines
def test_a_subflow_moves_when_its_path_fails(engine: str, tmp_path: Path) -> None:
    bulk = "bulk: {from: client, to: server, size: 1 MB}"
    pulled = "{at: 200 ms, carrier: one, up: false}"
    recording = switched(tmp_path, engine, bulk, events=pulled)
    assert set(recording.frame("transfers")["error"]) == {None}
    assert "moved, over two" in decisions(recording)


@both_engines
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_connection_is_one_of_tcp_where_that_is_faster(
    engine: str, family: str, tmp_path: Path
) -> None:
    controller = "{policy: earliest-completion, tcp_fallback: true}"
    for size, falls_back in [("10 kB", True), ("2 MB", False)]:
        http = f"http: {{from: client, to: server, size: {size}}}"
        folder = tmp_path / size
        recording = switched(folder, engine, http, family=family, controller=controller)
        transfers = recording.frame("transfers")
        assert transfers["error"].to_list() == [None]
        assert transfers["fallback"].to_list() == [falls_back]
        assert ("falls back to TCP" in decisions(recording)) == falls_back
