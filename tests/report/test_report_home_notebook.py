"""The notebook of the home runs from top to bottom."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "home.ipynb"


def test_each_cell_runs_its_scenario_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpl.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    first, *others = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert 'DURATION = "10 s"' in first
    exec(first.replace('DURATION = "10 s"', 'DURATION = "300 ms"'), names)
    for cell in others:
        exec(cell, names)
    titles = [plt.figure(number).axes[0].get_title() for number in plt.get_fignums()]
    bars = [bar for n in plt.get_fignums() for bar in plt.figure(n).axes[0].patches]
    heights = [bar.get_extents().height for bar in bars]
    plt.close("all")
    assert titles == [
        "A: TCP, WiFi and Ethernet",
        "B: Ethernet and WiFi in the house",
        "B at 5 Mbit/s",
        "C: Ethernet and WiFi to the Internet",
        "D: Ethernet and LTE",
        "E: WiFi and LTE",
    ]
    assert len(heights) == 4 + 6 + 6 + 6 + 6 + 6
    assert all(height > 0 for height in heights)
