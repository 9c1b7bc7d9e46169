"""Options: what cannot be honoured is refused, with a hint."""

from pathlib import Path

import pytest
from tests.engine.launch import run

SCENARIO = """\
name: x
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 2 ms}}
traffic: [{TRAFFIC}]
expect: [EXPECT]
"""
BULK = "bulk: {from: client, to: server, way: up, duration: 200 ms}"
HTTP = "http: {from: client, to: server, size: 10 kB}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(traffic: str = BULK, expect: str = "") -> str:
    text = SCENARIO.replace("TRAFFIC", traffic).replace("EXPECT", expect)
    Path("x.yaml").write_text(text)
    return "x.yaml"


def simulated(*more: str) -> list[str]:
    return ["run", "x.yaml", "--engine", "sim", "--repeat", "1", "--out", "out", *more]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "x.yaml", "--out", ""], "'--out': is empty: name a file or folder"),
        (["report", ""], "'RUN...': is empty: name a file or folder"),
        (["report", "out", "--html", ""], "'--html': is empty: name a file or folder"),
        (["show", "x.yaml", "--svg", ""], "'--svg': is empty: name a file or folder"),
        (["trace", "x", "--tables", ""], "'--tables': is empty: name a file or folder"),
        (["enter", "", "client"], "'RUN': is empty: name a file or folder"),
        (["run", "x", "--engine", "kernle"], "'--engine': 'kernle': did you mean \"kernel\"?"),
        (
            ["run", "x", "--engine", "simulator"],
            "'--engine': 'simulator': known: auto, kernel, sim, both",
        ),
    ],
)
def test_a_value_is_refused_in_words_that_mend_it(
    folder: Path, words: list[str], message: str
) -> None:
    before = sorted(folder.iterdir())
    ended = run(words, folder)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == f"Error: Invalid value for {message}"
    assert [one for one in folder.iterdir() if one.name != "home"] == before


def test_a_duration_without_a_unit_means_seconds(folder: Path) -> None:
    written()
    ended = run(simulated("--duration", "10"), folder)
    told = '--duration: a time needs a unit: did you mean "10 s"?\n'
    assert (ended.returncode, ended.stderr) == (1, told)


def test_a_duration_that_nothing_has_is_refused(folder: Path) -> None:
    written(HTTP)
    ended = run(simulated("--duration", "3s"), folder)
    told = "--duration: x has no bulk transfer, stream or datagrams to set it of: only http\n"
    assert (ended.returncode, ended.stderr) == (1, told)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("expect", "status"),
    [
        ("mptcp.goodput > 1", 0),
        ("mptcp.goodput > 1000", 3),
        ("mptcp.completion_s > 1", 0),
        ("mptcp.goodput > 1, mptcp.goodput > 1000", 3),
    ],
)
def test_a_finding_that_fails_is_a_status_where_that_is_asked_for(
    folder: Path, expect: str, status: int
) -> None:
    written(expect=", ".join(f"'{one.strip()}'" for one in expect.split(",")))
    assert run(simulated("--fail"), folder).returncode == status
    assert run(["report", "out", "--fail", "--json"], folder).returncode == status
    assert run(["report", "out"], folder).returncode == 0
