"""Help comes at once: nothing is loaded that only a run or a report needs."""

import subprocess
import sys

from tests.engine.launch import COMMAND

HEAVY = {"polars", "matplotlib", "pydantic", "numpy", "networkx"}


def test_help_loads_no_heavy_package() -> None:
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", COMMAND, "--help"], capture_output=True, text=True
    )
    assert shown.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "mptcplab.cli.app" in loaded
    assert not loaded & HEAVY
