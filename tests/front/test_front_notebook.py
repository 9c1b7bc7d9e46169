"""The objects as a notebook shows them."""

from pathlib import Path

from tests.report.sample import sample

import mptcplab as lab


def test_a_result_is_shown_as_the_table_of_its_report(tmp_path: Path) -> None:
    result = sample(tmp_path / "result", repetitions=2)
    shown = result._repr_html_()
    assert "<table>" in shown
    assert "goodput" in shown
    assert "±" in shown
    assert all(f">{name}</td>" in shown for name in result)
    assert len(repr(result)) < 200 + len(str(tmp_path))


def test_a_recording_is_shown_with_its_tables(tmp_path: Path) -> None:
    result = sample(tmp_path / "result", repetitions=1)
    recording = result[next(iter(result))][0]
    assert ">transfers</td>" in recording._repr_html_()
    assert repr(recording).startswith("<Recording of ")


def test_a_scenario_is_shown_as_a_drawing() -> None:
    scenario = lab.load("lisbon/A1")
    shown = scenario._repr_html_()
    assert "<svg" in shown
    assert ">tcp-wifi</td>" in shown
    assert repr(scenario).startswith("<Scenario lisbon/A1: ")


def test_text_of_others_is_escaped() -> None:
    scenario = lab.load("lisbon/A1").model_copy(update={"description": "<script>"})
    assert "<script>" not in scenario._repr_html_()
