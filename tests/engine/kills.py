"""Kills many runs at random moments, inside a cell, and tells as JSON what they left behind.

Started by `test_engine_kills.py` as `kills.py FOLDER SEED KILLS`, alone with its runs in its own
process, mount and network namespaces: whatever is found afterwards is theirs.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.engine.launch import COMMAND, MARK, environment
from tests.engine.leftovers import damaged_files, files_of, open_statuses, pinned_namespaces
from tests.engine.system import has_mark, network_state
from tests.engine.worlds import MPTCP, two_paths

AT_ONCE = 7
TICK_S = 0.02
ROLES = ("command line", "lab", "first process", "program")
"""The CLI; the lab's outer process; PID 1 of its namespace; an FTP server, a client, a command."""
LONGEST_WAIT_S = {"command line": 4.0, "lab": 2.5, "first process": 2.5, "program": 2.0}
"""Of the random time between a process's start and its end by SIGKILL."""
FINISHED_EVERY = 13
"""Of so many runs one may tell its user what happened; of the others the CLI is killed as well."""
CLEAN_UP_S = 30.0
ORPHAN_S = 60.0
"""Linux keeps a killed program's MPTCP connection so long (`TCP_TIMEWAIT_LEN`) if one of its
subflows has received what did not fit into the connection's buffer: nothing ends it before."""

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 2 s}
  - ftp: {from: client, to: server, way: up, size: 4 MB}
  - command: {on: client, run: sleep 2, duration: 2 s}
"""


@dataclass(frozen=True)
class Seen:
    """A process of a run."""

    pid: int
    parent: int


class Attempt:
    """A run with the process that is to be killed."""

    def __init__(self, number: int, scenario: Path, chance: random.Random) -> None:
        self.mark = f"{MARK}={number}"
        self.result = scenario.parent / f"result-{number}"
        self.role = ROLES[number % len(ROLES)]
        self.wait_s = chance.uniform(0, LONGEST_WAIT_S[self.role])
        self.finishes = number % FINISHED_EVERY == 0
        self.command_line_after_s = chance.uniform(0, 1.0)
        self.due: float | None = None
        self.killed: str | None = None
        self.killed_at = 0.0
        self.stderr = ""
        name, value = self.mark.split("=")
        self.process = subprocess.Popen(
            [COMMAND, "run", scenario, "--capture", "--json", "--out", self.result.name],
            cwd=scenario.parent,
            env=environment(Path.home(), **{name: value}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def role_of(self, seen: Seen, all_seen: dict[int, Seen]) -> str:
        """The role of a process in the run."""
        if seen.pid == self.process.pid:
            return ROLES[0]
        if seen.parent == self.process.pid:
            return ROLES[1]
        parent = all_seen.get(seen.parent)
        return ROLES[2] if parent and parent.parent == self.process.pid else ROLES[3]

    def step(self, processes: list[Seen], chance: random.Random) -> None:
        """Kills what is due."""
        now = time.monotonic()
        all_seen = {seen.pid: seen for seen in processes}
        victims = [seen for seen in processes if self.role_of(seen, all_seen) == self.role]
        if self.due is None and victims:
            self.due = now + self.wait_s
        if self.killed is None and self.due is not None and now >= self.due and processes:
            victim = chance.choice(victims or processes)
            self.killed, self.killed_at = self.role_of(victim, all_seen), now
            kill(victim.pid)
        late = self.killed is not None and now >= self.killed_at + self.command_line_after_s
        if late and not self.finishes and self.process.poll() is None:
            kill(self.process.pid)

    def ended(self) -> bool:
        """Whether the command line has ended, in whatever way."""
        if self.process.poll() is None:
            return False
        if not self.stderr:
            self.stderr = self.process.communicate()[1] or " "
        return True


def kill(pid: int) -> None:
    """Kills a process of this namespace, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def look(marks: dict[int, str], attempts: list[Attempt]) -> dict[str, list[Seen]]:
    """The processes of each attempt; `marks` remembers which process belongs to which."""
    found: dict[str, list[Seen]] = {attempt.mark: [] for attempt in attempts}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        pid = int(folder.name)
        if pid not in marks:
            owners = [one.mark for one in attempts if has_mark(folder, one.mark)]
            marks.update((pid, mark) for mark in owners)
        if state not in "ZX" and marks.get(pid) in found:
            found[marks[pid]].append(Seen(pid, int(parent)))
    return found


def campaign(scenario: Path, seed: int, kills: int) -> tuple[list[Attempt], list[str]]:
    """Kills so many runs; also gives the runs whose processes did not all go."""
    chance = random.Random(seed)
    active: list[Attempt] = []
    done: list[Attempt] = []
    stuck: list[str] = []
    ended_at: dict[str, float] = {}
    marks: dict[int, str] = {}
    number = 0
    while sum(one.killed is not None for one in done) < kills:
        while len(active) < AT_ONCE:
            active.append(Attempt(number, scenario, chance))
            number += 1
        seen = look(marks, active)
        for attempt in list(active):
            left = seen[attempt.mark]
            attempt.step(left, chance)
            if not attempt.ended():
                continue
            overdue = time.monotonic() > ended_at.setdefault(attempt.mark, time.monotonic()) + (
                CLEAN_UP_S
            )
            if overdue:
                stuck.append(f"{attempt.mark} ({attempt.killed}): {left}")
            if overdue or not left:
                active.remove(attempt)
                done.append(attempt)
                for pid in [pid for pid, mark in marks.items() if mark == attempt.mark]:
                    del marks[pid]
        time.sleep(TICK_S)
    for attempt in active:
        attempt.process.kill()
        attempt.ended()
        attempt.process.wait()
    return done, stuck


def others() -> list[str]:
    """Processes beside this one and the first of the namespace."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in (1, os.getpid()):
            try:
                found.append((folder / "stat").read_text())
            except OSError:
                continue
    return found


def main(folder: Path, seed: int, kills: int) -> None:
    scenario = two_paths(folder, "killed", TRAFFIC + MPTCP)
    words: list[str | Path] = [COMMAND, "run", scenario, "--capture", "--out", folder / "whole"]
    whole = subprocess.run(
        words, cwd=folder, env=environment(Path.home()), capture_output=True, text=True
    )
    before = files_of(folder)
    network = network_state()

    attempts, stuck = campaign(scenario, seed, kills)

    deadline = time.monotonic() + CLEAN_UP_S
    while (left := others()) and time.monotonic() < deadline:
        time.sleep(TICK_S)
    results = [folder / f"result-{number}" for number in range(len(attempts) + AT_ONCE)]
    killed = [attempt for attempt in attempts if attempt.killed is not None]
    told = [one for one in killed if one.finishes and one.killed in ROLES[1:3]]
    report = {
        "whole": [whole.returncode, whole.stderr if whole.returncode else ""],
        "kills": {role: sum(one.killed == role for one in killed) for role in ROLES},
        "stuck": stuck,
        "processes": left,
        "namespaces": pinned_namespaces(ORPHAN_S + CLEAN_UP_S),
        "network_changed": network_state() != network,
        "files": sorted(
            str(file)
            for file in files_of(folder) - before
            if not any(file.is_relative_to(result) for result in results)
        ),
        "damaged": [line for result in results for line in damaged_files(result)],
        "statuses": open_statuses(results),
        "told": [
            [one.killed, one.process.returncode, one.stderr, open_statuses([one.result])]
            for one in told
        ],
        "tracebacks": [one.stderr for one in attempts if "Traceback" in one.stderr],
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
