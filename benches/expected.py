"""Writes the figures that are expected of `mptcplab reproduce`, and the pages that are kept.

`python -m benches.expected DIR` runs every document on the simulator, in full and with `--quick`,
and writes what differs from the documents to `python/mptcplab/reproduction/expected`: the figures
that the notes are about from now on. It is for a change whose effect on them has been looked at;
the diff shows it. What was run stays in DIR, and the same command goes on with it.

`--pages` takes the pages of the runs in full to `docs/reproduction`. `--engine kernel` writes the
files of that engine, and takes its pages to a folder of their own there; `--length "--repeat=5"`
writes figures of runs with these options. `--figure` runs these figures of a document alone, and
leaves what is expected of its other scenarios as it is.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mptcplab.engine.choice import EngineName
from mptcplab.reproduction import reading
from mptcplab.reproduction.expected import ByScenario, Expected, path_of, read, written
from mptcplab.reproduction.manner import FULL
from mptcplab.reproduction.marks import Mark

QUICK = "--quick"
PAGES = Path(__file__).parents[1] / "docs" / "reproduction"
_NOT_RUN = (Mark.MISSING, Mark.INCOMPARABLE)


def main() -> None:
    """Runs the documents, writes what is expected, and marks them anew by it."""
    own = _arguments()
    for length in own.length or [FULL, QUICK]:
        out = own.out / length.strip("-").replace(" --", "-")
        command = [sys.executable, "-m", "mptcplab", "reproduce", *own.documents]
        command += ["--engine", own.engine, "--out", str(out)]
        command += [word for number in own.figure for word in ("--figure", number)]
        command += [] if length == FULL else shlex.split(length)
        ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        if ended.returncode:
            sys.exit(ended.returncode)
        for document in own.documents:
            stem = "-".join([document, *(["figure", *own.figure] if own.figure else [])])
            told = json.loads((out / f"{stem}.json").read_text(encoding="utf-8"))
            _write(told, is_whole=not own.figure)
        ended = subprocess.run([*command, "--fail"], check=False, stdout=subprocess.DEVNULL)
        print(f"{length}: {'no red cell' if ended.returncode == 0 else 'RED CELLS'}, see {out}")
        if own.pages and length == FULL and not own.figure:
            kept = PAGES if own.engine == EngineName.SIM else PAGES / own.engine
            kept.mkdir(exist_ok=True)
            for document in own.documents:
                for kind in ("html", "json"):
                    shutil.copy(out / f"{document}.{kind}", kept)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.expected")
    parser.add_argument("out", type=Path)
    parser.add_argument("documents", nargs="*", default=reading.names())
    parser.add_argument("--engine", default="sim")
    parser.add_argument("--length", action="append")
    parser.add_argument("--figure", action="append", default=[])
    parser.add_argument("--pages", action="store_true")
    return parser.parse_args()


def _write(told: Mapping[str, Any], *, is_whole: bool) -> None:
    """Puts the figures of a document into its file, in the place of those of the same length.

    Those of a part of a document take the place of those of the same scenarios.
    """
    document, engine = told["document"], told["engine"]
    path = path_of(document, engine)
    path.parent.mkdir(exist_ok=True)
    before, length = read(document, engine), told["length"]
    kept = {} if is_whole else before.get(length, {})
    lengths = {**before, length: dict(sorted({**kept, **collected(told)}.items()))}
    path.write_text(written(lengths), encoding="utf-8")


def collected(told: Mapping[str, Any]) -> ByScenario:
    """The differences that have a reason in a document's JSON, by scenario."""
    found: dict[str, dict[str, Expected]] = {}
    for one in _compared(told):
        own = found.setdefault(one["scenario"], {})
        if one["mark"] == Mark.UNEXPLAINED:
            continue
        differs = one["differs"] or []
        for figure in differs if isinstance(differs, list) else [differs]:
            own[figure["name"]] = Expected(figure["mean"], figure["half_width"] or 0)
    return {scenario: dict(sorted(own.items())) for scenario, own in sorted(found.items())}


def _compared(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Cells and statements of what was run."""
    for item in told["items"]:
        cells = [cell for row in item["rows"] for cell in row if isinstance(cell, dict)]
        yield from (one for one in [*cells, *item["says"]] if one["mark"] not in _NOT_RUN)


if __name__ == "__main__":
    main()
