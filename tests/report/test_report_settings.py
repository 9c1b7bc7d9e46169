"""Results that are shown together are told apart."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.report.sample import sample

from mptcplab.report import Report, report, side_by_side, to_html, to_terminal
from mptcplab.report.settings import labels, unlike

TEXT = """
hosts: {client: {interfaces: {wifi: {}}}, server: {interfaces: {wifi: {}}}}
links: {air: {between: [client.wifi, server.wifi], rate: 40 Mbit/s, delay: 5 ms}}
traffic: [{bulk: {from: client, to: server, way: down, duration: 5 s}}]
"""


def described(model: Report, folder: str, text: str, seed: int = 7) -> Report:
    scenario = model.description.scenario.model_copy(update={"text": text})
    description = model.description.model_copy(update={"scenario": scenario, "seed": seed})
    return replace(model, folder=Path(folder), description=description)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Report:
    made = sample(tmp_path_factory.mktemp("settings") / "kernel", repetitions=1)
    return described(report(made), "out/near", TEXT)


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Report:
    made = sample(tmp_path_factory.mktemp("settings") / "sim", repetitions=1, engine="sim")
    return described(report(made), "out/sim", TEXT)


@pytest.fixture(scope="module")
def far(kernel: Report) -> Report:
    return described(kernel, "out/far", TEXT.replace("5 ms", "100 ms"))


def printed(*reports: Report) -> list[str]:
    console = Console(file=StringIO(), width=500, color_system=None)
    to_terminal(reports, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def test_one_alone_needs_no_more_than_its_name(kernel: Report) -> None:
    assert labels([kernel]) == ["test/hand"]


def test_engines_are_named(kernel: Report, sim: Report) -> None:
    assert labels([kernel, sim]) == ["test/hand (kernel)", "test/hand (sim)"]
    lines = printed(kernel, sim)
    assert "test/hand (kernel) — Made by hand" in lines
    assert "test/hand (sim) — Made by hand" in lines
    assert not any(line.startswith("Unlike") for line in lines)


def test_a_result_that_is_shown_twice_has_a_number(kernel: Report) -> None:
    names = ["test/hand (kernel, out/near)", "test/hand (kernel, out/near), no. 2"]
    assert labels([kernel, kernel]) == names
    page = to_html([kernel, kernel])
    bars = page.partition('id="beside-goodput"')[2].partition("</figure>")[0]
    assert all(bars.count(f"<td>{name}</td>") == 3 for name in names)


def test_folders_and_settings_tell_results_of_one_engine_apart(
    kernel: Report, far: Report, sim: Report
) -> None:
    assert labels([kernel, far, sim]) == [
        "test/hand (kernel, out/near)",
        "test/hand (kernel, out/far)",
        "test/hand (sim)",
    ]
    lines = printed(kernel, far)
    assert "test/hand (kernel, out/far) — Made by hand" in lines
    sentence = "Unlike test/hand (kernel, out/near): links.air.delay 100 ms, not 5 ms."
    assert lines.count(sentence) == 1
    page = to_html([kernel, far])
    assert ">test/hand (kernel, out/near)</h1>" in page
    assert ">test/hand (kernel, out/far)</h1>" in page
    assert page.count(sentence) == 1


def test_the_seed_is_a_setting(kernel: Report) -> None:
    other = described(kernel, "out/again", TEXT, seed=8)
    assert unlike([kernel, other])[1][1] == ("seed 8, not 7",)


def test_a_trace_that_is_not_at_hand_is_a_setting(kernel: Report) -> None:
    replayed = TEXT.replace("rate: 40 Mbit/s", "trace: drive.trace")
    other = described(kernel, "out/replayed", replayed)
    words = unlike([kernel, other])[1][1]
    assert words == (
        "without links.air.rate (40 Mbit/s)",
        "links.air.trace drive.trace, where none was set",
    )


def test_a_scenario_that_cannot_be_read_any_more_is_not_compared(kernel: Report) -> None:
    old = described(kernel, "out/old", "links: [")
    assert unlike([kernel, old])[1] == ("test/hand (kernel, out/near)", ())


def test_many_settings_are_cut_in_the_terminal_and_whole_on_the_page(kernel: Report) -> None:
    values = "rate: 9 Mbit/s, delay: 9 ms, loss: 1 %, jitter: 1 ms, framing: 9 B, queue: 9 packets"
    other = described(
        kernel,
        "out/many",
        TEXT.replace("rate: 40 Mbit/s, delay: 5 ms", values).replace("duration: 5 s", "size: 1 MB"),
    )
    [line] = [line for line in printed(kernel, other) if line.startswith("Unlike")]
    assert line.endswith("; and 2 more.")
    assert "without traffic.0.bulk.duration (5 s)" in to_html([kernel, other])


def test_other_settings_are_no_comparison_of_engines(far: Report, sim: Report) -> None:
    assert side_by_side([far, sim]) == []
