"""`show` and `check` know which engine can run a scenario."""

from pathlib import Path

import pytest

from mptcplab.cli.scenarios import check_scenarios, show_scenario

TEXT = """\
hosts: {client: {interfaces: {a: {}}CLIENT}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a]}}
traffic: [{TRAFFIC}]
"""
PLAIN = "ping: {from: client, to: server}"
COMMAND = "command: {on: client, run: 'true'}"
PACING = ", pacing: true"


def written(folder: Path, client: str, traffic: str) -> str:
    file = folder / "one.yaml"
    file.write_text(TEXT.replace("CLIENT", client).replace("TRAFFIC", traffic))
    return str(file)


@pytest.mark.parametrize(
    ("client", "traffic", "words"),
    [
        ("", PLAIN, "good"),
        (PACING, PLAIN, "good (sim engine only)"),
        ("", COMMAND, "good (kernel engine only)"),
        (PACING, COMMAND, "good (no engine can run all of it)"),
    ],
)
def test_check_says_which_engine_it_takes(
    client: str, traffic: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, client, traffic)
    check_scenarios([file], as_json=False)
    assert capsys.readouterr().out == f"{file}: {words}\n"


def test_show_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_scenario(written(tmp_path, PACING, PLAIN), None, as_json=False)
    shown = capsys.readouterr().out
    assert shown.endswith(
        "Engines\n  kernel: no, the kernel engine paces as the congestion control asks "
        "(hosts.client.pacing)\n  sim\n"
    )
