"""How long a network takes to come and to go: ten hosts and twenty links, nothing sent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .effort import Effort
from .figures import Figure, figure
from .one_link import interface, link, node

_HOSTS = 10


def network() -> dict[str, Any]:
    """A plan of ten hosts in a ring, each joined to the next two."""
    interfaces: list[list[dict[str, Any]]] = [[] for _ in range(_HOSTS)]
    links: list[dict[str, Any]] = []
    for near in range(_HOSTS):
        for step in (1, 2):
            far, subnet = (near + step) % _HOSTS, f"10.{near}.{step}"
            ends = ((near, len(interfaces[near])), (far, len(interfaces[far])))
            for number, host in ((1, near), (2, far)):
                name = f"eth{len(interfaces[host])}"
                interfaces[host].append(interface(name, f"{subnet}.{number}"))
            links.append(link(f"link{len(links)}", ends, offload=False))
    nodes = [node(f"host{number}", each) for number, each in enumerate(interfaces)]
    return {
        "seed": 1,
        "nodes": nodes,
        "links": links,
        "traffic": [],
        "events": [],
        "sample_interval_ns": 100_000_000,
        "capture": None,
        "time_limit_ns": 1_000_000_000,
    }


def measure(effort: Effort) -> list[Figure]:
    """Set-up, tear-down, and the command line's start."""
    runs = [_in_counted_namespace() for _ in range(effort.repeat)]
    help_s = [_help_s() for _ in range(effort.repeat)]
    names = {
        "setup_s": "set-up, by the lab's account",
        "teardown_s": "tear-down, by the lab's account",
        "process_s": "the whole process",
        "gone_s": "after it, until the last namespace has gone",
        "total_s": "in total",
    }
    figures = [
        figure(
            f"ten hosts, twenty links: {text}",
            "s",
            [run[name] for run in runs],
            None,
            0.5 if name == "total_s" else None,
        )
        for name, text in names.items()
    ]
    return [*figures, figure("mptcplab --help", "s", help_s, None, 0.3)]


def _in_counted_namespace() -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).with_name("counted.py"))]
    output = subprocess.run(
        command, input=json.dumps(network()), capture_output=True, text=True, check=True
    ).stdout
    spans: dict[str, float] = json.loads(output)
    return spans


def _help_s() -> float:
    command = [str(Path(sys.executable).with_name("mptcplab")), "--help"]
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun
