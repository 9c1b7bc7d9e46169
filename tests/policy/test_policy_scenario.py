"""Policies in Python in a scenario: simulated, refused, part of what a run is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.launch import run as command
from tests.engine.test_engine_sim import rows_hash
from tests.policy.worlds import SWITCHED, switched

from mptcplab.engine import EngineError, run
from mptcplab.engine.compile import compile_plan
from mptcplab.recording import Recording, Status
from mptcplab.scenario import ScenarioError, loads, with_overrides

CHOOSE = "def choose(connection, subflow, paths):\n"
DISJOINT = (
    CHOOSE + "    def uses(path):\n"
    "        return sum(one.links == path.links for one in connection.subflows)\n\n"
    "    return min(paths.disjoint, key=uses)\n"
)
ALONE = CHOOSE + "    return paths.disjoint[1] if not connection.subflows else None\n"


def placed(recording: Recording) -> list[str]:
    """The decisions of the controller about TCP, in their order."""
    events = recording.frame("events").filter(kind="controller")
    return [row["label"] for row in events.sort("t_ns").to_dicts() if ":" in row["subject"]]


def test_it_does_what_the_same_policy_of_the_controller_does(tmp_path: Path) -> None:
    scenario = switched(tmp_path, DISJOINT)
    theirs = with_overrides(scenario, {"controller": "disjoint"})
    own = run(scenario, "mptcp", tmp_path / "own", engine="sim")
    again = run(scenario, "mptcp", tmp_path / "again", engine="sim")
    builtin = run(theirs, "mptcp", tmp_path / "theirs", engine="sim")
    assert rows_hash(own) == rows_hash(builtin) == rows_hash(again)


def test_it_refuses_subflows_and_chooses_the_path_of_the_first(tmp_path: Path) -> None:
    recording = run(switched(tmp_path, ALONE), "mptcp", tmp_path / "out", engine="sim")
    decisions = placed(recording)
    assert decisions[0] == "over wide"
    assert set(decisions[1:]) == {"refused"}


def test_a_subflow_that_waits_is_placed_when_its_connection_has_carried_enough(
    tmp_path: Path,
) -> None:
    policy = (
        "from mptcplab.policy import WAIT\n\n" + CHOOSE + "    if not connection.subflows:\n"
        "        return paths.disjoint[1]\n"
        "    free = paths.unused(connection)\n"
        "    return free[0] if free and connection.carried_bytes > 200_000 else WAIT\n"
    )
    scenario = switched(tmp_path, policy, SWITCHED.replace("100 kB", "2 MB"))
    decisions = placed(run(scenario, "mptcp", tmp_path / "out", engine="sim"))
    assert decisions[0] == "over wide"
    assert decisions.index("waits") < decisions.index("over narrow")


@pytest.mark.parametrize("body", ["return 1 / 0", "return 3", "return paths.disjoint[9]"])
def test_what_is_wrong_with_it_ends_the_run_with_its_line(tmp_path: Path, body: str) -> None:
    scenario = switched(tmp_path, f"{CHOOSE}    {body}\n")
    with pytest.raises(EngineError, match=r"own\.py:[12]: .*choose"):
        run(scenario, "mptcp", tmp_path / "out", engine="sim")
    assert Recording.open(tmp_path / "out").manifest.status == Status.FAILED


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("own.py", 'controller: "own.py": say which function of the file: own.py:choose'),
        ("own.py:2", 'controller: "own.py:2": no function of Python has the name after the co'),
        ("no.py:choose", "controller: no.py: cannot be read (No such file or directory)"),
        ("own.py:chose", "controller: own.py:1: defines no chose: add `def chose(connection, sub"),
        ("bad.py:choose", "controller: bad.py:2: is no Python 3."),
        ("nul.py:choose", "controller: nul.py:1: is no Python 3."),
        ("disjiont", 'controller: "disjiont": there is no such policy: did you mean "disjoint"?'),
    ],
)
def test_mistakes_are_told_with_the_place(tmp_path: Path, policy: str, message: str) -> None:
    (tmp_path / "own.py").write_text(DISJOINT)
    (tmp_path / "bad.py").write_text("x = 1\ndef choose(:\n")
    (tmp_path / "nul.py").write_text("x = 1\0\n")
    with pytest.raises(ScenarioError) as caught:
        loads(SWITCHED.replace("own.py:choose", policy), "x.yaml", tmp_path)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"x.yaml:6: {message}")


def test_the_check_of_a_scenario_does_not_execute_it(tmp_path: Path) -> None:
    switched(tmp_path, f"open({str(tmp_path / 'executed')!r}, 'w')\n{DISJOINT}")
    assert not (tmp_path / "executed").exists()


def test_its_text_is_part_of_the_plan(tmp_path: Path) -> None:
    scenario = switched(tmp_path, DISJOINT)
    before = compile_plan(scenario, "mptcp", seed=1)
    assert before.controller is not None
    assert before.controller.policy_source == DISJOINT
    (tmp_path / "own.py").write_text(ALONE)
    assert compile_plan(scenario, "mptcp", seed=1) != before


def test_a_sweep_does_not_go_on_with_another_text_of_it(tmp_path: Path) -> None:
    axis = 'sweep: {axes: {controller: [disjoint, "own.py:choose"]}}\n'
    switched(tmp_path, DISJOINT, SWITCHED + axis)
    words = ["sweep", "switched.yaml", "--engine", "sim", "--out", "out"]
    assert command(words, tmp_path).returncode == 0
    same = command(words, tmp_path)
    assert "2 found, 0 done" in same.stderr
    (tmp_path / "own.py").write_text(ALONE)
    other = command(words, tmp_path)
    assert other.returncode == 1
    assert "the file of a policy has changed since: choose another folder" in other.stderr
