"""A run that Python asked for has a report like every other, by whatever kind of path."""

from pathlib import Path

import pytest

from mptcplab.cli.report import report_results
from mptcplab.engine import run
from mptcplab.recording import Result
from mptcplab.report import report, to_html
from mptcplab.scenario import loads

SCENARIO = """\
name: x
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 2 ms}}
traffic: [{bulk: {from: client, to: server, way: up, duration: 200 ms}}]
"""


@pytest.mark.parametrize("kind", [str, Path])
def test_the_folder_of_a_run_opens_and_reports(
    tmp_path: Path, kind: type[str] | type[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = kind(tmp_path / "by/5-2/mptcp")
    recording = run(loads(SCENARIO), "mptcp", folder, engine="sim")
    opened = Result.open(folder)
    assert [one.folder for one in opened.recordings("mptcp")] == [recording.folder]
    told = report(opened)
    goodput = told.variants[0].metrics["goodput"].mean
    assert goodput is not None
    assert goodput > 8
    assert to_html([told]).rstrip().endswith("</html>")
    report_results([Path(folder)], None, fail=False, as_json=False)
    assert "mptcp carried 9" in capsys.readouterr().out
