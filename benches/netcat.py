"""How fast netcat copies over the loopback, beside netcat of OpenBSD and socat where installed.

Those two speak TCP. Beside MPTCP stands a loop that reads, sends, receives and writes.

One end sends a file, or what a pipe brings; the other writes into a pipe whose reader throws it
away. The clock runs from the first byte that comes out to the last: starting up is not counted.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .effort import Effort
from .figures import Figure, figure

_BYTES_A_SECOND = 1 << 29
"""Content for each second that a run shall last; the faster ones need less."""
_SPLICE_BYTES = 1 << 20
_WAIT_S = 30
_LOOP = [sys.executable, str(Path(__file__).with_name("netcat_loop.py"))]
_OURS = [str(Path(sys.executable).with_name("mptcplab")), "nc"]

Words = Callable[[int], list[str]]
"""A command line, from the port."""


def measure(effort: Effort) -> list[Figure]:
    """Gigabits a second of each, and the ratio to the faster of the others in the same turn."""
    ours = "mptcplab nc --tcp"
    ours_mptcp, loop = "mptcplab nc", "plain loop over MPTCP, 1 MiB"
    programs: dict[str, tuple[Words, Words]] = {
        ours: (lambda port: [*_OURS, "--tcp", "-l", str(port)], _ours(["--tcp"])),
        ours_mptcp: (lambda port: [*_OURS, "-l", str(port)], _ours([])),
        loop: (
            lambda port: [*_LOOP, "listen", str(port)],
            lambda port: [*_LOOP, "send", str(port)],
        ),
    }
    if openbsd := shutil.which("nc.openbsd"):
        programs["nc of OpenBSD"] = (
            lambda port: [openbsd, "-l", "127.0.0.1", str(port)],
            lambda port: [openbsd, "-N", "127.0.0.1", str(port)],
        )
    if socat := shutil.which("socat"):
        programs["socat -b 262144"] = (
            lambda port: [socat, "-u", "-b", "262144", f"TCP-LISTEN:{port},reuseaddr", "-"],
            lambda port: [socat, "-u", "-b", "262144", "-", f"TCP:127.0.0.1:{port}"],
        )
    others = [name for name in programs if name not in (ours, ours_mptcp, loop)]
    size = int(_BYTES_A_SECOND * effort.seconds)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder, "content")
        _write(content, size)
        for source in ("file", "pipe"):
            rates: dict[str, list[float]] = {name: [] for name in programs}
            for _ in range(effort.repeat):
                for name, (listen, send) in programs.items():
                    rates[name].append(_rate_gbps(listen, send, content, source, size))
            figures += [
                figure(f"{source} to pipe, {name}", "Gbit/s", rate) for name, rate in rates.items()
            ]
            for name, what, beside, target in (
                (ours, "the faster of the others", others, 1),
                (ours_mptcp, "the plain loop", [loop], 0.9),
            ):
                if beside:
                    ratios = [
                        rates[name][turn] / max(rates[other][turn] for other in beside)
                        for turn in range(effort.repeat)
                    ]
                    title = f"{source} to pipe, {name} over {what}"
                    figures.append(figure(title, "", ratios, target))
    return figures


def _ours(flags: Sequence[str]) -> Words:
    return lambda port: [*_OURS, *flags, "-N", "127.0.0.1", str(port)]


def _write(content: Path, size: int) -> None:
    block = os.urandom(1 << 20)
    with content.open("wb") as file:
        for _ in range(size // len(block)):
            file.write(block)
        file.write(block[: size % len(block)])


def _rate_gbps(listen: Words, send: Words, content: Path, source: str, size: int) -> float:
    port = _free_port()
    server = subprocess.Popen(listen(port), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    _wait_for(port)
    took: list[tuple[int, float]] = []
    assert server.stdout is not None
    reader = threading.Thread(target=_throw_away, args=(server.stdout.fileno(), took))
    reader.start()
    with content.open("rb") as file:
        if source == "file":
            client = subprocess.Popen(send(port), stdin=file, stdout=subprocess.DEVNULL)
        else:
            client = subprocess.Popen(send(port), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            assert client.stdin is not None
            while os.splice(file.fileno(), client.stdin.fileno(), _SPLICE_BYTES):
                pass
            client.stdin.close()
        statuses = (client.wait(), server.wait())
    reader.join()
    server.stdout.close()
    received, lasted_s = took[0]
    if statuses != (0, 0) or received != size:
        raise RuntimeError(f"{send(port)}: status {statuses}, {received} of {size} bytes")
    return 8 * received / lasted_s / 1e9


def _throw_away(pipe: int, took: list[tuple[int, float]]) -> None:
    """Reads to the end; the bytes, and the time from the first of them."""
    sink = os.open(os.devnull, os.O_WRONLY)
    received = os.splice(pipe, sink, 1)
    began = time.monotonic()
    while moved := os.splice(pipe, sink, _SPLICE_BYTES):
        received += moved
    took.append((received, time.monotonic() - began))
    os.close(sink)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    """Until somebody listens; without connecting, which would be its only client."""
    deadline = time.monotonic() + _WAIT_S
    mark = f":{port:04X} "
    while time.monotonic() < deadline:
        tables = (Path("/proc/net", name).read_text("ascii") for name in ("tcp", "tcp6"))
        lines = [line.split() for table in tables for line in table.splitlines()[1:]]
        if any(f"{line[1]} ".endswith(mark) and line[3] == "0A" for line in lines):
            return
        time.sleep(0.01)
    raise RuntimeError(f"nobody listens at port {port}")
