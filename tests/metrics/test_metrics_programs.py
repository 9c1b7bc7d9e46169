"""Bytes of programs, by both ends' accounts of their sockets; each computed on paper."""

from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import MILLISECOND, SECOND, Rows, manifest, record

from mptcplab.metrics import measure
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import connections, program_transfers
from mptcplab.recording import Recording
from mptcplab.recording.manifest import Json

CLIENT = ("10.0.1.1:40000-10.0.1.2:5001", "10.0.1.2:5001-10.0.1.1:40000")
JOIN = ("10.0.2.1:40001-10.0.2.2:5001", "10.0.2.2:5001-10.0.2.1:40001")

Row = dict[str, object]


def socket(node: str, pair: tuple[str, str], **values: object) -> Row:
    at_client = node == "client"
    row: Row = {
        "traffic": "command",
        "node": node,
        "subflow": pair[0] if at_client else pair[1],
        "interface": "wifi",
        "start_ns": SECOND if at_client else None,
        "first_ns": SECOND + MILLISECOND,
        "end_ns": 9 * SECOND,
        "bytes_retrans": 0,
    }
    return row | values


def program(**values: object) -> Row:
    row: Row = {"traffic": "command", "node": "client", "side": "client", "command": "get"}
    return row | {"start_ns": 0, "end_ns": 9 * SECOND, "ended": "itself", "status": 0} | values


def recorded(folder: Path, rows: Rows) -> Recording:
    workload: Json = {"kind": "command", "argv": ["get"]}
    plan = two_paths(workload=workload, traffic="command")
    return record(folder / "r", rows, manifest(plan=plan))


def payload(recording: Recording) -> list[tuple[int, int]]:
    """Of each connection: down, up."""
    own = connections(recording, PlanView(recording))["command"]
    return [(connection.down_bytes, connection.up_bytes) for connection in own]


ASKED: Row = {"bytes_sent": 1000, "bytes_acked": 1002, "bytes_received": 5001}
"""Sent 1000 and a SYN and a FIN, got 5000 and a FIN."""
ANSWERED: Row = {"bytes_sent": 5700, "bytes_retrans": 700, "bytes_acked": 5001}


def test_syn_fin_and_what_was_sent_again_are_no_payload(tmp_path: Path) -> None:
    rows = [
        socket("client", CLIENT, **ASKED),
        socket("server", CLIENT, **ANSWERED, bytes_received=1001),
    ]
    assert payload(recorded(tmp_path, {"sockets": rows})) == [(5000, 1000)]


def test_a_fin_that_did_not_come_takes_no_byte_away(tmp_path: Path) -> None:
    rows = [
        socket("client", CLIENT, **ASKED | {"bytes_received": 5000}),
        socket("server", CLIENT, **ANSWERED, bytes_received=1000),
    ]
    assert payload(recorded(tmp_path, {"sockets": rows})) == [(5000, 1000)]


def test_what_a_kernel_cleared_is_told_by_the_other_end(tmp_path: Path) -> None:
    cleared: Row = {"bytes_sent": 0, "bytes_acked": 0, "bytes_received": 0}
    rows = [
        socket("client", CLIENT, token=1, **cleared),
        socket("server", CLIENT, token=2, **ANSWERED, bytes_received=1000),
    ]
    assert payload(recorded(tmp_path, {"sockets": rows})) == [(5000, 1000)]


def test_data_that_was_reinjected_counts_once(tmp_path: Path) -> None:
    rows = [
        socket("client", CLIENT, token=1, **ASKED),
        socket("client", JOIN, token=1, start_ns=None, bytes_received=2000, bytes_sent=0),
        socket("server", CLIENT, token=2, **ANSWERED, bytes_received=1001),
        socket("server", JOIN, token=2, bytes_sent=2000, bytes_acked=2000, bytes_received=0),
    ]
    known: list[Row] = [
        {"t_ns": SECOND, "node": "client", "token": 1, "bytes_received": 6000, "bytes_retrans": 0},
        {"t_ns": SECOND, "node": "server", "token": 2, "bytes_received": 500, "bytes_retrans": 900},
    ]
    recording = recorded(tmp_path, {"sockets": rows, "connection_samples": known})
    # 7000 came, of which 900 may be there twice; upwards nothing was sent again.
    assert payload(recording) == [(6100, 1000)]


def test_a_command_takes_from_its_first_syn_to_its_last_byte(tmp_path: Path) -> None:
    late: Row = {"start_ns": 2 * SECOND, "first_ns": 2 * SECOND}
    rows = [
        socket("client", CLIENT, **ASKED, last_received_ns=3 * SECOND),
        socket("server", CLIENT, **ANSWERED, bytes_received=1001, last_received_ns=2 * SECOND),
        socket("client", JOIN, **ASKED | late, last_received_ns=5 * SECOND),
        socket("server", JOIN, **ANSWERED, bytes_received=1001, last_received_ns=3 * SECOND),
    ]
    recording = recorded(tmp_path, {"sockets": rows, "programs": [program()]})
    metrics = measure(recording).metrics
    assert metrics["completion_s"] == 4.0
    assert metrics["completed"] == 1.0
    assert metrics["goodput"] == pytest.approx(2 * 6000 * 8 / 4 / 1e6)
    # Each way from the first start to its own last byte.
    assert metrics["goodput.down"] == pytest.approx(2 * 5000 * 8 / 4 / 1e6)
    assert metrics["goodput.up"] == pytest.approx(2 * 1000 * 8 / 2 / 1e6)
    assert "multipath" not in metrics


@pytest.mark.parametrize(
    ("values", "completed"),
    [
        ({"status": 3}, 0.0),
        ({"status": None, "signal": 9}, 0.0),
        ({"status": None, "ended": "failed", "error": "no such file"}, 0.0),
        ({"status": None, "ended": "stopped"}, 0.0),
        ({"status": None, "ended": "duration"}, 1.0),
    ],
)
def test_a_command_that_did_not_come_to_its_end_has_no_completion_time(
    tmp_path: Path, values: Row, completed: float
) -> None:
    rows = [socket("client", CLIENT, **ASKED, last_received_ns=3 * SECOND)]
    recording = recorded(tmp_path, {"sockets": rows, "programs": [program(**values)]})
    metrics = measure(recording).metrics
    assert metrics["completion_s"] is None
    assert metrics["completed"] == completed


def test_addresses_that_are_used_again_are_paired_in_their_order(tmp_path: Path) -> None:
    again: Row = {"first_ns": 4 * SECOND}
    rows = [
        socket("client", CLIENT, **ASKED),
        socket("client", CLIENT, **ASKED | again, start_ns=3 * SECOND),
        socket("server", CLIENT, **ANSWERED, bytes_received=1001),
        socket("server", CLIENT, **ANSWERED | again, bytes_received=1001),
    ]
    assert payload(recorded(tmp_path, {"sockets": rows})) == [(5000, 1000), (5000, 1000)]


def test_a_connection_between_two_commands_is_that_of_who_opened_it(tmp_path: Path) -> None:
    plan = two_paths(workload={"kind": "command", "argv": ["get"]}, traffic="command")
    traffic = plan["traffic"]
    assert isinstance(traffic, list)
    assert isinstance(traffic[0], dict)
    traffic.append(traffic[0] | {"name": "serve", "client": 1, "server": 0})
    rows = [
        socket("client", CLIENT, **ASKED),
        socket("server", CLIENT, traffic="serve", **ANSWERED, bytes_received=1001),
    ]
    recording = record(tmp_path / "r", {"sockets": rows}, manifest(plan=plan))
    transfers = program_transfers(recording, PlanView(recording))
    columns = ("traffic", "way", "bytes", "source", "server")
    told = [tuple(row[name] for name in columns) for row in transfers]
    assert told == [
        ("command", "down", 5000, "10.0.1.1:40000", "server"),
        ("command", "up", 1000, "10.0.1.1:40000", "server"),
    ]
