"""The account at the end: every result once, or counted as dropped."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..api import Api
from .programs import Fleet
from .witness import Witness

_EXPERIMENT = re.compile(r": (?:complete|partial|failed|skipped), [0-9]+ bytes used")
_LOST = re.compile(r"its result, or what is kept of it, is dropped")


@dataclass(frozen=True)
class Checked:
    """The account."""

    results: int
    dropped: int
    dropped_and_here: int
    """Of these the ones that had arrived, as far as numbers tell: their answers were lost."""
    outcomes: Counter[str]
    wrong: list[str]
    """Sentences; none of them where the account is exact."""


def check(api: Api, fleet: Fleet, witness: Witness) -> Checked:
    """Compares the server's account with the agents', their disks, and their logs."""
    wrong: list[str] = []
    known: dict[str, str] = {}
    outcomes: Counter[str] = Counter()
    dropped, both = 0, 0
    agents = {one["name"]: one for one in api.told("GET", "/api/v1/agents")["agents"]}
    for number, program in enumerate(fleet.agents):
        told = agents[program.name]
        found = _results(api, told["id"])
        known |= {one["id"]: one["sha256"] for one in found}
        outcomes.update(one["outcome"] for one in found)
        own_dropped = sum(told["contact"]["dropped"].values())
        dropped += own_dropped
        both += len(found) + own_dropped - told["contact"]["next_sequence"]
        wrong += [
            f"{program.name}: {text}"
            for text in (
                *_numbers(told, [one["sequence"] for one in found], own_dropped),
                *_lost(witness, number, known, own_dropped),
                *_logged(program.log, len(found) + own_dropped),
            )
        ]
    wrong += [
        f"result {own} has other bytes than on its agent's disk"
        for own, seen in witness.seen.items()
        if known.get(own, seen.sha256) != seen.sha256
    ]
    log = fleet.server.log.read_text()
    if "Traceback" in log:
        wrong.append(f"the server has failed: {log[log.index('Traceback') :][:2_000]}")
    fleet.server.kill()
    wrong += _damages(fleet)
    return Checked(len(known), dropped, both, outcomes, wrong)


def _results(api: Api, agent: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    since = 0
    while True:
        told = api.told("GET", f"/api/v1/results?agent={agent}&since={since}&limit=1000")
        if not told["results"]:
            return found
        found += told["results"]
        since = told["next"]


def _numbers(told: dict[str, Any], sequences: list[int], dropped: int) -> list[str]:
    """The agent's own account beside the numbers that are here.

    A result whose answer was lost may be dropped although it is here: it counts for both.
    """
    wrong = []
    contact = told["contact"]
    twice = [number for number, count in Counter(sequences).items() if count > 1]
    if twice:
        wrong.append(f"numbers of several results: {twice}")
    kept = contact["spooled"] + (contact["quarantined_count"] or 0)
    if len(set(sequences)) + kept + dropped < contact["next_sequence"]:
        wrong.append(
            f"{contact['next_sequence']} results, of which {len(set(sequences))} are here, "
            f"{kept} with it, {dropped} dropped"
        )
    if kept:
        wrong.append(f"{contact['spooled']} not sent, refused: {contact['quarantined']}")
    if told["missing"]:
        wrong.append(f"the server misses {told['missing']}")
    return wrong


def _lost(witness: Witness, agent: int, known: dict[str, str], dropped: int) -> list[str]:
    """Results that were on its disk, and are neither here nor counted."""
    own = [seen for seen in witness.seen.values() if seen.agent == agent]
    gone = [seen.sequence for seen in own if seen.own not in known]
    return [] if len(gone) <= dropped else [f"lost, of which {dropped} are counted: {gone}"]


def _logged(log: Path, accounted: int) -> list[str]:
    """Experiments whose results were on the disk before the agent told of them."""
    text = log.read_text()
    told = len(_EXPERIMENT.findall(text))
    return [] if told <= accounted else [f"told of {told} results, of which {accounted} are known"]


def _damages(fleet: Fleet) -> list[str]:
    """Of the database that a server leaves behind which was killed."""
    # SQLite would follow the way into the room by its name.
    copy = fleet.folder / "server.db"
    for ending in ("", "-wal"):
        kept = fleet.room.outside(f"server/state/server.db{ending}")
        if kept.exists():
            copy.with_name(copy.name + ending).write_bytes(kept.read_bytes())
    opened = sqlite3.connect(copy)
    try:
        (state,) = opened.execute("PRAGMA integrity_check").fetchone()
        (loose,) = opened.execute(
            "SELECT count(*) FROM results WHERE number NOT IN (SELECT result FROM contents)"
        ).fetchone()
    finally:
        opened.close()
    told = [] if state == "ok" else [f"the database is damaged: {state}"]
    return told + ([f"{loose} results without their bytes"] if loose else [])
