"""How long hosts, programs and path managers take to act in the kernel engine, from captures of
both ends of short transfers.

Races between paths come out by these times, of which the simulator has the wake-up of programs
alone: a host answers a SYN, a program writes once it is connected or has read a request, a path
manager announces an address and joins from one. 20 transfers a run over two paths of 10 Mbit/s:
downloads by http, bulk transfers both ways, by TCP and MPTCP. Quantiles of each are printed; the
figures are the quartiles. `--seconds` does not matter.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mptcplab import engine, trace
from mptcplab.engine.choice import KERNEL
from mptcplab.scenario import loads

from .effort import Effort
from .figures import Figure, figure, quantile

TRANSFERS = 20
_WORKLOADS = {
    "http": "http: {{from: client, to: server, size: 50 KiB, start: {start} ms}}",
    "bulk up": "bulk: {{from: client, to: server, way: up, size: 50 KiB, start: {start} ms}}",
    "bulk down": "bulk: {{from: client, to: server, way: down, size: 50 KiB, start: {start} ms}}",
}
_SCENARIO = """\
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}}}
  server: {{interfaces: {{a: {{}}, b: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: 10 Mbit/s}}
  b: {{between: [client.b, server.b], rate: 10 Mbit/s}}
traffic:
{traffic}
variants:
  tcp: {{protocol: tcp, via: a}}
  mptcp: {{}}
"""
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
    rounds: dict[str, list[list[float]]] = defaultdict(list)
    for seed in range(1, effort.repeat + 1):
        own: dict[str, list[float]] = defaultdict(list)
        for taken in _round(seed, effort.sized(TRANSFERS, 2)):
            own[taken.name].append(taken.us)
        for name, times in own.items():
            rounds[name].append(times)
    for name, every in rounds.items():
        times = [us for own in every for us in own]
        print(f"{name}: {', '.join(f'{quantile(times, q):.0f}' for q in _QUANTILES)}", flush=True)
    return [
        figure(f"{name}, {quartile}", "µs", [quantile(times, q) for times in every])
        for name, every in rounds.items()
        for quartile, q in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))
    ]


def _round(seed: int, transfers: int) -> Iterator[Taken]:
    for workload, line in _WORKLOADS.items():
        traffic = "\n".join(f"  - {line.format(start=200 * number)}" for number in range(transfers))
        scenario = loads(_SCENARIO.format(traffic=traffic))
        for variant in scenario.variants:
            with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
                out = Path(folder) / "run"
                engine.run(scenario, variant, out, engine=KERNEL, seed=seed, captures=True)
                client, server = (_packets(out, end) for end in ("client", "server"))
                yield from _hosts(server)
                yield from _programs(client, "client", f"{workload}, {variant}")
                yield from _programs(server, "server", f"{workload}, {variant}")
                yield from _path_managers(client, server, workload)


def _packets(out: Path, end: str) -> Packets:
    columns = ["connection", "subflow", "from", "t_ns", "payload_bytes", "mptcp"]
    with trace.read(sorted(out.glob(f"{end}-*.pcapng")), packets=True) as found:
        packets = trace.view(found).packets.select(columns).sort("t_ns").collect()
    return [
        [Packet(*row[1:5], row[5] or "") for row in one.iter_rows()]
        for one in packets.partition_by("connection", maintain_order=True)
    ]


def _hosts(server: Packets) -> Iterator[Taken]:
    """From a SYN to the SYN/ACK."""
    for packets in server:
        syn, answer = packets[:2]
        if (syn.sender, answer.sender) == ("client", "server"):
            yield Taken("host, SYN to SYN/ACK", (answer.t_ns - syn.t_ns) / 1000)


def _programs(ends: Packets, end: str, of: str) -> Iterator[Taken]:
    """From the packet that wakes a program to its first data.

    It is the last one of the peer on the first subflow before that: the SYN/ACK for a client, the
    handshake's end or the request for a server.
    """
    for packets in ends:
        first = [one for one in packets if one.subflow == 0]
        data = next((one for one in first if one.sender == end and one.payload_bytes), None)
        if data is None:
            continue
        heard = [one.t_ns for one in first if one.sender != end and one.t_ns <= data.t_ns]
        yield Taken(f"{end} to its first data: {of}", (data.t_ns - heard[-1]) / 1000)


def _path_managers(client: Packets, server: Packets, workload: str) -> Iterator[Taken]:
    """From the handshake's end to the announcement, and from that to the join."""
    for packets in server:
        told = next((one for one in packets if _announces(one, "server")), None)
        ended = [one for one in packets if one.sender == "client"][1:2]
        if told and ended:
            name = f"server, handshake to ADD_ADDR: {workload}"
            yield Taken(name, (told.t_ns - ended[0].t_ns) / 1000)
    for packets in client:
        told = next((one for one in packets if _announces(one, "server")), None)
        joined = next((one for one in packets if one.subflow == 1), None)
        if told and joined and joined.t_ns > told.t_ns:
            yield Taken(f"client, ADD_ADDR to join: {workload}", (joined.t_ns - told.t_ns) / 1000)


def _announces(packet: Packet, sender: str) -> bool:
    return packet.sender == sender and "ADD_ADDR" in packet.mptcp
