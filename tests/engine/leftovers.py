"""Leftovers of runs: files, whether they are whole, and namespaces that something still holds."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from mptcplab.recording import Recording, RecordingError, Result

SYSTEM_FOLDERS = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"))
OWN_NAMESPACES = {"user": 0, "pid": 1, "mnt": 1, "net": 1, "ipc": 0, "uts": 0}
"""The number of namespaces of each kind that a cell itself has."""
_SWITCHES = {"user": "--user", "mnt": "--mount", "net": "--net", "ipc": "--ipc", "uts": "--uts"}
_BLOCK_HEADER_BYTES = 8
_SECTION_HEADER = 0x0A0D0D0A


def files_of(folder: Path) -> set[Path]:
    """Every file and folder below `folder` and where programs put temporary files."""
    return {file for top in (folder, *SYSTEM_FOLDERS) for file in top.rglob("*")}


def pinned_namespaces(limit_s: float) -> list[str]:
    """Kinds of namespaces of which more exist than the cell's own; waits for the kernel's clean-up.

    The kernel counts the namespaces of a user namespace and of those below it, whatever holds
    them: with the limit (user.max_*_namespaces) at one more than the cell's own, one can be made
    only if nothing else is left. With the limit at the cell's own none can be made, or the
    count would prove nothing.
    """
    found = []
    deadline = time.monotonic() + limit_s
    for kind, own in OWN_NAMESPACES.items():
        limit = Path(f"/proc/sys/user/max_{kind}_namespaces")
        limit.write_text(str(own))
        if _can_make(kind):
            found.append(f"{kind}: cannot be counted")
        limit.write_text(str(own + 1))
        while not _can_make(kind):
            if time.monotonic() > deadline:
                found.append(kind)
                break
            time.sleep(0.05)
        limit.write_text("1000")
    return found


def _can_make(kind: str) -> bool:
    switch = ["--pid", "--fork"] if kind == "pid" else [_SWITCHES[kind]]
    return subprocess.run(["unshare", *switch, "true"], capture_output=True).returncode == 0


def damaged_files(result: Path) -> list[str]:
    """Files of a result that are not whole, or are none of a result's files."""
    damaged = []
    for file in sorted(one for one in result.rglob("*") if one.is_file()):
        try:
            whole = _is_whole(file)
        except (pl.exceptions.PolarsError, RecordingError, ValueError) as error:
            damaged.append(f"{file}: {error}")
            continue
        if not whole:
            damaged.append(f"{file}: {file.stat().st_size} bytes")
    return damaged


def _is_whole(file: Path) -> bool:
    match file.suffix:
        case ".parquet":
            return pl.read_parquet(file).width > 0
        case ".pcapng":
            return _is_pcapng(file.read_bytes())
        case ".html":
            return file.name == "report.html" and file.read_text().rstrip().endswith("</html>")
        case ".json" if file.name == "result.json":
            return bool(Result.open(file.parent).variants)
        case ".json" if file.name in ("manifest.json", "running.json"):
            return bool(Recording.open(file.parent).manifest.plan)
    return False


def _is_pcapng(content: bytes) -> bool:
    """Whether blocks follow each other to the very end of the file."""
    offset = 0
    while offset + _BLOCK_HEADER_BYTES <= len(content):
        length = int.from_bytes(content[offset + 4 : offset + 8], "little")
        end = offset + length
        if length < _BLOCK_HEADER_BYTES or content[end - 4 : end] != length.to_bytes(4, "little"):
            return False
        offset = end
    first = int.from_bytes(content[:4], "little")
    return offset == len(content) and first == _SECTION_HEADER


def open_statuses(results: Iterable[Path]) -> dict[str, int]:
    """The statuses of all recordings, as a reader sees them."""
    return Counter(
        str(Recording.open(file.parent).manifest.status)
        for result in results
        for file in result.rglob("running.json")
    ) + Counter(
        str(Recording.open(file.parent).manifest.status)
        for result in results
        for file in result.rglob("manifest.json")
    )
