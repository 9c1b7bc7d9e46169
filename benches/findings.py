"""Whether the catalogue's findings hold on the simulator, and whether each that does not says why.

`python -m benches.findings DIR [SCENARIO…]` runs every scenario that the simulator can run, as
often and as long as its file says, and judges its findings; for the whole catalogue that takes some
fifteen minutes of a processor. `--most-payload "3.5 GB"` leaves out the scenarios whose transfers
may carry more than this in all, and names them: payload is what takes the time. The results stay in
DIR, and the same command goes on with them. Exit status 1 if a finding fails without a note, or
cannot be judged because a figure is not known, and if there was none to judge. One whose difference
may be chance is told of, and fails nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import mptcplab
from mptcplab.engine.choice import SIM, EngineName, refusals
from mptcplab.engine.job import Job, NullProgress
from mptcplab.interruption import Interruption
from mptcplab.metrics import Verdict, compare, judge
from mptcplab.recording import Recording, Result, Status
from mptcplab.recording.manifest import MANIFEST
from mptcplab.scenario import Scenario, load
from mptcplab.scenario.units import parse_size
from mptcplab.session import Choice, Prepared, Settings, carry_out, describe, jobs, prepare

from .payload import may_carry_more

_DOUBT = ("chance", "less than 1 % apart")
"""Words of reasons for which a difference is not told from none."""

HELD, CHANCE, EXPLAINED, FAILED, UNKNOWN = "holds", "chance", "explained", "FAILS", "UNKNOWN"


@dataclass(frozen=True)
class Part:
    """A scenario with findings, prepared for the simulator."""

    scenario: Scenario
    prepared: Prepared

    @property
    def choice(self) -> Choice:
        """The variants that the simulator can run, and how often."""
        return self.prepared.choices[SIM]


def main() -> None:
    """Runs and judges the scenarios."""
    own = _arguments()
    chosen = list(parts(own.scenario or [entry.name for entry in mptcplab.catalogue()]))
    if own.most_payload is not None:
        chosen = _within(chosen, own.most_payload)
    results = [_opened(part, own.out) for part in chosen]
    failures = _run(chosen, results)
    counts: Counter[str] = Counter()
    for part, result in zip(chosen, results, strict=True):
        for verdict in verdicts(part, result):
            kind = kind_of(verdict)
            counts[kind] += 1
            if kind != HELD:
                sides = _sides(verdict)
                print(f"{part.scenario.name}: {kind}: {verdict.text}: {sides}", flush=True)
    told = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    print(told or "no finding was judged")
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures or not counts or counts[FAILED] or counts[UNKNOWN]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.findings")
    parser.add_argument("out", type=Path)
    parser.add_argument("scenario", nargs="*")
    parser.add_argument("--most-payload", type=parse_size, metavar="SIZE")
    return parser.parse_args()


def parts(names: Sequence[str]) -> Iterator[Part]:
    """The scenarios of these names that have findings and variants for the simulator."""
    for scenario in map(load, names):
        variants = tuple(v for v in scenario.variants if not refusals(SIM, scenario, [v]))
        if scenario.expect and variants:
            settings = Settings(engine=EngineName.SIM, variants=variants)
            yield Part(scenario, prepare(scenario, settings))


def _within(chosen: Sequence[Part], limit_bytes: int) -> list[Part]:
    """The parts whose transfers carry no more than this; tells of the others."""
    large = [
        part.scenario.name
        for part in chosen
        if may_carry_more(part.scenario, part.choice, limit_bytes)
    ]
    print(f"left out, {len(large)} of {len(chosen)} scenarios: {', '.join(large)}", flush=True)
    return [part for part in chosen if part.scenario.name not in large]


def _opened(part: Part, out: Path) -> Result:
    """The result of a part, made or opened."""
    folder = out / part.scenario.name.replace("/", "-")
    described = describe(part.prepared, part.choice, SIM, sys.argv)
    if not folder.exists():
        return Result.create(folder, described)
    result = Result.open(folder)
    if result.description.scenario != described.scenario:
        sys.exit(f"{folder}: was made of another {part.scenario.name}: choose another folder")
    return result


def _run(chosen: Sequence[Part], results: Sequence[Result]) -> list[str]:
    """Runs what is not there yet, all side by side; gives what went wrong."""
    left: list[Job] = []
    for part, result in zip(chosen, results, strict=True):
        planned = jobs(part.scenario, part.choice, result, captures=False)
        left += [job for job in planned if not _is_complete(job.folder)]
    if not left:
        return []
    return carry_out(
        SIM,
        left,
        "findings",
        None,
        followed=lambda *_: nullcontext(NullProgress()),
        interruption=Interruption(),
    )


def _is_complete(folder: Path) -> bool:
    """Whether a recording is whole; removes it where it is not."""
    is_there = (folder / MANIFEST).is_file()
    if is_there and Recording.open(folder).manifest.status is Status.COMPLETE:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def verdicts(part: Part, result: Result) -> list[Verdict]:
    """The findings of a scenario, on the variants that the simulator can run."""
    told = result.description.scenario
    judged = judge(told.expect, compare(result), told.notes)
    left_out = set(part.scenario.variants) - set(part.choice.variants)
    return [one for one in judged if not any(f"{own}." in one.text for own in left_out)]


def kind_of(verdict: Verdict) -> str:
    """How a finding came out."""
    if verdict.held:
        return HELD
    if verdict.note:
        return EXPLAINED
    if verdict.held is None:
        return CHANCE if verdict.reason and any(w in verdict.reason for w in _DOUBT) else UNKNOWN
    return FAILED


def _sides(verdict: Verdict) -> str:
    sides = [f"{one.left} {one.sign} {one.right}" for one in verdict.sides]
    return verdict.reason or "; ".join(sides)


if __name__ == "__main__":
    main()
