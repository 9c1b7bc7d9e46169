"""TCP and MPTCP behind middleboxes, on either engine: the kernel's, and this project's."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.engine.system import (
    ipv6_missing,
    mptcp_missing,
    namespaces_refused,
    warnings_of_the_run,
)

from mptcplab.engine import run
from mptcplab.recording import Recording
from mptcplab.scenario import loads

KERNEL_LACKS = namespaces_refused() or mptcp_missing() or ipv6_missing()
kernel = pytest.mark.skipif(KERNEL_LACKS is not None, reason=str(KERNEL_LACKS))
both_engines = pytest.mark.parametrize("engine", ["sim", pytest.param("kernel", marks=kernel)])
SECOND = 1_000_000_000
BAD = "0"
"""The status of a wrong checksum in tshark's words; that of a packet that was cut is not known."""


def upload(
    folder: Path,
    engine: str,
    *,
    first: str = "",
    second: str = "",
    client: str = "",
    server: str = "",
    family: str = "ipv4",
    settings: str = "rate: 10 Mbit/s, delay: 5 ms",
    protocol: str = "mptcp",
    captures: bool = False,
    direction: str = "up",
) -> Recording:
    """Traffic over two paths, each with its boxes; the kernel verifies every checksum."""
    interfaces = f"{{a: {{family: {family}}}, b: {{family: {family}}}}}"
    text = f"""\
hosts:
  client: {{interfaces: {interfaces}{client}}}
  server: {{interfaces: {interfaces}{server}}}
links:
  a: {{between: [client.a, server.a], {settings}, middleboxes: [{boxes(first)}]}}
  b: {{between: [client.b, server.b], {settings}, middleboxes: [{boxes(second)}]}}
traffic: [{{bulk: {{from: client, to: server, direction: {direction}, size: 1 MB}}}}]
variants: {{it: {{protocol: {protocol}}}}}
"""
    scenario = loads(text, "middleboxes.yaml", folder)
    recording = run(scenario, "it", folder / "out", engine=engine, captures=captures)
    assert counter(recording, "TcpInCsumErrors") == 0
    return recording


def boxes(words: str) -> str:
    return f"{{{words}}}" if words else ""


def transfer(recording: Recording) -> dict[str, Any]:
    """The only transfer, whose bytes have all come as they were sent."""
    (row,) = recording.frame("transfers").iter_rows(named=True)
    assert row["error"] is None
    return row


def counter(recording: Recording, name: str) -> int:
    """The sum over both hosts of what the run added to a counter."""
    counters = recording.frame("counters").filter(pl.col("name") == name)
    return int(counters["value"].sum())


@both_engines
@pytest.mark.parametrize(
    "segments",
    ["on: syn", "on: syn-ack, direction: down", "on: all"],
    ids=["syn", "syn-ack", "all"],
)
def test_without_its_options_in_the_handshake_a_connection_is_plain_tcp(
    engine: str, segments: str, tmp_path: Path
) -> None:
    first = f"strip-options: {{options: [mptcp], {segments}}}"
    made = transfer(upload(tmp_path, engine, first=first))
    assert (made["bytes"], made["fallback"], made["joins"]) == (1_000_000, True, 0)


@both_engines
@pytest.mark.parametrize(
    "second",
    [
        "strip-options: {options: [mp-join], on: syn}",
        "strip-options: {options: [mptcp], on: syn-ack, direction: down}",
        "drop-unknown-options: {on: syn}",
    ],
)
def test_where_the_second_path_takes_the_join_away_the_first_carries_on(
    engine: str, second: str, tmp_path: Path
) -> None:
    recording = upload(tmp_path, engine, second=second)
    made = transfer(recording)
    assert (made["bytes"], made["fallback"], made["joins"]) == (1_000_000, False, 0)
    assert counter(recording, "MPTcpExtMPJoinSynTx") >= 1


@both_engines
def test_options_taken_from_the_other_direction_harm_nothing(engine: str, tmp_path: Path) -> None:
    first = "strip-options: {options: [mptcp], on: syn, direction: down}"
    made = transfer(upload(tmp_path, engine, first=first))
    assert (made["fallback"], made["joins"]) == (False, 1)


@both_engines
def test_behind_a_firewall_a_syn_without_the_option_opens_the_connection(
    engine: str, tmp_path: Path
) -> None:
    first = "drop-unknown-options: {on: syn}"
    made = transfer(upload(tmp_path, engine, first=first, client=", mptcp: {syn_retries: 1}"))
    # The first SYN is lost, and its repetition after a second goes without MPTCP (RFC 6298).
    assert made["connected_ns"] - made["start_ns"] > SECOND
    assert (made["bytes"], made["fallback"], made["joins"]) == (1_000_000, True, 0)


@both_engines
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
@pytest.mark.parametrize("offload", ["false", "true"], ids=["packets", "large-frames"])
def test_split_segments_keep_their_bytes_their_mapping_and_both_paths(
    engine: str, family: str, offload: str, tmp_path: Path
) -> None:
    split = "split: {payload: 500 B, direction: up}"
    settings = f"rate: 10 Mbit/s, delay: 5 ms, offload: {offload}"
    recording = upload(
        tmp_path, engine, first=split, second=split, family=family, settings=settings, captures=True
    )
    made = transfer(recording)
    assert (made["bytes"], made["fallback"], made["joins"]) == (1_000_000, False, 1)
    if shutil.which("tshark") is None:
        pytest.skip("this machine has no tshark")
    seen = segments(tmp_path / "out/server-a.pcapng", "tcp.dstport == 5001 && tcp.len > 0")
    assert BAD not in {row["tcp.checksum.status"] for row in seen}
    assert max(int(row["tcp.len"]) for row in seen) == 500
    # Each part has a copy of the mapping: it covers more than the part.
    mapped = [row for row in seen if row["tcp.options.mptcp.datalvllen"]]
    assert len(mapped) == len(seen)
    assert any(int(row["tcp.options.mptcp.datalvllen"]) > 500 for row in mapped)


def segments(capture: Path, chosen: str) -> list[dict[str, str]]:
    """Fields of the segments of a capture that a display filter chooses."""
    fields = ["tcp.checksum.status", "tcp.len", "tcp.options.mptcp.datalvllen", "ip.src"]
    words = ["tshark", "-r", str(capture), "-o", "tcp.check_checksum:TRUE", "-Y", chosen]
    words += ["-T", "fields", *(word for name in fields for word in ("-e", name))]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [dict(zip(fields, line.split("\t"), strict=True)) for line in shown.splitlines()]


@both_engines
@pytest.mark.parametrize("protocol", ["tcp", "mptcp"])
def test_behind_a_nat_connections_go_out_from_its_address(
    engine: str, protocol: str, tmp_path: Path
) -> None:
    nat = "nat: {inside: client.a, address: 10.0.1.9}"
    recording = upload(tmp_path, engine, first=nat, protocol=protocol, captures=True)
    made = transfer(recording)
    assert made["bytes"] == 1_000_000
    assert made["joins"] == (1 if protocol == "mptcp" else None)
    if shutil.which("tshark") is not None:
        seen = segments(tmp_path / "out/server-a.pcapng", "tcp.dstport == 5001")
        assert {row["ip.src"] for row in seen} == {"10.0.1.9"}
        assert BAD not in {row["tcp.checksum.status"] for row in seen}


@both_engines
def test_two_boxes_of_one_path_translate_one_after_the_other(engine: str, tmp_path: Path) -> None:
    nats = (
        "nat: {inside: client.a, address: 10.0.1.8}}, {nat: {inside: client.a, address: 10.0.1.9}"
    )
    made = transfer(upload(tmp_path, engine, first=nats))
    assert (made["bytes"], made["joins"]) == (1_000_000, 1)


@both_engines
def test_an_address_that_a_server_behind_a_nat_announces_is_out_of_reach(
    engine: str, tmp_path: Path
) -> None:
    recording = upload(tmp_path, engine, second="nat: {inside: server.b, address: 10.0.2.9}")
    made = transfer(recording)
    assert (made["bytes"], made["fallback"], made["joins"]) == (1_000_000, False, 0)
    assert counter(recording, "MPTcpExtAddAddr") >= 1
    assert counter(recording, "MPTcpExtMPJoinSynTx") >= 1
    assert counter(recording, "MPTcpExtMPJoinSynRx") == 0


@both_engines
def test_joined_segments_reach_the_host_as_one(engine: str, tmp_path: Path) -> None:
    coalesce = "coalesce: {payload: 4 kB, direction: up}"
    recording = upload(tmp_path, engine, first=coalesce, protocol="tcp", captures=True)
    assert transfer(recording)["bytes"] == 1_000_000
    if shutil.which("tshark") is not None:
        seen = segments(tmp_path / "out/server-a.pcapng", "tcp.len > 1448")
        assert max(int(row["tcp.len"]) for row in seen) <= 4000
        assert BAD not in {row["tcp.checksum.status"] for row in seen}


@both_engines
@pytest.mark.parametrize(("direction", "sender"), [("up", "client"), ("down", "server")])
def test_a_proxy_repairs_what_is_damaged_behind_it_and_its_sender_sees_no_loss(
    engine: str, direction: str, sender: str, tmp_path: Path
) -> None:
    proxy, damage = f"proxy-ack: {{sender: {sender}.a}}", "corrupt: {probability: 1 %}"
    both = [proxy, damage] if direction == "up" else [damage, proxy]
    recording = upload(
        tmp_path,
        engine,
        first="}, {".join(both),
        settings="rate: 10 Mbit/s, delay: 30 ms",
        protocol="tcp",
        direction=direction,
    )
    assert transfer(recording)["bytes"] == 1_000_000
    last = recording.frame("subflow_samples").filter(pl.col("final"), pl.col("node") == sender)
    (row,) = last.iter_rows(named=True)
    # But for the end, which the receiver acknowledges: the box answers after the way there.
    assert counter(recording, "TcpExtTCPFastRetrans") == 0
    assert row["min_rtt_us"] < 60_000


@kernel
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_host_behind_a_nat_learns_that_its_packets_are_too_large(
    family: str, tmp_path: Path
) -> None:
    text = f"""\
hosts:
  client: {{interfaces: {{a: {{family: {family}}}}}}}
  server: {{interfaces: {{a: {{family: {family}}}}}}}
routers:
  left: {{interfaces: {{narrow: {{mtu: 1300 B}}}}}}
  right: {{interfaces: {{narrow: {{mtu: 1300 B}}}}}}
links:
  in: {{between: [client.a, left.in], middleboxes: [{{nat: {{inside: client.a}}}}]}}
  narrow: {{between: [left.narrow, right.narrow]}}
  out: {{between: [right.out, server.a]}}
traffic: [{{bulk: {{from: client, to: server, direction: up, size: 100 kB}}}}]
variants: {{it: {{protocol: tcp}}}}
"""
    recording = run(loads(text, "x.yaml", tmp_path), "it", tmp_path / "out", engine="kernel")
    assert transfer(recording)["bytes"] == 100_000


@both_engines
def test_datagrams_that_a_nat_lets_not_in_are_told(engine: str, tmp_path: Path) -> None:
    text = """\
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], middleboxes: [{nat: {inside: client.a}}]}}
traffic:
  - datagrams: {from: client, to: server, direction: both, rate: 1 Mbit/s, duration: 300 ms}
variants: {it: {protocol: tcp}}
"""
    recording = run(loads(text, "x.yaml", tmp_path), "it", tmp_path / "out", engine=engine)
    assert set(recording.frame("deliveries")["way"]) == {"up"}
    (warning,) = warnings_of_the_run(recording)
    assert "none of the 25 datagrams sent arrived" in warning


@kernel
def test_lateness_is_that_of_every_packet_that_leaves_the_boxes(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("this machine has no tshark")
    recording = upload(tmp_path, "kernel", first="split: {payload: 300 B}", captures=True)
    ends = ["client-a", "client-b", "server-a", "server-b"]
    inbound = "frame.packet_flags_direction == 1"
    files = [tmp_path / f"out/{end}.pcapng" for end in ends]
    left = sum(len(segments(file, inbound)) for file in files)
    assert recording.manifest.emulator is not None
    assert recording.manifest.emulator["packets"] == left
