"""Flow entries of switches in recordings."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.system import needs_namespaces
from tests.policy.worlds import SWITCHED

from mptcplab.engine import run
from mptcplab.scenario import loads

TEXT = SWITCHED.replace('"own.py:choose"', "disjoint")
IDLE = "  - ping: {from: client, to: server, protocol: tcp, start: 2 s, interval: 9 s, count: 3}\n"


@pytest.mark.parametrize("engine", ["sim", pytest.param("kernel", marks=needs_namespaces)])
def test_the_entries_of_a_transfer_have_its_packets(tmp_path: Path, engine: str) -> None:
    scenario = loads(TEXT, "switched.yaml", tmp_path)
    recording = run(scenario, "mptcp", tmp_path / "out", engine=engine)
    entries = recording.frame("flow_entries")
    assert set(entries["switch"]) == {"s1", "s2"}
    there = entries.filter(pl.col("start_ns").is_null())
    assert set(there["instructions"]) == {"meter 1, output controller", "output controller"}
    placed = recording.frame("events").filter(kind="controller")
    (first,) = placed.filter(pl.col("subject").str.contains("10.0.1.1:")).head(1).to_dicts()
    source, _, target = first["subject"].partition("-")
    (address, _, port), (server, _, server_port) = (end.rpartition(":") for end in (source, target))
    words = f"ipv4_src {address}, ipv4_dst {server}, tcp_src {port}, tcp_dst {server_port}"
    own = entries.filter(pl.col("match").str.contains(words, literal=True))
    assert set(own["switch"]) == {"s1", "s2"}
    assert own["packets"].max() > 10  # type: ignore[operator]
    assert own["start_ns"].min() >= first["t_ns"]
    assert own.filter(pl.col("end_ns").is_null())["ended"].null_count() == len(own)


def test_entries_that_no_packet_uses_end_in_the_run(tmp_path: Path) -> None:
    scenario = loads(TEXT.replace("variants:", IDLE + "variants:"), "switched.yaml", tmp_path)
    recording = run(scenario, "mptcp", tmp_path / "out", engine="sim")
    entries = recording.frame("flow_entries").filter(pl.col("ended") == "idle_timeout")
    assert len(entries) > 0
    lives = entries.select((pl.col("end_ns") - pl.col("start_ns")) / 1e9).to_series()
    assert lives.min() >= 10  # type: ignore[operator]


FAST = """\
hosts: {client: {interfaces: {eth: {}}}, server: {interfaces: {eth: {}}}}
switches: {middle: {}}
controller: shortest
links:
  client: {between: [client.eth, middle.client], rate: 1 Gbit/s}
  server: {between: [server.eth, middle.server], rate: 1 Gbit/s}
traffic: [{http: {from: client, to: server, size: 20 MB}}]
variants: {tcp: {protocol: tcp}}
"""
ETHERNET_BYTES = 14


@needs_namespaces
def test_each_packet_of_a_large_segment_counts_at_a_switch(tmp_path: Path) -> None:
    recording = run(loads(FAST, "fast.yaml", tmp_path), "tcp", tmp_path / "out", engine="kernel")
    entries = recording.frame("flow_entries").filter(pl.col("match").str.contains("tcp_src 5001"))
    (own,) = entries.to_dicts()
    links = recording.frame("link_samples").filter(pl.col("t_ns") == pl.col("t_ns").max())
    (came,) = links.filter(pl.col("from") == "server.eth").to_dicts()
    (went,) = links.filter(pl.col("to") == "client.eth").to_dicts()
    assert own["packets"] == came["delivered_packets"] == went["offered_packets"] > 13_000
    assert own["bytes"] == came["delivered_bytes"] + ETHERNET_BYTES * own["packets"]
    assert came["delivered_bytes"] == went["offered_bytes"]
