"""Reports of commands: what they are compared by, and their accounts."""

import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.metrics.plans import two_paths
from tests.recording.handmade import SECOND, Protocol, description, manifest, record, result

from mptcplab.report import report, to_html, to_json, to_terminal
from mptcplab.report.model import Report

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
PAIRS = {"wifi": "10.0.1.1:40000-10.0.1.2:5001", "eth": "10.0.2.1:40000-10.0.2.2:5001"}


def reported(folder: Path, *variants: tuple[str, str, int, int], **ending: object) -> Report:
    """Of commands, each with its variant, interface, seconds and payload that came."""
    protocols: Sequence[tuple[str, Protocol]] = [
        (name, "mptcp" if name == "mptcp" else "tcp") for name, *_ in variants
    ]
    made = result(folder, description(protocols))
    for (name, protocol), (_, interface, seconds, payload) in zip(protocols, variants, strict=True):
        socket = {
            "traffic": "get",
            "node": "client",
            "subflow": PAIRS[interface],
            "interface": interface,
            "start_ns": 0,
            "first_ns": 0,
            "end_ns": seconds * SECOND,
            "last_received_ns": seconds * SECOND,
            "last_acked_ns": SECOND,
            "bytes_sent": 107,
            "bytes_acked": 100,
            "bytes_received": payload,
            "bytes_retrans": 7,
            "min_rtt_us": 20_000,
            "rtt_us": 30_500,
        }
        program = {
            "traffic": "get",
            "node": "client",
            "side": "client",
            "command": "get it",
            "start_ns": 0,
            "end_ns": seconds * SECOND,
            "ended": "itself",
            "status": 0,
        } | ending
        sample = {
            "t_ns": seconds * SECOND,
            "node": "client",
            "subflow": PAIRS[interface],
            "bytes_received": payload,
            "bytes_acked": 100,
        }
        line = {"traffic": "get", "node": "client", "stream": "stdout", "t_ns": 1, "text": "done"}
        plan = two_paths(workload={"kind": "command", "argv": ["get"]}, traffic="get")
        record(
            made.recording_folder(name, 1),
            {
                "sockets": [socket],
                "subflow_samples": [sample],
                "programs": [program],
                "outputs": [line],
            },
            manifest(name, protocol, plan=plan),
        )
    return report(made)


def shown(model: Report) -> str:
    text = StringIO()
    to_terminal([model], Console(file=text, width=80, color_system=None))
    return text.getvalue()


def test_commands_that_carried_the_same_are_compared_by_their_time(tmp_path: Path) -> None:
    made = reported(
        tmp_path / "out",
        ("tcp-wifi", "wifi", 4, 4_000_000),
        ("tcp-eth", "eth", 8, 4_000_000),
        ("mptcp", "wifi", 3, 4_000_205),
    )
    assert made.answer[0] == (
        "mptcp was faster than the best path alone (tcp-wifi): 3.00 s, 0.750 times 4.00 s."
    )
    assert "delay_benefit" in made.columns


def test_commands_that_carried_unlike_amounts_are_compared_by_their_goodput(
    tmp_path: Path,
) -> None:
    """As iperf3, which sends for a fixed time, and a bit longer where it has more to wait for."""
    made = reported(
        tmp_path / "out",
        ("tcp-wifi", "wifi", 4, 4_000_000),
        ("tcp-eth", "eth", 4, 2_000_000),
        ("mptcp", "wifi", 5, 10_000_000),
    )
    assert made.answer[:2] == (
        "mptcp was faster than the best path alone (tcp-wifi): 16.0 Mbit/s, 2.00 times 8.00 "
        "Mbit/s.",
        "That is 133.3 % of the sum of the single paths (tcp-wifi 8.00, tcp-eth 4.00).",
    )
    assert "delay_benefit" not in made.columns


def test_what_a_command_asks_with_and_the_only_time_have_no_column(tmp_path: Path) -> None:
    made = reported(tmp_path / "out", ("tcp", "wifi", 4, 4_000_000))
    assert {"goodput.up", "goodput.down", "completion_s.p90"} <= made.variants[0].metrics.keys()
    assert made.columns == ("goodput", "completion_s")
    both = reported(tmp_path / "both", ("tcp", "wifi", 4, 900))
    assert both.columns == ("goodput", "goodput.up", "goodput.down", "completion_s")


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ({}, {"ended": "itself", "status": 0, "signal": None, "error": None}),
        (
            {"status": None, "signal": 9},
            {"ended": "itself", "status": None, "signal": 9, "error": None},
        ),
        (
            {"ended": "failed", "status": None, "error": "not found"},
            {"ended": "failed", "status": None, "signal": None, "error": "not found"},
        ),
    ],
)
def test_the_accounts_of_commands_are_in_the_json(
    tmp_path: Path, ending: dict[str, object], told: dict[str, Any]
) -> None:
    output = to_json(reported(tmp_path / "out", ("tcp", "wifi", 4, 4_000_000), **ending))
    [variant] = output["variants"]
    documented = set(
        re.findall(r"(?m)^\| `variants\[\]\.commands\[\]\.([^`]+)`", DOCUMENT.read_text())
    )
    keys = {
        *variant["commands"][0],
        *(f"paths[].{key}" for key in variant["commands"][0]["paths"][0]),
    }
    assert keys == documented
    assert variant["commands"] == [
        {
            "traffic": "get",
            "command": "get it",
            "repetition": 1,
            "duration_s": 4.0,
            **told,
            "output_lines": 1,
            "connections": 1,
            "paths": [
                {
                    "interface": "wifi",
                    "sockets": 1,
                    "down_bytes": 4_000_000,
                    "up_bytes": 100,
                    "retransmitted_bytes": 7,
                    "min_rtt_ms": 20.0,
                    "rtt_ms": 30.5,
                }
            ],
        }
    ]


def test_without_sockets_there_is_no_table_of_them(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp")]))
    program: dict[str, object] = {
        "traffic": "get",
        "node": "client",
        "side": "client",
        "command": "nosuch",
        "start_ns": 0,
        "end_ns": 0,
        "ended": "failed",
        "error": "not found",
    }
    plan = two_paths(workload={"kind": "command", "argv": ["nosuch"]}, traffic="get")
    folder = made.recording_folder("tcp", 1)
    record(folder, {"programs": [program]}, manifest("tcp", "tcp", plan=plan))
    without = report(made)
    assert "tcp: nosuch: could not be run: not found" in shown(without)
    assert "accounts of their sockets" not in shown(without)
    assert "accounts of their sockets" not in to_html([without])
    assert "<li>tcp: nosuch: could not be run: not found" in to_html([without])
    carried = reported(tmp_path / "carried", ("tcp", "wifi", 4, 4_000_000))
    assert "commands, by the kernel's accounts of their sockets" in shown(carried)
    assert "By the kernel's accounts of their sockets" in to_html([carried])
