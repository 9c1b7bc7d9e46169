"""The page of a sweep: whose scenario names files beside it, and of draws."""

from pathlib import Path

import pytest
from tests.engine.launch import run

from mptcplab.campaign.html import to_html
from mptcplab.campaign.report import sweep_report
from mptcplab.campaign.result import Sweep
from mptcplab.scenario import sweep as scenario_sweep
from mptcplab.scenario.draw import drawn_share

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
    assert ">Topology</h2>" in page
    assert "trace slow.trace" in page


DRAWN = """\
name: drawn
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s}}
traffic: [{http: {from: client, to: server, size: 20 kB}}]
sweep:
  axes: {links.a.rate: [10 Mbit/s, 20 Mbit/s]}
  drawn:
    count: 5
    values:
      links.a.delay: {uniform: {from: 1 ms, to: 9 ms}}
      traffic.0.http.size: {uniform: {from: 10 kB, to: 50 kB}}
"""


def test_each_value_is_drawn_once_for_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drawn.yaml").write_text(DRAWN)
    words = ["--engine", "sim", "--repeat", "1", "--out", "out"]
    ended = run(["sweep", "drawn.yaml", *words], tmp_path)
    assert ended.returncode == 0, ended.stderr
    made = []

    def counted(seed: int, index: int, key: str) -> float:
        made.append((index, key))
        return drawn_share(seed, index, key)

    monkeypatch.setattr(scenario_sweep, "drawn_share", counted)
    page = to_html(sweep_report(Sweep.open(tmp_path / "out")))
    assert ">Distribution of the goodput</h2>" in page
    assert len(made) == len(set(made)) == 5 * 2
