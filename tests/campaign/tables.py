"""The content of a campaign's folder, but for times and commands."""

import json
from pathlib import Path


def done(out: Path, runs: int) -> int:
    """How many runs are in the journals, or all of `runs` where there is none left."""
    journals = list((out / "journal").glob("*.jsonl"))
    whole = len(list((out / "runs").glob("*.parquet")))
    return runs if whole else sum(one.read_bytes().count(b"\n") for one in journals)


def contents(out: Path) -> dict[str, bytes]:
    """The tables by name, and the description but for its time and command."""
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.suffix in (".parquet", ".jsonl")
    }
    told = json.loads((out / "sweep.json").read_text())
    told["result"] |= {"created": "", "command": []}
    return files | {"sweep.json": json.dumps(told).encode()}
