"""The files of expected figures: read as they are written, and of figures that there are."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from benches.expected import collected
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.reproduction import expected
from mptcplab.reproduction.expected import ByFigure, ByLength, Expected, read, written
from mptcplab.reproduction.model import Document
from mptcplab.reproduction.reading import names
from mptcplab.reproduction.reading import read as read_document
from mptcplab.scenario import ScenarioError
from mptcplab.scenario.expectation import parse

DOCUMENTS = {name: read_document(name) for name in names()}
FIGURES = st.builds(
    Expected,
    st.none() | st.floats(-1e9, 1e9).filter(lambda one: one == 0 or abs(one) > 1e-9),
    st.just(0.0) | st.floats(1e-6, 1e6),
)


@given(st.dictionaries(st.sampled_from(["tcp.goodput", "1 - tcp.a / tcp.b"]), FIGURES))
def test_what_is_written_is_read_as_expected(figures: ByFigure) -> None:
    lengths: ByLength = {"full": {"lisbon/A1": figures}, "--quick": {"lisbon/A2": {}}}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected, "FOLDER", Path(folder))
        Path(folder, "d-sim.yaml").write_text(written(lengths), encoding="utf-8")
        found = read("d", "sim")
    assert found["--quick"] == {"lisbon/A2": {}}
    assert set(found["full"]["lisbon/A1"]) == set(figures)
    assert all(one.holds(figures[name].mean) for name, one in found["full"]["lisbon/A1"].items())


def test_a_file_that_cannot_be_read_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected, "FOLDER", tmp_path)
    expected.path_of("d", "sim").write_text("full:\n  lisbon/A1:\n    tcp.goodput: much\n", "utf-8")
    with pytest.raises(ScenarioError, match=r"d-sim\.yaml:3: full\.lisbon/A1\.tcp\.goodput: no"):
        read("d", "sim")


def test_an_engine_that_was_not_measured_has_none() -> None:
    assert read("lisbon", "none") == {}


def cell(mark: str, **differs: object) -> dict[str, object]:
    return {"scenario": "lisbon/A1", "mark": mark, "differs": differs or None}


def test_all_that_differs_with_a_reason_is_collected() -> None:
    different = {"name": "tcp.goodput", "mean": 3.0, "half_width": None}
    says = cell("differs, figure not expected")
    says["differs"] = [{"name": "tcp.recovery_s", "mean": None, "half_width": None}]
    row = [
        "text",
        cell("differs, and not as explained", **different),
        cell("differs, no reason given", **{**different, "name": "tcp.joins"}),
        {**cell("agrees"), "scenario": "lisbon/A2"},
        {**cell("not measured"), "scenario": "lisbon/A3"},
    ]
    assert collected({"items": [{"rows": [row], "says": [says]}]}) == {
        "lisbon/A1": {"tcp.goodput": Expected(3.0), "tcp.recovery_s": Expected(None)},
        "lisbon/A2": {},
    }


def compared(document: Document) -> set[tuple[str, str]]:
    """Scenarios and figures of a document's cells and statements."""
    found = {(cell.scenario, cell.name) for item in document.items for cell in item.measured()}
    for one in (one for item in document.items for one in item.says if one.finding):
        spoken_of = parse(one.finding).names()
        found |= {(one.scenario, f"{name.variant}.{name.metric}") for name in spoken_of}
    return found


@pytest.mark.parametrize("engine", ["sim", "kernel"])
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_every_expected_figure_is_one_of_the_document(document: Document, engine: str) -> None:
    known = compared(document)
    for scenarios in read(document.name, engine).values():
        found = {(scenario, name) for scenario, own in scenarios.items() for name in own}
        assert found <= known


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_simulator_is_measured(document: Document) -> None:
    assert {"full", "--quick"} <= set(read(document.name, "sim"))
