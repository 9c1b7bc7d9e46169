"""The same scenario on two engines stands side by side."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.report.sample import sample

from mptcplab.report import Report, report, side_by_side, to_html, to_json, to_terminal


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    folder = tmp_path_factory.mktemp("engines")
    kernel = sample(folder / "kernel", repetitions=1)
    sim = sample(folder / "sim", repetitions=1, engine="sim", wifi_mbps=81)
    return [report(kernel), report(sim)]


def test_the_difference_is_relative_to_the_first_engine(reports: list[Report]) -> None:
    (pair,) = side_by_side(reports)
    assert (pair.scenario, pair.engines) == ("test/hand", ("kernel", "sim"))
    rows = {(row.variant, row.metric): row.difference for row in pair.rows}
    # WiFi carries 41 Mbit/s, then 82; Ethernet 67.5 both times.
    assert rows["tcp-wifi", "goodput"] == pytest.approx(1.0)
    assert rows["tcp-eth", "goodput"] == 0
    assert rows["mptcp", "goodput"] == pytest.approx(41 / 108.5)
    assert rows["tcp-eth", "recovery_s.eth"] == 0
    # Nothing is a part of 0.
    assert rows["tcp-wifi", "recovery_s"] is None


def test_the_sentence_says_how_far_apart_they_are(reports: list[Report]) -> None:
    (pair,) = side_by_side(reports)
    assert pair.sentence == (
        "The goodput of sim differs from that of kernel by 37.8 % in the median of the variants, "
        "by 100.0 % at most."
    )


def test_the_sentence_names_what_only_one_engine_was_to_run(reports: list[Report]) -> None:
    kernel, sim = reports
    less = replace(kernel, variants=kernel.variants[1:])
    (pair,) = side_by_side([less, sim])
    assert pair.sentence.endswith(f"at most. Of sim alone: {kernel.variants[0].name}.")
    (pair,) = side_by_side([sim, less])
    assert pair.sentence.endswith(f"at most. Of sim alone: {kernel.variants[0].name}.")


def test_results_of_one_engine_are_not_compared(reports: list[Report], tmp_path: Path) -> None:
    again = report(sample(tmp_path / "again", repetitions=1))
    assert side_by_side([reports[0], again]) == []


def test_the_terminal_shows_each_metric_of_the_tables_with_its_difference(
    reports: list[Report],
) -> None:
    console = Console(file=StringIO(), width=120, color_system=None)
    to_terminal(reports, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "test/hand on both engines" in lines
    assert "tcp-wifi goodput 41.0 Mbit/s 82.0 Mbit/s 100.0" in lines


def test_the_page_has_the_comparison_and_a_section_for_each_engine(reports: list[Report]) -> None:
    page = to_html(reports)
    assert ">test/hand on both engines</h1>" in page
    assert ">test/hand (kernel)</h1>" in page
    assert ">test/hand (sim)</h1>" in page


def test_the_later_object_of_json_has_the_comparison(reports: list[Report]) -> None:
    (pair,) = side_by_side(reports)
    assert to_json(reports[0])["beside"] is None
    beside = to_json(reports[1], pair)["beside"]
    assert beside["engine"] == "kernel"
    (goodput,) = [
        row
        for row in beside["metrics"]
        if (row["variant"], row["metric"]) == ("tcp-wifi", "goodput")
    ]
    assert (goodput["theirs"]["mean"], goodput["ours"]["mean"]) == (41.0, 82.0)
    assert goodput["difference"] == pytest.approx(1.0)
