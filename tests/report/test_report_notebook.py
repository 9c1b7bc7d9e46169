"""The tutorial runs from top to bottom on a result."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tests.report.sample import sample

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "tutorial.ipynb"


def test_the_tutorial_opens_the_newest_result_and_draws_it(tmp_path: Path) -> None:
    sample(tmp_path / "out" / "result", repetitions=1)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = [output["text"] for output in outputs if output["output_type"] == "stream"]
    assert "test/hand: Made by hand" in printed[0]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2
    tables = [output["data"]["text/plain"] for output in outputs if "data" in output]
    assert "108.5" in tables[0]
