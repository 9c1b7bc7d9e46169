"""The tutorial runs from top to bottom."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "tutorial.ipynb"


def test_the_tutorial_runs_sweeps_and_draws(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    data: list[Any] = [output["data"] for output in outputs if "data" in output]
    pictures = [one for one in data if "image/png" in one]
    assert len(pictures) == 3
    tables = [one["text/html"] for one in data if "text/html" in one]
    drawing, result, metrics, transfers, sweep, frame, comparison = tables
    assert "<svg" in drawing
    assert "goodput" in result
    assert "share of wifi" in metrics
    assert "joins" in transfers
    assert "50 ms" in sweep
    assert "goodput_low" in frame
    assert "difference" in comparison
    assert len(list((tmp_path / "out").iterdir())) == 2
