"""The steps of a probe are those of an agent, whose crate is compared with the same file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mptcplab.measure.plan import Step, loads, most_bytes, steps

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("steps.jsonl").read_text(encoding="utf-8").splitlines()
]


def rows(planned: list[Step], paths: int) -> list[str]:
    """The steps as the file has them, sorted: their order is each program's own."""
    found: list[list[Any]] = [
        [one.kind, one.repetition, one.path, one.direction, one.size_bytes, one.most_bytes(paths)]
        for one in planned
    ]
    return sorted(map(json.dumps, found))


@pytest.mark.parametrize("one", ROWS, ids=range(len(ROWS)))
def test_the_steps_are_those_of_the_agent(one: dict[str, Any]) -> None:
    paths = one["paths"]
    planned = steps(paths, one["sizes"], one["repeat"], one["seed"], fast_open=one["fast_open"])
    assert rows(planned, paths) == sorted(map(json.dumps, one["steps"]))
    assert most_bytes(planned, paths) == one["most_bytes"]
    loading = loads(paths, one["left_bytes"])
    assert rows(loading, paths) == sorted(map(json.dumps, one["loads"]))
