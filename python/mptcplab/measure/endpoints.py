"""Endpoints for the kernel's path manager while a probe lasts, and not longer.

A process of its own has them. It takes them away again once its standard input ends, which it does
also where the probe is killed.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as File

from mptcplab.measure.plan import Path

_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path.append(sys.argv[1])
import _native
target, port = sys.argv[2:4]
wanted = [one.split("%") for one in sys.argv[4:]]
try:
    from ipaddress import ip_address
    wanted = [(ip_address(one), int(index)) for one, index in wanted]
    held = _native.EndpointHold(wanted, (ip_address(target), int(port)))
except OSError as error:
    print(error.strerror or error, flush=True)
    sys.exit(1)
print("held", *held.added(), "unused", *held.unused(), flush=True)
sys.stdin.buffer.read()
held.close()
"""


@dataclass(frozen=True)
class Held:
    """Endpoints for a while."""

    added: tuple[str, ...] = ()
    """Addresses that were none before."""
    unused: tuple[str, ...] = ()
    """Addresses of others, from which no subflow is opened to the target."""
    refusal: str | None = None
    """The kernel's reason where nothing of it is done: most users may not."""


@contextmanager
def held_endpoints(paths: Sequence[Path], target: str, data_port: int) -> Iterator[Held]:
    """Adds an endpoint for each path that has none, where there are several.

    Others are not used for the target meanwhile. All is as before in the end.
    """
    wanted = [f"{path.source}%{path.index if path.device else 0}" for path in paths]
    holder = subprocess.Popen(
        [sys.executable, "-I", "-c", _CODE, str(_native_folder()), target, str(data_port), *wanted],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C in the terminal is for the probe.
        start_new_session=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        answer = holder.stdout.readline().split()
        if answer[:1] == ["held"]:
            place = answer.index("unused")
            yield Held(tuple(answer[1:place]), tuple(answer[place + 1 :]))
        else:
            yield Held(refusal=" ".join(answer))
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def _native_folder() -> File:
    found = importlib.util.find_spec("mptcplab._native")
    assert found is not None
    assert found.origin is not None
    return File(found.origin).parent
