"""How fast are captures analysed? Beside tshark, tcptrace and mptcptrace, on the same files.

`python -m benches trace --repeat 5`, and `trace-turns` for connections that take turns. The
captures (`made_captures`) are made once, some gigabytes in `out/captures`, and read once before
anything is measured, so that they come from memory. Of a tool that would take more than a minute
for the whole of a file a prefix is measured, and reckoned by packets. On one core the time is
that of the processor, which other programs do not prolong. `tcptrace` and `mptcptrace` take part
where they are installed.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .effort import Effort
from .figures import Figure, figure
from .made_captures import Shape, make

_CAPTURES = Path(__file__).parents[1] / "out/captures"
_HEADERS = Shape(6_000_000)
_MANY = Shape(6_000_000, connections=1000)
_SHAPES = (
    Shape(1_500_000, full=True),
    Shape(1_500_000, full=True, format="pcapng"),
    _HEADERS,
    Shape(6_000_000, format="pcapng"),
    _MANY,
    Shape(6_000_000, connections=1000, format="pcapng"),
)
_VERSION_0 = Shape(6_000_000, version=0)
"""All that mptcptrace knows."""
_PREFIX_PACKETS = 150_000
_LEAST_PACKETS = 10_000
_FEWEST_PER_SECOND, _FEWEST_BYTES_PER_SECOND = 3e6, 1e9
_TSHARK_TIMES, _MPTCPTRACE_TIMES = 100, 4
_LEAST_OF_ONE = 0.85
"""Of the packets a second of one connection, those of a thousand that take turns."""
_OURS = """\
import sys
from mptcplab._native import trace
trace(sys.argv[2:], sys.argv[1], False, False, WORKERS, lambda read, of: True)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
open(sys.argv[1] + "/peak", "w").write(peak)
"""
"""Analyses a capture and writes the most memory that it had, KiB. (What `wait4` tells counts this
process's, too, whose copy each program is at first.)"""
_MPTCP_FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "tcp.stream",
    "tcp.seq",
    "tcp.ack",
    "tcp.len",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.rawdataack",
    "tcp.options.mptcp.rawdataseqno",
    "tcp.options.mptcp.subflowseqno",
    "tcp.options.mptcp.datalvllen",
    "mptcp.stream",
    "mptcp.dsn",
    "mptcp.ack",
)


@dataclass(frozen=True)
class _Run:
    seconds: float
    peak_mb: float | None = None


def measure(effort: Effort) -> list[Figure]:
    """Packets and bytes a second of each tool, its memory, and how many times faster ours is."""
    figures = []
    for shape in _SHAPES:
        figures += _of(_sized(shape, effort), effort.repeat)
    figures += _others(effort)
    return figures


def measure_turns(effort: Effort) -> list[Figure]:
    """One connection, a thousand that take turns, by turns on one core, and the ratio of both."""
    shapes = [_sized(shape, effort) for shape in (_HEADERS, _MANY)]
    files = [_warm(shape) for shape in shapes]
    pairs = [
        [
            _packets(shape) / _ours(file, 1).seconds
            for shape, file in zip(shapes, files, strict=True)
        ]
        for _ in range(effort.repeat)
    ]
    one, many = (_millions([pair[place] for pair in pairs]) for place in (0, 1))
    ratios = [after / before for before, after in pairs]
    return [
        figure("one connection", "million packets/s", one),
        figure("1000 connections that take turns", "million packets/s", many),
        figure("1000 connections beside one", "times", ratios, low=_LEAST_OF_ONE),
    ]


def _sized(shape: Shape, effort: Effort) -> Shape:
    return replace(shape, packets=effort.sized(shape.packets, _LEAST_PACKETS))


def _of(shape: Shape, repeat: int) -> list[Figure]:
    """Ours alone, by one worker on one core and by as many as there are cores."""
    file = _warm(shape)
    figures = []
    cores = os.cpu_count() or 1
    for workers in sorted({1, cores}):
        runs = [_ours(file, workers) for _ in range(repeat)]
        one = workers == 1
        name = f"{shape.name}, {workers} core{'' if one else 's'}"
        size, packets = file.stat().st_size, _packets(shape)
        rates = [size / run.seconds / 1e9 for run in runs]
        counts = [packets / run.seconds / 1e6 for run in runs]
        least_bytes = _FEWEST_BYTES_PER_SECOND / 1e9 if one and shape.full else None
        least_packets = _FEWEST_PER_SECOND / 1e6 if one and not shape.full else None
        figures.append(figure(name, "GB/s", rates, low=least_bytes))
        figures.append(figure(name, "million packets/s", counts, low=least_packets))
        peaks = [run.peak_mb for run in runs if run.peak_mb is not None]
        figures.append(figure(f"{name}: peak memory", "MB", peaks))
    return figures


def _others(effort: Effort) -> list[Figure]:
    """The other tools and ours, in turn, packets a second of each and the ratio."""
    headers, version_0 = _sized(_HEADERS, effort), _sized(_VERSION_0, effort)
    prefix = replace(headers, packets=effort.sized(_PREFIX_PACKETS, _LEAST_PACKETS))
    fields = [word for name in _MPTCP_FIELDS for word in ("-e", name)]
    tools: list[tuple[str, Shape, Shape, Callable[[Path], list[str]], float | None]] = [
        (
            "tshark -q -z conv,tcp",
            headers,
            prefix,
            lambda file: ["tshark", "-n", "-q", "-r", str(file), "-z", "conv,tcp"],
            _TSHARK_TIMES,
        ),
        (
            "tshark with the MPTCP fields",
            headers,
            prefix,
            lambda file: ["tshark", "-n", "-r", str(file), "-T", "fields", *fields],
            _TSHARK_TIMES,
        ),
        ("tcptrace", headers, headers, lambda file: ["tcptrace", "-q", str(file)], None),
        (
            "tcptrace -lW -r",
            headers,
            headers,
            lambda file: ["tcptrace", "-q", "-lWr", str(file)],
            None,
        ),
        (
            "mptcptrace, version 0",
            version_0,
            version_0,
            lambda file: ["mptcptrace", "-f", str(file)],
            _MPTCPTRACE_TIMES,
        ),
        (
            "mptcptrace -s, version 0",
            version_0,
            version_0,
            lambda file: ["mptcptrace", "-f", str(file), "-s"],
            _MPTCPTRACE_TIMES,
        ),
    ]
    figures = []
    for name, ours, theirs, words, least in tools:
        if not shutil.which(words(Path())[0]):
            print(f"{name}: not installed", file=sys.stderr)
            continue
        our_file, their_file = _warm(ours), _warm(theirs)
        our_rates, their_rates = [], []
        for _ in range(effort.repeat):
            our_rates.append(_packets(ours) / _ours(our_file, 1).seconds)
            their_rates.append(_packets(theirs) / _timed(words(their_file), one_core=True))
        part = "" if theirs == ours else f" (of {theirs.packets} packets)"
        figures.append(figure(f"{name}{part}", "million packets/s", _millions(their_rates)))
        figures.append(figure(f"{name}: ours beside it", "million packets/s", _millions(our_rates)))
        ratio = statistics.median(our_rates) / statistics.median(their_rates)
        figures.append(figure(f"{name}: ours is faster", "times", [ratio], low=least))
    return figures


def _millions(values: Sequence[float]) -> list[float]:
    return [value / 1e6 for value in values]


def _packets(shape: Shape) -> int:
    round_packets = 3 * 64 + 1
    return -(-shape.packets // round_packets) * round_packets + 7 * shape.connections


def _warm(shape: Shape) -> Path:
    """The capture's file, all of it in the page cache."""
    file = make(_CAPTURES, shape)
    with file.open("rb") as whole:
        while whole.read(1 << 24):
            pass
    return file


def _ours(file: Path, workers: int) -> _Run:
    with tempfile.TemporaryDirectory() as folder:
        program = _OURS.replace("WORKERS", str(workers))
        words = [sys.executable, "-c", program, folder, str(file)]
        seconds = _timed(words, one_core=workers == 1)
        peak_kib = int(Path(folder, "peak").read_text())
    return _Run(seconds, peak_kib * 1024 / 1e6)


def _timed(words: list[str], *, one_core: bool) -> float:
    """Seconds that a program took, its start included.

    Held to one core, the time is that of the processor; otherwise that of the clock.
    """
    core = {max(os.sched_getaffinity(0))}
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=(lambda: os.sched_setaffinity(0, core)) if one_core else None,
        )
        _, status, used = os.wait4(process.pid, 0)
        took_s = time.perf_counter() - begun
    if one_core:
        took_s = used.ru_utime + used.ru_stime
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words[0]} ended with {process.returncode}")
    return took_s
