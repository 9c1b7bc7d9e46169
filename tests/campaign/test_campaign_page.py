"""The page of a sweep whose scenario names files beside it."""

from pathlib import Path

import pytest
from tests.engine.launch import run

SCENARIO = """\
name: replayed
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], trace: slow.trace, delay: 5 ms}}
traffic: [{http: {from: client, to: server, size: 20 kB}}]
sweep: {axes: {links.a.trace: [slow.trace, fast.trace]}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep that was run from the folder above the scenario's."""
    made = tmp_path_factory.mktemp("page")
    (made / "own").mkdir()
    for name, content in (
        ("replayed.yaml", SCENARIO),
        ("slow.trace", "3\n6\n9\n"),
        ("fast.trace", "1\n2\n"),
    ):
        (made / "own" / name).write_text(content)
    words = ["--engine", "sim", "--repeat", "1", "--out", "out"]
    ended = run(["sweep", "own/replayed.yaml", *words], made)
    assert ended.returncode == 0, ended.stderr
    return made


def test_the_page_draws_links_whose_traces_are_beside_the_scenario(folder: Path) -> None:
    ended = run(["report", "out", "--html", "page.html"], folder)
    assert ended.returncode == 0, ended.stderr
    page = (folder / "page.html").read_text()
    assert "<h2>Topology</h2>" in page
    assert "trace slow.trace" in page
