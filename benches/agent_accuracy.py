"""How true an agent's figures are: goodput and round-trip times over links of known rate and delay,
whether a run that had too little of a processor is marked, and the target beside iperf3.

All programs are real: an agent with a plan of a server, and a target, each inside a network of the
kernel engine. The figures are those that the server computes of the agent's results.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mptcplab.cli.host_program import NOT_INSTALLED, environment, find_program
from mptcplab.measure.plan import ECHO_BYTES, ECHO_INTERVAL_MS, Direction, Kind, Step
from mptcplab.measure.session import Session
from mptcplab.measure.transfer import transfer
from mptcplab.scenario import Scenario, loads
from mptcplab.server.intake import figures_of
from mptcplab.server.result import Result

from .effort import Effort
from .figures import Figure, figure
from .served.lab import Lab, Transfers, lab

_MTU_BYTES = 1500
_HEADERS_BYTES = 52
"""IPv4 and TCP with timestamps."""
_PING_BYTES = ECHO_BYTES // 2 + _HEADERS_BYTES
"""A message that is echoed; an echo of ICMP is made as long."""
_PINGS, _PINGS_OF_EACH = 100, 10
_TRANSFER_S = 6.0
"""So long that its beginning, in which the network is not full, takes less than 1 % of it."""
_LOOPBACK_S = 3.0
_GUESS_BPS = 20e9
_SCENARIO = """
title: An agent and a target on one link
hosts: {{agent: {{interfaces: {{way: {{}}}}}}, server: {{interfaces: {{way: {{}}}}}}}}
links: {{way: {{between: [agent.way, server.way], rate: {rate} Mbit/s, delay: {delay} ms}}}}
traffic: [{{ping: {{from: agent, to: server, interval: 10 min, count: 1000}}}}]
sample_interval: 1 min
"""
_HOG = """
import os
parent = os.getppid()
while os.getppid() == parent:
    pass
"""


@dataclass(frozen=True)
class _Link:
    rate_mbps: int
    delay_ms: int

    @property
    def name(self) -> str:
        return f"{self.rate_mbps} Mbit/s, {self.delay_ms} ms"

    @property
    def goodput_mbps(self) -> float:
        """Payload of full packets."""
        return self.rate_mbps * (_MTU_BYTES - _HEADERS_BYTES) / _MTU_BYTES

    @property
    def rtt_ms(self) -> float:
        """Of a ping alone on the link: it is sent, and propagates, both ways."""
        return 2 * (self.delay_ms + _PING_BYTES * 8 / self.rate_mbps / 1e3)

    def scenario(self) -> Scenario:
        return loads(_SCENARIO.format(rate=self.rate_mbps, delay=self.delay_ms), "accuracy")


_LINKS = (_Link(8, 10), _Link(20, 5), _Link(50, 2))


def measure(effort: Effort) -> list[Figure]:
    """Differences from what is so, marks, and ratios."""
    found = []
    links = _LINKS[: effort.sized(len(_LINKS), 1)]
    for link in links:
        with _built(link) as built:
            found += _goodput(built, link, effort)
            found += _round_trips(built, link, effort)
            if link is links[-1]:
                found += _marks(built, effort)
    return found + _beside_iperf3(effort)


@contextmanager
def _built(link: _Link) -> Iterator[Lab]:
    with (
        TemporaryDirectory(prefix="agent-accuracy-", dir=os.environ.get("TMPDIR")) as folder,
        lab(Path(folder), link.scenario(), "server", "agent") as built,
    ):
        yield built


def _goodput(built: Lab, link: _Link, effort: Effort) -> list[Figure]:
    seconds = 0.1 if effort.shortest else _TRANSFER_S
    size = round(link.goodput_mbps * 1e6 / 8 * seconds)
    told = figures_of(built.measured(Transfers(size, effort.repeat)))
    return [
        figure(
            f"{link.name}: goodput {direction} beyond the link's",
            "%",
            [
                100 * (sample / link.goodput_mbps - 1)
                for sample in told.sizes[direction][0].path_goodputs[0].samples
                if sample is not None
            ],
            low=-1,
            high=1,
        )
        for direction in Direction
    ]


def _round_trips(built: Lab, link: _Link, effort: Effort) -> list[Figure]:
    """Of a hundred each, in turn: echoes of the kernels tell what the network takes by itself."""
    count = effort.sized(_PINGS, _PINGS_OF_EACH)
    transfers = Transfers(1_000, count // _PINGS_OF_EACH, [Direction.DOWN])
    ours, kernels = [], []
    for _ in range(effort.repeat):
        ours.append(statistics.median(_rtts_ms(built.measured(transfers))))
        kernels.append(statistics.median(_echoes_ms(built, count)))
    return [
        figure(
            f"{link.name}: RTT beyond that of echoes of the kernels",
            "ms",
            [own - kernel for own, kernel in zip(ours, kernels, strict=True)],
            low=-0.2,
            high=0.2,
        ),
        figure(f"{link.name}: RTT beyond the link's", "ms", [one - link.rtt_ms for one in ours]),
        figure(
            f"{link.name}: that of echoes of the kernels beyond the link's",
            "ms",
            [one - link.rtt_ms for one in kernels],
        ),
    ]


def _rtts_ms(result: Result) -> list[float]:
    return [
        rtt_us / 1e3
        for step in result.steps
        if step.kind is Kind.IDLE
        for rtt_us in step.result["connections"][0]["rtts_us"]
    ]


def _echoes_ms(built: Lab, count: int) -> list[float]:
    script = str(Path(__file__).with_name("echo.py"))
    address = built.inside.address(built.host)
    numbers = (str(count), str(ECHO_INTERVAL_MS), str(_PING_BYTES))
    words = (sys.executable, script, address, *numbers)
    program = built.inside.start(built.agent, words, stdout=subprocess.PIPE)
    told, _ = program.communicate()
    return [one_us / 1e3 for one_us in json.loads(told)]


def _marks(built: Lab, effort: Effort) -> list[Figure]:
    """Of runs beside a program that takes the agent's only processor, and of runs that have it."""
    transfers = Transfers(effort.sized(4_000_000, 100_000), 1)
    processor = max(os.sched_getaffinity(0))
    alone = ("taskset", "--cpu-list", str(processor))
    beside, without = [], []
    for _ in range(effort.repeat):
        without.append(built.measured(transfers, alone))
        hog = subprocess.Popen([*alone, sys.executable, "-c", _HOG])
        try:
            beside.append(built.measured(transfers, (*alone, "nice", "-n", "19")))
        finally:
            hog.kill()
            hog.wait()
    return [
        figure("marked beside a hog of its processor", "", [_is_marked(one) for one in beside], 1),
        figure("the same of all processors that were busy", "", [one.host.busy for one in beside]),
        figure("marked without it", "", [_is_marked(one) for one in without], high=0),
    ]


def _is_marked(result: Result) -> int:
    return int(result.host.starved)


def _beside_iperf3(effort: Effort) -> list[Figure]:
    """Rates of one connection over the loopback, each beside that of iperf3 just before it."""
    iperf3, program = shutil.which("iperf3"), find_program()
    if program is None:
        raise RuntimeError(NOT_INSTALLED)
    if iperf3 is None:
        print("loopback: left out: iperf3 is missing", file=sys.stderr)
        return []
    seconds = effort.seconds if effort.shortest else _LOOPBACK_S
    size = round(_GUESS_BPS / 8 * seconds)
    ours: list[float] = []
    theirs: list[float] = []
    with _target(program) as session:
        # The first of each warms up.
        for number in range(effort.repeat + 1):
            if number:
                theirs.append(_iperf3_gbps(iperf3, size))
            ours.append(_own_gbps(session, size))
    ours = ours[1:]
    return [
        figure("loopback: the target", "Gbit/s", ours),
        figure("loopback: iperf3", "Gbit/s", theirs),
        figure(
            "loopback: the target over iperf3",
            "",
            [own / other for own, other in zip(ours, theirs, strict=True)],
            low=0.9,
        ),
    ]


@contextmanager
def _target(program: str) -> Iterator[Session]:
    port, data = _free_ports(2)
    words = ("target", "--listen", f"127.0.0.1:{port}", "--data-port", str(data))
    target = subprocess.Popen(
        [program, *words],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert target.stdout is not None
    try:
        token = target.stdout.readline().strip()
        yield Session("127.0.0.1", port, token, lambda: True)
    finally:
        target.terminate()
        target.wait()
        target.stdout.close()


def _own_gbps(session: Session, size: int) -> float:
    step = Step(Kind.TCP, 0, 0, Direction.DOWN, size)
    measured = session.run([step], 2**62, None, 1, lambda _: True)
    if measured.partial is not None:
        raise RuntimeError(measured.partial)
    rate = transfer(*measured.done[0]).goodput_mbps
    assert rate is not None
    return rate / 1e3


def _iperf3_gbps(iperf3: str, size: int) -> float:
    (port,) = _free_ports(1)
    words = ("--json", "--port", str(port))
    server = subprocess.Popen(
        [iperf3, "--server", "--one-off", "--bind", "127.0.0.1", *words],
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        client = subprocess.run(
            [iperf3, "--client", "127.0.0.1", "--reverse", "--bytes", str(size), *words],
            check=True,
            stdout=subprocess.PIPE,
        )
    finally:
        server.kill()
        server.wait()
    received = json.loads(client.stdout)["end"]["sum_received"]
    return float(received["bits_per_second"]) / 1e9


def _wait_for(port: int) -> None:
    """Until a socket listens, by the kernel's account: a connection would be taken for a client."""
    wanted = f":{port:04X} 00000000:0000 0A"
    while wanted not in Path("/proc/net/tcp").read_text():
        pass


def _free_ports(count: int) -> Sequence[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports
