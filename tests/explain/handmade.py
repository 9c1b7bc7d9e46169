"""Recordings of one connection of 1 s, written by hand: a download over two paths."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import Task
from mptcplab.engine.manifest import manifest
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Recording
from mptcplab.recording.memory import MemoryRecording
from mptcplab.recording.tables import TABLES
from mptcplab.scenario import Scenario, loads

MS = 1_000_000
TOKEN = 7
PORT = 40000


def two_paths(link: Mapping[str, Any] | None = None) -> Scenario:
    """A scenario with the paths `a` and `b`, sampled every 100 ms."""
    tree = {
        "hosts": {name: {"interfaces": {"a": {}, "b": {}}} for name in ("client", "server")},
        "links": {
            "a": {"between": ["client.a", "server.a"], "rate": "20 Mbit/s", "delay": "20 ms"},
            "b": {"between": ["client.b", "server.b"], "rate": "10 Mbit/s", "delay": "25 ms"}
            | dict(link or {}),
        },
        "traffic": [{"bulk": {"from": "client", "to": "server", "duration": "1 s"}}],
        "sample_interval": "100 ms",
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }
    return loads(json.dumps(tree))


def recording(
    scenario: Scenario,
    samples: Sequence[Mapping[str, Any]],
    transfer: Mapping[str, Any] | None = None,
) -> Recording:
    """With these samples: each has `at_ms`, `path`, `port` and columns of `subflow_samples`."""
    plan = compile_plan(scenario, "mptcp", 1)
    described = manifest(Task(scenario, "mptcp", 1, 1), plan, "sim", settings={})
    described = described.model_copy(update={"duration_s": 1.0})
    empty = MemoryRecording(Path("made"), described, {})
    of_interface = {place: one for one, place in PlanView(empty).interface_of_address.items()}

    def subflow(path: str, port: int) -> str:
        return f"{of_interface['server', path]}:5001-{of_interface['client', path]}:{port}"

    own = {
        "traffic": "bulk", "kind": "bulk", "index": 0, "client": "client", "server": "server",
        "way": "down", "protocol": "mptcp", "fallback": False, "token": TOKEN,
        "source": subflow("a", PORT).partition("-")[2], "start_ns": 0, "connected_ns": 0,
        "end_ns": 1000 * MS, "bytes": 1_000_000,
    }  # fmt: skip
    rows = [
        {
            "t_ns": one["at_ms"] * MS, "node": "server", "token": TOKEN,
            "subflow": subflow(one["path"], one.get("port", PORT)), "final": False,
        }
        | {key: value for key, value in one.items() if key not in ("at_ms", "path", "port")}
        for one in samples
    ]  # fmt: skip
    tables = {"transfers": [own | dict(transfer or {})], "subflow_samples": rows}
    full = {
        table: [dict.fromkeys(TABLES[table].schema) | row for row in found]
        for table, found in tables.items()
    }
    return MemoryRecording(Path("made"), described, full)


def busy(
    path: str, begin_ms: int, end_ms: int, *, share: float = 1.0, port: int = PORT
) -> list[dict[str, Any]]:
    """Samples every 100 ms of a subflow that had this share of the time data on its way."""
    return [
        {
            "at_ms": at, "path": path, "port": port, "cwnd": 10, "unacked": 10,
            "notsent_bytes": 20_000, "bytes_sent": 1000 * at, "bytes_acked": 1000 * at,
            "bytes_retrans": 0, "rtt_us": 50_000, "min_rtt_us": 40_000, "snd_wnd": 1 << 20,
            "busy_us": round((at - begin_ms + 100) * 1000 * share), "rwnd_limited_us": 0,
            "sndbuf_limited_us": 0,
        }
        for at in range(begin_ms, end_ms + 1, 100)
    ]  # fmt: skip
