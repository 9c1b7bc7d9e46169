"""Changes to a scenario stand in its result, and beside the document's figures."""

from pathlib import Path

import pytest

from mptcplab.cli.run import RunOptions, run_scenarios
from mptcplab.engine.choice import EngineName
from mptcplab.recording import Result
from mptcplab.recording.result import Change
from mptcplab.scenario.entries import catalogue_folder

LISBON = "lisbon/A1"


def run(
    scenario: str,
    out: Path,
    overrides: tuple[str, ...] = (),
    duration: str | None = None,
    engine: EngineName = EngineName.SIM,
    vary: str | None = None,
) -> tuple[Change, ...]:
    """The changes in the result of a run of one variant in virtual time."""
    run_scenarios(
        RunOptions(
            scenarios=(scenario,),
            engine=engine,
            workers=1,
            variants=("tcp-eth",),
            repetitions=1,
            seed=1,
            duration=duration,
            vary=vary,
            overrides=overrides,
            capture=False,
            out=out,
            as_json=False,
            html=True,
        )
    )
    return Result.open(out).description.scenario.changes


def test_the_document_is_beside_the_network_of_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(LISBON, out, ("links.eth.delay='250 us'", "traffic.0.bulk.duration='20 s'")) == ()
    shown = capsys.readouterr().out
    assert "beside the document\n" in "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    assert "Changed" not in shown


def test_figures_of_a_document_are_marked_where_settings_are_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(LISBON, out, ("links.eth.delay='20 ms'",), "100ms") == (
        Change(path="links.eth.delay", own="250 µs", here="20 ms"),
        Change(path="duration", own="20 s", here="100 ms"),
    )
    sentence = (
        "Changed from the scenario: links.eth.delay 20 ms, not 250 µs; duration 100 ms, not 20 s."
    )
    title = "eside the document, whose settings are not these"
    shown = " ".join(capsys.readouterr().out.split())
    page = (out / "report.html").read_text()
    for place in (shown, page):
        assert sentence in place
        assert title in place


def test_an_edited_file_is_compared_with_the_catalogue(tmp_path: Path) -> None:
    text = (catalogue_folder() / f"{LISBON}.yaml").read_text()
    copied, edited = tmp_path / "copied.yaml", tmp_path / "edited.yaml"
    copied.write_text(text.replace("duration: 20 s", "duration: 20000 ms"))
    assert run(str(copied), tmp_path / "same") == ()
    edited.write_text(text.replace("profile: ethernet-100}", "profile: ethernet-100, loss: 2 %}"))
    assert run(str(edited), tmp_path / "other", duration="100ms") == (
        Change(path="links.eth.loss", own=None, here="2 %"),
        Change(path="duration", own="20 s", here="100 ms"),
    )


def test_a_file_of_ones_own_is_compared_with_itself(tmp_path: Path) -> None:
    text = (catalogue_folder() / f"{LISBON}.yaml").read_text()
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("name: lisbon/A1", "name: own").replace("20 s", "100 ms"))
    assert run(str(own), tmp_path / "plain") == ()
    assert run(str(own), tmp_path / "set", ("links.eth.delay='1 ms'",)) == (
        Change(path="links.eth.delay", own="250 µs", here="1 ms"),
    )


def test_drawn_starts_are_told_as_a_change(tmp_path: Path) -> None:
    assert run(LISBON, tmp_path / "out", duration="100ms", vary="start=5 ms") == (
        Change(path="vary.start", own=None, here="5 ms"),
        Change(path="duration", own="20 s", here="100 ms"),
    )
