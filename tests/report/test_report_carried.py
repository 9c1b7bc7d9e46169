"""The bytes that paths carried beyond the goodput, and their kinds."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.metrics.plans import two_paths
from tests.recording.handmade import SECOND, description, manifest, record, result, transfer

from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.report import Report, report, to_html, to_terminal

DELIVERED = 125_000_000
DUPLICATES = "Received more than once, as it was sent over several paths: mptcp 50.0 %."
UNDELIVERED = (
    "Received, but not delivered in order when the run ended, as data before it was missing: "
    "mptcp 11.1 %."
)
DIVISION = "The goodput by path is what the application got, divided as what the paths carried."


def recorded(
    folder: Path,
    received: int,
    reinjected: int | None,
    sent: int | None,
    **of_transfer: object,
) -> Recording:
    """A download of 125 MB; `received` over each of two paths, one joined after the other."""
    rows: list[dict[str, object]] = [
        {
            "t_ns": 10 * SECOND,
            "node": "client",
            "token": 1,
            "subflow": f"10.0.{path}.1:4000-10.0.{path}.2:5001",
            "bytes_received": received,
        }
        for path in (1, 2)
    ]
    connection: dict[str, object] = {"t_ns": 10 * SECOND, "node": "server", "token": 2}
    counters = {"bytes_retrans": reinjected, "bytes_sent": sent}
    row = transfer(end_ns=10 * SECOND, bytes=DELIVERED, **of_transfer)
    tables = {
        "transfers": [row],
        "subflow_samples": rows,
        "connection_samples": [connection | counters],
    }
    return record(folder, tables, manifest("mptcp", "mptcp", 1, two_paths()))


def figures(recording: Recording) -> tuple[float | None, float | None]:
    metrics = measure(recording).metrics
    return metrics["undelivered_bytes"], metrics["duplicate_bytes"]


@pytest.mark.parametrize(
    ("received", "reinjected", "sent", "undelivered", "duplicates"),
    [
        # Nothing was reinjected: all that was not delivered waited.
        (70_000_000, 0, 160_000_000, 15_000_000, 0),
        # All of it was reinjected.
        (125_000_000, 125_000_000, DELIVERED, 0, 125_000_000),
        # Some of it was.
        (70_000_000, 10_000_000, 160_000_000, 5_000_000, 10_000_000),
        # Linux does not count what it sends again when a subflow is closed: no more can wait than
        # was sent beyond what was delivered.
        (70_000_000, 0, DELIVERED + 4_000_000, 4_000_000, 11_000_000),
        # The counters of a subflow that died were read before its last data.
        (60_000_000, 3_000_000, 130_000_000, 0, 0),
        (70_000_000, None, None, None, None),
    ],
)
def test_what_was_not_reinjected_had_not_been_delivered(
    tmp_path: Path,
    received: int,
    reinjected: int | None,
    sent: int | None,
    undelivered: int | None,
    duplicates: int | None,
) -> None:
    found = figures(recorded(tmp_path / "out", received, reinjected, sent))
    assert found == (undelivered, duplicates)


def test_a_transfer_that_was_complete_left_nothing_behind(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "out", 70_000_000, 0, 160_000_000, kind="http")
    assert figures(recording) == (0, 15_000_000)


def test_tcp_has_neither(tmp_path: Path) -> None:
    fallen = recorded(tmp_path / "out", 70_000_000, 0, 160_000_000, fallback=True)
    assert "undelivered_bytes" not in measure(fallen).metrics


def reported(folder: Path, received: int, reinjected: int, sent: int) -> Report:
    made = result(folder, description([("mptcp", "mptcp")], 1))
    recorded(made.recording_folder("mptcp", 1), received, reinjected, sent)
    return report(made)


def printed(model: Report) -> list[str]:
    console = Console(file=StringIO(), width=400, color_system=None)
    to_terminal([model], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def test_duplicates_are_told_of_beside_the_goodput(tmp_path: Path) -> None:
    redundant = reported(tmp_path / "out", DELIVERED, DELIVERED, DELIVERED)
    lines = printed(redundant)
    assert f"by path. {DUPLICATES} {DIVISION}" in lines
    assert "mptcp wifi 50.0 100.0 50.0" in lines
    page = to_html([redundant])
    assert f"{DUPLICATES} {DIVISION}" in page
    assert '<td class="figure">50.0</td><td class="figure">100.0</td>' in page


def test_what_waited_at_the_end_is_no_duplicate(tmp_path: Path) -> None:
    waiting = reported(tmp_path / "out", 70_312_500, 0, 160_000_000)
    assert f"by path. {UNDELIVERED} {DIVISION}" in printed(waiting)
    assert DUPLICATES not in to_html([waiting])


def test_little_is_not_told_of(tmp_path: Path) -> None:
    model = reported(tmp_path / "out", 65_000_000, 0, 160_000_000)
    assert model.carried_notes == ()
    assert "by path" in printed(model)
    assert "carried<br>" not in to_html([model])
