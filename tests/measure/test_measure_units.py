"""The units of agent, target and server, as systemd reads them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("name", ["agent", "target", "server"])
def test_a_unit_is_understood_and_gives_little_away(name: str, tmp_path: Path) -> None:
    unit = f"mptcplab-{name}.service"
    text = (UNITS / unit).read_text(encoding="utf-8")
    written = tmp_path / unit
    written.write_text(re.sub(r"=/usr/bin/\S+", f"={sys.executable}", text), encoding="utf-8")
    verify = ["systemd-analyze", "verify", "--man=no", str(written)]
    said = subprocess.run(verify, capture_output=True, text=True, check=False).stderr
    assert [line for line in said.splitlines() if "mptcplab" in line] == []
    security = ["systemd-analyze", "security", "--offline=true", "--threshold=25", str(written)]
    judged = subprocess.run(security, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
