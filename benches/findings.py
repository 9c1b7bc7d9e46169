"""Whether the catalogue's findings hold on the simulator, and whether each that does not says why.

`python -m benches.findings DIR [SCENARIO…]` runs every scenario that the simulator can run, as
often and as long as its file says, and judges its findings. The results stay in DIR; what is there
is not run again. Exit status 1 if a finding fails without a note, or cannot be judged because a
figure is not known. One whose difference may be chance is told of, and fails nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import mptcplab
from mptcplab.engine.choice import SIM, refusals
from mptcplab.metrics import Verdict, compare, judge
from mptcplab.scenario import load

_DOUBT = ("chance", "less than 1 % apart")
"""Words of reasons for which a difference is not told from none."""

HELD, CHANCE, EXPLAINED, FAILED, UNKNOWN = "holds", "chance", "explained", "FAILS", "UNKNOWN"


def main() -> None:
    """Runs and judges the scenarios."""
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    counts: Counter[str] = Counter()
    for name in names or [entry.name for entry in mptcplab.catalogue()]:
        for verdict in verdicts(name, folder / name.replace("/", "-")):
            kind = kind_of(verdict)
            counts[kind] += 1
            if kind != HELD:
                print(f"{name}: {kind}: {verdict.text}: {_sides(verdict)}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(bool(counts[FAILED] or counts[UNKNOWN]))


def verdicts(name: str, out: Path) -> list[Verdict]:
    """The findings of a scenario, on the variants that the simulator can run."""
    scenario = load(name)
    variants = [name for name in scenario.variants if not refusals(SIM, scenario, [name])]
    if not scenario.expect or not variants:
        return []
    result = (
        mptcplab.open(out)
        if out.is_dir()
        else mptcplab.run(name, engine="sim", variants=variants, out=out, progress=False)
    )
    told = result.description.scenario
    judged = judge(told.expect, compare(result), told.notes)
    left_out = set(scenario.variants) - set(variants)
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
