"""The function of a policy in Python: what it is given, and its errors."""

from __future__ import annotations

import pytest

from mptcplab.policy import function as module
from mptcplab.policy.function import (
    REFUSED,
    WAITS,
    ConnectionTuple,
    FlowTuple,
    PathTuple,
    PolicyFunction,
    load_policy,
)
from mptcplab.policy.source import PolicyError, PolicyName

FLOW: FlowTuple = ("10.0.1.1", "10.0.1.3", 6, 5000, 80)
OTHER: FlowTuple = ("10.0.1.2", "10.0.1.4", 6, 5001, 80)
DIRECT: PathTuple = ([(1, 3, 2, 3)], 10_000_000, 5_000_000, 0, 2_000_000, 2, 1)
ROUND: PathTuple = ([(1, 4, 3, 1), (3, 2, 2, 4)], None, None, 7, 0, 0, 0)
FIRST: ConnectionTuple = (FLOW, True, None, 0, [], 9)
JOINED: ConnectionTuple = (FLOW, True, 500_000, 1000, [(FLOW, DIRECT[0])], 9)
HEAD = "from mptcplab.policy import WAIT\n\n"


def asked(
    body: str, connection: ConnectionTuple = FIRST, paths: tuple[PathTuple, ...] = (DIRECT, ROUND)
) -> int:
    """The answer of a function of this body."""
    source = f"{HEAD}def choose(connection, subflow, paths):\n    {body}\n"
    choose = load_policy("own.py:choose", source)
    return choose(connection, (OTHER, False), list(paths), [DIRECT])


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("return paths.disjoint[0]", 0),
        ("return paths.disjoint[1]", 1),
        ("return paths.equal_cost[0]", 0),
        ("return paths.unused(connection)[0]", 1),
        ("return None", REFUSED),
        ("return WAIT", WAITS),
    ],
)
def test_an_answer_is_a_path_or_a_refusal(body: str, answer: int) -> None:
    assert asked(body, JOINED) == answer


@pytest.mark.parametrize(
    "said",
    [
        "connection.flow.source == '10.0.1.1' and connection.flow.destination_port == 80",
        "connection.size_bytes == 500_000 and connection.carried_bytes == 1000",
        "connection.is_multipath and connection.seed == 9",
        "len(connection.subflows) == 1 and connection.subflows[0].flow == connection.flow",
        "connection.subflows[0].links == paths.disjoint[0].links",
        "subflow.flow.source == '10.0.1.2' and subflow.links is None and not subflow.is_moved",
        "paths.disjoint[0].bandwidth_bps == 10_000_000 and paths.disjoint[1].delay_ns is None",
        "(paths.disjoint[0].load_bps, paths.disjoint[0].subflows) == (2_000_000, 2)",
        "paths.disjoint[1].queueing_ns == 7 and paths.disjoint[0].new_subflows == 1",
        "paths.disjoint[1].links[1].sender.switch == 3",
        "paths.disjoint[1].links[1].receiver.number == 4",
    ],
)
def test_it_is_told_what_the_controller_knows(said: str) -> None:
    assert asked(f"return paths.disjoint[0] if {said} else None", JOINED) == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 // 0", "own.py:4: ZeroDivisionError: integer division or modulo by zero, when"),
        ("raise SystemExit", "own.py:4: SystemExit, when choose was asked for the path of the sub"),
        ("return 'direct'", "own.py:3: choose answered with an object of type str: answer with"),
        ("return paths", "own.py:3: choose answered with an object of type Paths: answer with"),
        (
            "import dataclasses; return dataclasses.replace(paths.disjoint[0], links=())",
            "own.py:3: choose answered with a path that it was not offered: answer with one of",
        ),
        ("import nothing.such", "own.py:4: ModuleNotFoundError: No module named 'nothing', when"),
        ("connection.seed = 1", "own.py:4: FrozenInstanceError: cannot assign to field 'seed'"),
        ("return choose(connection, subflow, paths)", "own.py:4: RecursionError: "),
    ],
)
def test_an_error_names_the_line_and_the_fix(body: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        asked(body)
    assert str(caught.value).startswith(message)
    assert any(fix in str(caught.value) for fix in ("correct it", "with None to refuse"))


def test_a_message_is_one_line_that_a_terminal_can_show() -> None:
    with pytest.raises(PolicyError) as caught:
        asked(r"raise ValueError('\x1b[2J\n' + 'x' * 10_000)")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


# Both end some time, lest they keep the processor busy beside the tests that follow.
BUSY = "from time import monotonic as now; end = now() + 5; all(iter(lambda: now() < end, False))"


@pytest.mark.parametrize("body", [BUSY, "import time; time.sleep(60)"])
def test_a_call_that_does_not_end_is_an_error(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_CALL_S", 1)
    with pytest.raises(PolicyError, match=r"own\.py:4: no answer within 1 s, when choose was"):
        asked(body)


def test_what_it_prints_does_not_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("print('seen'); return paths.disjoint[0]") == 0
    assert capsys.readouterr() == ("", "seen\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("choose = 1\n", "own.py:1: choose is no function: add `def choose(connection, subflow,"),
        ("def choose(a): ...\n", "own.py:1: choose does not take three arguments: write `def"),
        ("\nx = 1 / 0\nchoose = print\n", "own.py:2: ZeroDivisionError: division by zero, when"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told(source: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy("own.py:choose", source)
    assert str(caught.value).startswith(message)


def test_each_run_begins_with_the_file_anew() -> None:
    source = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n\n"
        "@dataclass\nclass Count:\n    calls: int = 0\n\n"
        "count = Count()\n\n"
        "def choose(connection, subflow, paths):\n"
        "    count.calls += 1\n"
        "    return paths.disjoint[count.calls - 1]\n"
    )
    name = PolicyName("own.py", "choose")
    for _ in range(2):
        choose = PolicyFunction(name, source)
        told = FIRST, (OTHER, False), [DIRECT, ROUND], [DIRECT]
        assert [choose(*told), choose(*told)] == [0, 1]
