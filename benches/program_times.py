"""How long hosts, programs and path managers take to act in the kernel engine, from captures of
both ends of short downloads: what the simulator draws from.

Races between paths come out by these times. 40 downloads of 50 KiB one after the other, over two
paths of 10 Mbit/s without delay, by TCP and MPTCP; the links let 15 KiB through at once, so that
all of the handshake meets in the same moments. How long a path manager takes to announce is of
links that do not, where the request comes after it: of those where it may come before, only the
quick ones would count. How long a client takes to ask is measured once more with a delay of 1 ms,
where the server rests meanwhile: both hosts share a processor. The middles of the twentieths of
each are printed;
those of an otherwise idle machine stand in `crates/lab/engine-sim/src/response_times.rs`. The
figures are the quartiles. `--seconds` does not matter.

Servers that speak first are measured by as many transfers of 15 KiB, each of a connection that is
opened 50 ms after the one before. How long a program goes on after its answer is told by the
worker that waits for it, and announces then.

Where a host handles the packet first that calls a program or a worker, the median of what it takes
for that is subtracted.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mptcplab import engine, trace
from mptcplab.engine.choice import KERNEL
from mptcplab.recording import Recording
from mptcplab.scenario import loads

from .effort import Effort
from .figures import Figure, figure, quantile

DOWNLOADS = 40
_SCENARIO = """\
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}}}
  server: {{interfaces: {{a: {{}}, b: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: 10 Mbit/s{link}}}
  b: {{between: [client.b, server.b], rate: 10 Mbit/s{link}}}
traffic:
{traffic}
variants:
  tcp: {{protocol: tcp, via: a}}
  mptcp: {{}}
"""
_DOWNLOADS = "  - http: {{from: client, to: server, size: 50 KiB, count: {count}}}"
_SERVER_FIRST = (
    "  - bulk: {{name: t{number}, from: client, to: server, direction: down, size: 15 KiB,"
    " start: {start_ms} ms}}"
)
_BURST = ", burst: 15 KiB"
_DELAY = ", delay: 1 ms"
_HOST = "a host, from a packet to its answer"
_AWAKE = "a host, where another packet has just come"
_AWAKE_NS = 50_000
_CONNECTED = "a program, from its connection to its first data"
_ALONE = f"{_CONNECTED}, while the other host rests"
_ACCEPTING = {
    protocol: f"a program that accepts, from the connection to its first data, {protocol}"
    for protocol in ("tcp", "mptcp")
}
_READING = "a program, from a request to its answer"
_ANSWERED = "a program, from the payload of its answer until it sleeps again"
_NEXT_CALL = "a program, from the head of its answer to the payload"
_NEXT_DOWNLOAD = "a client, from the end of a download to the begin of the next"
_ANNOUNCING = "a path manager, from its connection to ADD_ADDR"
_JOINING = "a path manager, from ADD_ADDR to its join"
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
    medians = {
        name: quantile([us for taken in rounds for us in taken[name]], 0.5) for name in rounds[0]
    }
    called = dict.fromkeys((_ANNOUNCING, _JOINING, *_ACCEPTING.values()), medians[_HOST])
    called[_ANSWERED] = medians[_ANNOUNCING] - medians[_HOST]
    for name in rounds[0]:
        called_us = called.get(name, 0)
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
    http = _DOWNLOADS.format(count=downloads)
    for variant in ("tcp", "mptcp"):
        with _captured(seed, http, variant, _BURST) as (out, client, server):
            yield from _hosts(client, server)
            yield from _programs(client, "client", f"{_CONNECTED}, {variant}")
            yield from _programs(server, "server", f"{_READING}, {variant}")
            yield from _joining(client)
            yield from _between(out)
            yield from _answered(server)
        with _captured(seed, http, variant, _BURST + _DELAY) as (_, client, _):
            yield from _programs(client, "client", f"{_ALONE}, {variant}")
        with _captured(seed, _server_first(downloads), variant, "") as (_, _, server):
            yield from _since_handshake(server, _ACCEPTING[variant], _is_data)
    with _captured(seed, http, "mptcp", "") as (_, _, server):
        yield from _since_handshake(server, _ANNOUNCING, _announces)


def _server_first(count: int) -> str:
    """Transfers in which the server is the first to send."""
    items = (_SERVER_FIRST.format(number=one, start_ms=50 * one) for one in range(count))
    return "\n".join(items)


@contextmanager
def _captured(
    seed: int, traffic: str, variant: str, link: str
) -> Iterator[tuple[Path, Packets, Packets]]:
    """A run, with what both ends captured."""
    scenario = loads(_SCENARIO.format(traffic=traffic, link=link))
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
        out = Path(folder) / "run"
        engine.run(scenario, variant, out, engine=KERNEL, seed=seed, captures=True)
        yield out, _packets(out, "client"), _packets(out, "server")


def _packets(out: Path, end: str) -> Packets:
    columns = ["connection", "subflow", "from", "t_ns", "payload_bytes", "mptcp"]
    with trace.read(sorted(out.glob(f"{end}-*.pcapng")), packets=True) as found:
        packets = trace.view(found).packets.select(columns).sort("t_ns").collect()
    return [
        [Packet(*row[1:5], row[5] or "") for row in one.iter_rows()]
        for one in packets.partition_by("connection", maintain_order=True)
    ]


def _hosts(client: Packets, server: Packets) -> Iterator[Taken]:
    """From a SYN, a SYN/ACK and a request to the host's own answer: it handles the request sooner
    where another packet has just come."""
    for one in client:
        yield from (Taken(_HOST, us) for us in _own_answer_us(one, "client", _of_first(one)[1:2]))
    for one in server:
        first = _of_first(one)
        yield from (Taken(_HOST, us) for us in _own_answer_us(one, "server", first[:1]))
        heard = [packet for packet in first if packet.sender == "client"]
        for before, asked in pairwise(heard[:3]):
            if asked.payload_bytes:
                is_awake = asked.t_ns - before.t_ns < _AWAKE_NS
                for us in _own_answer_us(one, "server", [asked]):
                    yield Taken(_AWAKE if is_awake else _HOST, us)


def _programs(ends: Packets, end: str, name: str) -> Iterator[Taken]:
    """From a host's answer to the packet that is for a program, the SYN/ACK for a client and the
    request for a server, to the program's first data, and from that of a server to its next."""
    for packets in ends:
        data = [one.t_ns for one in packets if _is_data(one, end)]
        own = [one.t_ns for one in _of_first(packets) if one.sender == end]
        heard = [one for one in _of_first(packets) if one.sender != end]
        called = [one.t_ns for one in heard if one.payload_bytes or end == "client"]
        answered = [t_ns for t_ns in own if called and t_ns > called[0]]
        if data and answered and answered[0] < data[0]:
            yield Taken(name, (data[0] - answered[0]) / 1000)
        if end == "server" and len(data) > 1:
            yield Taken(_NEXT_CALL, (data[1] - data[0]) / 1000)


def _own_answer_us(packets: list[Packet], end: str, heard: list[Packet]) -> list[float]:
    """The time from a packet to the next on its subflow, where that is the other end's without
    data."""
    following = [after for after in _of_first(packets) if heard and after.t_ns > heard[0].t_ns][:1]
    return [
        (after.t_ns - heard[0].t_ns) / 1000
        for after in following
        if after.sender == end and not after.payload_bytes
    ]


def _of_first(packets: list[Packet]) -> list[Packet]:
    """The packets of the first subflow."""
    return [one for one in packets if one.subflow == 0]


def _since_handshake(
    server: Packets, name: str, is_wanted: Callable[[Packet, str], bool]
) -> Iterator[Taken]:
    """From the handshake's end to the server's first packet of a kind."""
    for packets in server:
        wanted = next((one for one in packets if is_wanted(one, "server")), None)
        ended = [one for one in packets if one.sender == "client"][1:2]
        if wanted and ended:
            yield Taken(name, (wanted.t_ns - ended[0].t_ns) / 1000)


def _answered(server: Packets) -> Iterator[Taken]:
    """From the payload of an answer, behind its head, to the announcement that follows it."""
    for packets in server:
        told = next((one.t_ns for one in packets if _announces(one, "server")), 0)
        data = [one.t_ns for one in packets if _is_data(one, "server")]
        if len(data) > 1 and told > data[1]:
            yield Taken(_ANSWERED, (told - data[1]) / 1000)


def _joining(client: Packets) -> Iterator[Taken]:
    """From the announcement to the join."""
    for packets in client:
        told = next((one for one in packets if _announces(one, "server")), None)
        joined = next((one for one in packets if one.subflow == 1), None)
        if told and joined and joined.t_ns > told.t_ns:
            yield Taken(_JOINING, (joined.t_ns - told.t_ns) / 1000)


def _between(out: Path) -> Iterator[Taken]:
    """From each download's end to the begin of the next."""
    transfers = Recording.open(out).transfers.sort("start_ns").select("start_ns", "end_ns")
    for (_, end_ns), (start_ns, _) in pairwise(transfers.iter_rows()):
        yield Taken(_NEXT_DOWNLOAD, (start_ns - end_ns) / 1000)


def _is_data(packet: Packet, sender: str) -> bool:
    return packet.sender == sender and packet.payload_bytes > 0


def _announces(packet: Packet, sender: str) -> bool:
    return packet.sender == sender and "ADD_ADDR" in packet.mptcp
