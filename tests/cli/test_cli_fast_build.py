"""`make fast` where the tool that merges profiles is not there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_TOOLS = ("rustc", "sed", "ls", "sort", "tail", "tr")


def test_it_says_what_is_missing_before_it_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = {name: shutil.which(name) for name in _TOOLS}
    if tools["rustc"] is None:
        pytest.skip("there is no Rust toolchain on the PATH")
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True)
    if list(Path(sysroot.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata")):
        pytest.skip("the toolchain has llvm-profdata")
    for name, path in tools.items():
        assert path is not None
        (tmp_path / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    program = ROOT / "crates/python/fast"
    refused = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "rustup component add llvm-tools" in refused.stderr
    assert not (tmp_path / "target").exists()
