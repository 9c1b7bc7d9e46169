"""How long hosts, programs and path managers take to act in the kernel engine, from captures of
both ends of short downloads: what the simulator draws from.

Races between paths come out by these times. 40 downloads of 50 KiB one after the other, over two
paths of 10 Mbit/s, by TCP and MPTCP. The middles of the twentieths of each are printed; those of an
otherwise idle machine stand in `crates/lab/engine-sim/src/response_times.rs`. The figures are the
quartiles. `--seconds` does not matter.

Where a host handles the packet first that calls a program or a worker, the median of what it takes
for that is subtracted.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mptcplab import engine, trace
from mptcplab.engine.choice import KERNEL
from mptcplab.scenario import loads

from .effort import Effort
from .figures import Figure, figure, quantile

DOWNLOADS = 40
_SCENARIO = """\
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}}}
  server: {{interfaces: {{a: {{}}, b: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: 10 Mbit/s}}
  b: {{between: [client.b, server.b], rate: 10 Mbit/s}}
traffic:
  - http: {{from: client, to: server, size: 50 KiB, count: {downloads}}}
variants:
  tcp: {{protocol: tcp, via: a}}
  mptcp: {{}}
"""
_HOST = "a host, from a request to its acknowledgement"
_CONNECTED = "a program, from its connection to its first data"
_READING = "a program, from a request to its answer"
_WORKER = "a path manager, from what calls it to what it sends"
_QUANTILES = [(number + 0.5) / 20 for number in range(20)]


@dataclass(frozen=True)
class Packet:
    """A packet as an end's interface saw it."""

    subflow: int
    sender: str
    t_ns: int
    payload_bytes: int
    mptcp: str


Packets = list[list[Packet]]
"""Those of each connection, in their order."""


@dataclass(frozen=True)
class Taken:
    """A time that something took."""

    name: str
    us: float


def measure(effort: Effort) -> list[Figure]:
    """The quartiles of each time, of every round."""
    rounds = [_round_us(seed, effort.sized(DOWNLOADS, 2)) for seed in range(1, effort.repeat + 1)]
    host_us = quantile([us for taken in rounds for us in taken[_HOST]], 0.5)
    for name in rounds[0]:
        called_us = 0 if name == _HOST else host_us
        times = [us - called_us for taken in rounds for us in taken[name]]
        print(f"{name}: {', '.join(f'{quantile(times, q):.0f}' for q in _QUANTILES)}", flush=True)
    return [
        figure(
            f"{name}, {quartile}",
            "µs",
            [quantile(taken[name], q) for taken in rounds if taken[name]],
        )
        for name in rounds[0]
        for quartile, q in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))
    ]


def _round_us(seed: int, downloads: int) -> dict[str, list[float]]:
    """The times of one round by their names."""
    found: dict[str, list[float]] = defaultdict(list)
    for taken in _round(seed, downloads):
        found[taken.name].append(taken.us)
    return found


def _round(seed: int, downloads: int) -> Iterator[Taken]:
    scenario = loads(_SCENARIO.format(downloads=downloads))
    for variant in scenario.variants:
        with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
            out = Path(folder) / "run"
            engine.run(scenario, variant, out, engine=KERNEL, seed=seed, captures=True)
            client, server = (_packets(out, end) for end in ("client", "server"))
            yield from _hosts(server)
            yield from _programs(client, "client", f"{_CONNECTED}, {variant}")
            yield from _programs(server, "server", f"{_READING}, {variant}")
            yield from _path_managers(client, server)


def _packets(out: Path, end: str) -> Packets:
    columns = ["connection", "subflow", "from", "t_ns", "payload_bytes", "mptcp"]
    with trace.read(sorted(out.glob(f"{end}-*.pcapng")), packets=True) as found:
        packets = trace.view(found).packets.select(columns).sort("t_ns").collect()
    return [
        [Packet(*row[1:5], row[5] or "") for row in one.iter_rows()]
        for one in packets.partition_by("connection", maintain_order=True)
    ]


def _hosts(server: Packets) -> Iterator[Taken]:
    """From a request to its acknowledgement, where that is sent before the answer."""
    for packets in server:
        first = [one for one in packets if one.subflow == 0]
        for asked, after in pairwise(first):
            if _is_data(asked, "client") and after.sender == "server" and not after.payload_bytes:
                yield Taken(_HOST, (after.t_ns - asked.t_ns) / 1000)


def _programs(ends: Packets, end: str, name: str) -> Iterator[Taken]:
    """From the packet that wakes a program to its first data.

    It is the last one of the peer on the first subflow before that: the SYN/ACK for a client, the
    request for a server.
    """
    for packets in ends:
        first = [one for one in packets if one.subflow == 0]
        data = next((one for one in first if one.sender == end and one.payload_bytes), None)
        if data is None:
            continue
        heard = [one.t_ns for one in first if one.sender != end and one.t_ns <= data.t_ns]
        yield Taken(name, (data.t_ns - heard[-1]) / 1000)


def _path_managers(client: Packets, server: Packets) -> Iterator[Taken]:
    """From the handshake's end to the announcement, and from that to the join."""
    for packets in server:
        told = next((one for one in packets if _announces(one, "server")), None)
        ended = [one for one in packets if one.sender == "client"][1:2]
        if told and ended:
            yield Taken(_WORKER, (told.t_ns - ended[0].t_ns) / 1000)
    for packets in client:
        told = next((one for one in packets if _announces(one, "server")), None)
        joined = next((one for one in packets if one.subflow == 1), None)
        if told and joined and joined.t_ns > told.t_ns:
            yield Taken(_WORKER, (joined.t_ns - told.t_ns) / 1000)


def _is_data(packet: Packet, sender: str) -> bool:
    return packet.sender == sender and packet.payload_bytes > 0


def _announces(packet: Packet, sender: str) -> bool:
    return packet.sender == sender and "ADD_ADDR" in packet.mptcp
