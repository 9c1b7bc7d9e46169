"""A plan of two hosts and one link, and its run by a lab process."""

from __future__ import annotations

import copy
import os
import resource
import time
from dataclasses import dataclass, field
from typing import Any

from mptcplab.engine.kernel.lab import Lab
from mptcplab.engine.recorder import Row
from mptcplab.plan import Plan

CLIENT, SERVER = "10.0.1.1", "10.0.1.2"
PORT = 5001
MPTCP = {
    "enabled": True,
    "checksum": False,
    "syn_retries": None,
    "scheduler": None,
    "subflows_per_pair": 1,
    "limit_subflows": 2,
    "limit_add_addr_accepted": 2,
}
PERFECT = {
    "rate": {"kind": "unlimited"},
    "framing_bytes": 38,
    "delay_ns": 0,
    "jitter": {"kind": "none"},
    "loss": {"kind": "none"},
    "reordering": None,
    "duplication": 0.0,
    "queue": {"limit_packets": None, "limit_bytes": None, "discipline": {"kind": "drop_tail"}},
    "up": True,
}


@dataclass
class Outcome:
    """The rows that a run told, and its cost."""

    rows: list[Row]
    wall_s: float
    """From the start of the process to its end."""
    cpu_s: float
    """Processor time of the lab, its traffic and what the kernel did on their behalf."""
    setup_s: float = field(init=False)
    teardown_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.setup_s = self.of("ready")[0]["setup_ns"] / 1e9
        self.teardown_s = self.of("done")[0]["teardown_ns"] / 1e9
        for warning in self.of("warning"):
            print(f"warning: {warning['text']}")
        for output in self.of("outputs"):
            if output["stream"] == "stderr":
                print(f"{output['node']}: {output['text']}")

    def of(self, table: str) -> list[Row]:
        return [row for row in self.rows if row["record"] == table]


def node(name: str, interfaces: list[dict[str, Any]], *, router: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "router": router,
        "interfaces": interfaces,
        "routes": [],
        "mptcp": MPTCP,
        "clock_granularity_ns": 1,
        "pacing": False,
        "sysctls": {},
    }


def interface(name: str, address: str) -> dict[str, Any]:
    return {
        "name": name,
        "addresses": [{"address": address, "length": 24}],
        "gateways": [],
        "mtu": 1500,
        "address_delay_ns": 0,
        "endpoint": None,
    }


def link(
    name: str, ends: tuple[tuple[int, int], tuple[int, int]], offload: bool, **settings: Any
) -> dict[str, Any]:
    """A link between two interfaces, given as (node, interface), that treats both ways alike."""
    direction = copy.deepcopy(PERFECT) | settings
    return {
        "name": name,
        "ends": [{"node": node, "interface": interface} for node, interface in ends],
        "config": {"duplex": "full", "directions": [direction, direction]},
        "offload": offload,
    }


def plan(
    workload: dict[str, Any], *, seed: int = 1, offload: bool = False, **settings: Any
) -> dict[str, Any]:
    """A client sends to a server over one link whose two directions have `settings`."""
    return {
        "seed": seed,
        "nodes": [
            node("client", [interface("eth", CLIENT)]),
            node("server", [interface("eth", SERVER)]),
        ],
        "links": [link("link", ((0, 0), (1, 0)), offload, **settings)],
        "traffic": [
            {
                "name": "traffic",
                "client": 0,
                "server": 1,
                "protocol": "tcp",
                "source": CLIENT,
                "target": SERVER,
                "port": PORT,
                "start_ns": 0,
                "congestion_control": "cubic",
                "server_congestion_control": "cubic",
                "expected_joins": 0,
                "workload": workload,
            }
        ],
        "events": [],
        "sample_interval_ns": 100_000_000,
        "capture": None,
        "time_limit_ns": 120_000_000_000,
    }


def run(described: dict[str, Any]) -> Outcome:
    """Runs a plan to its end."""
    before, begun = _children_s(), time.perf_counter()
    lab = Lab(Plan.model_validate(described))
    try:
        rows = list(lab.rows())
        os.waitid(os.P_PID, lab.pid, os.WEXITED | os.WNOWAIT)
    finally:
        lab.end()
    return Outcome(rows, time.perf_counter() - begun, _children_s() - before)


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
