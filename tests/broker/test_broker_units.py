"""The units for systemd, as systemd reads them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_the_units_are_understood(tmp_path: Path) -> None:
    for unit in UNITS.glob("mptcplab-broker.s*"):
        text = unit.read_text().replace("/usr/bin/mptcplab-host", sys.executable)
        (tmp_path / unit.name).write_text(text)
    units = [str(tmp_path / f"mptcplab-broker.{kind}") for kind in ("service", "socket")]
    verify = ["systemd-analyze", "verify", "--man=no", *units]
    said = subprocess.run(verify, capture_output=True, text=True, check=False).stderr
    assert [line for line in said.splitlines() if "mptcplab" in line] == []
    security = ["systemd-analyze", "security", "--offline=true", "--threshold=30", units[0]]
    judged = subprocess.run(security, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
