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
from pathlib import Path as File

from mptcplab.measure.plan import Path

_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path.append(sys.argv[1])
import _native
wanted = [one.split("%") for one in sys.argv[2:]]
try:
    from ipaddress import ip_address
    held = _native.EndpointHold([(ip_address(one), int(index)) for one, index in wanted])
except OSError as error:
    print(error.strerror or error, flush=True)
    sys.exit(1)
print("held", *held.added(), flush=True)
sys.stdin.buffer.read()
held.close()
"""


@contextmanager
def held_endpoints(paths: Sequence[Path]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Adds an endpoint for each path that has none; they are gone in the end.

    Yields the addresses that were added, and where that was refused the kernel's reason: most
    users may not.
    """
    wanted = [f"{path.source}%{path.index if path.device else 0}" for path in paths]
    holder = subprocess.Popen(
        [sys.executable, "-I", "-c", _CODE, str(_native_folder()), *wanted],
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
            yield tuple(answer[1:]), None
        else:
            yield (), " ".join(answer)
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def _native_folder() -> File:
    found = importlib.util.find_spec("mptcplab._native")
    assert found is not None
    assert found.origin is not None
    return File(found.origin).parent
