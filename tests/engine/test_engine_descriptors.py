"""A run whose traffic lacked descriptors is a failed run, not a result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.system import needs_mptcp

from mptcplab.engine import EngineError, run
from mptcplab.engine.kernel.lab import Lab
from mptcplab.engine.kernel.run import _shortage
from mptcplab.engine.recorder import Row
from mptcplab.recording import Recording, Status
from mptcplab.scenario import loads
from mptcplab.shortage import DESCRIPTORS

SCENARIO = """\
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 2 ms}}
traffic: [{bulk: {from: client, to: server, way: up, duration: 200 ms}}]
"""


@needs_mptcp
def test_a_run_whose_traffic_got_no_descriptors_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Lab.rows

    def without_a_socket(lab: Lab, *given: Any) -> Iterator[Row]:
        # The row that the lab told with a limit of 28, where which thread comes first decides.
        for row in rows(lab, *given):
            if row["record"] == "transfers":
                row |= {"error": "open a socket: too many open files", "bytes": 0}
            yield row

    monkeypatch.setattr(Lab, "rows", without_a_socket)
    with pytest.raises(EngineError) as raised:
        run(loads(SCENARIO, "x.yaml"), "mptcp", tmp_path / "out", engine="kernel")
    assert str(raised.value).endswith(DESCRIPTORS)
    manifest = Recording.open(tmp_path / "out").manifest
    assert manifest.status is Status.FAILED
    assert DESCRIPTORS in manifest.warnings


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        ({"record": "transfers", "error": "open a socket: too many open files"}, True),
        ({"record": "transfers", "error": "[Errno 24] Too many open files"}, True),
        ({"record": "warning", "text": "no file descriptors are left: nothing was run"}, True),
        ({"record": "transfers", "error": "connection refused"}, False),
        ({"record": "transfers", "error": None}, False),
        (
            {
                "record": "warning",
                "text": "command: sh -c 'echo too many open files' on a ended with status 1",
            },
            False,
        ),
        ({"record": "outputs", "text": "too many open files"}, False),
    ],
)
def test_what_tells_of_it(row: dict[str, object], lacks: bool) -> None:
    assert _shortage(row) == (DESCRIPTORS if lacks else None)


def test_a_machine_without_descriptors_is_told_apart_from_a_limit() -> None:
    row: Row = {"record": "transfers", "error": "socket: too many open files in system"}
    assert _shortage(row) == "no file descriptors are left on this machine: raise fs.file-max"
