"""Routes, rules and MPTCP endpoints are made again when an interface goes and comes back."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording

pytestmark = needs_mptcp

LOOK = json.dumps(
    [
        "sh",
        "-c",
        "ip -4 -o address show dev b; ip -4 rule; "
        "ip -4 route show table all | grep -w b; ip mptcp endpoint; true",
    ]
)
TRAFFIC = f"""\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 6 s, via: a}}
  - command: {{name: before, on: client, start: 1 s, run: {LOOK}}}
  - command: {{name: without, on: client, start: 3 s, run: {LOOK}}}
  - command: {{name: after, on: client, start: 5 s, run: {LOOK}}}
"""
ADDRESS = "10.0.2.1"


@pytest.mark.parametrize("subject", ["interface: client.b", "carrier: b"])
def test_what_belongs_to_an_interface_goes_and_comes_with_it(tmp_path: Path, subject: str) -> None:
    events = f"""\
events:
  - {{at: 2 s, {subject}, up: false}}
  - {{at: 4 s, {subject}, up: true}}
"""
    scenario = two_paths(tmp_path, "returning", TRAFFIC + events + MPTCP)
    ended = run(["run", scenario, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")

    outputs = recording.scan("outputs").collect()
    assert outputs.filter(pl.col("stream") == "stderr")["text"].to_list() == []
    seen = {
        name: outputs.filter(pl.col("traffic") == name)["text"].to_list()
        for name in ("before", "without", "after")
    }
    assert sum(ADDRESS in line for line in seen["before"]) >= 4, "address, rule, route, endpoint"
    assert [line for line in seen["without"] if ADDRESS in line] == []
    assert sorted(map(without_numbers, seen["after"])) == sorted(
        map(without_numbers, seen["before"])
    )

    happened = recording.scan("events").collect().filter(pl.col("subject") == "client.b")
    addresses = happened.filter(pl.col("kind") == "address").sort("t_ns")
    assert addresses["label"].to_list()[-2:] == [f"{ADDRESS} has gone", f"{ADDRESS} is usable"]
    gone_ns, usable_ns = addresses["t_ns"].to_list()[-2:]
    assert 2_000_000_000 <= gone_ns < usable_ns
    assert usable_ns >= 4_000_000_000


def test_events_of_one_moment_happen_before_what_they_lead_to(tmp_path: Path) -> None:
    events = "".join(f"  - {{at: 1 s, carrier: {link}, up: false}}\n" for link in "ab")
    traffic = "traffic: [{bulk: {from: client, to: server, duration: 2 s}}]\nevents:\n"
    scenario = two_paths(tmp_path, "together", traffic + events + MPTCP)
    run(["run", scenario, "--out", "out"], tmp_path)
    happened = Recording.open(tmp_path / "out/mptcp/1").frame("events").to_dicts()
    later = [row for row in happened if row["t_ns"] >= 1_000_000_000][:6]
    assert [(row["kind"], row["subject"]) for row in later[:2]] == [("link", "a"), ("link", "b")]
    assert sorted(row["label"] for row in later[2:]) == [
        "10.0.1.1 has gone",
        "10.0.1.2 has gone",
        "10.0.2.1 has gone",
        "10.0.2.2 has gone",
    ]


def without_numbers(line: str) -> str:
    """A line of `ip` without what may change: the priority of a rule, an endpoint's id, `fullmesh`.

    Where a join takes long, the manager's next try changes the last one.
    """
    words = [word for word in line.split() if word != "fullmesh"]
    if "id" in words:
        place = words.index("id")
        del words[place : place + 2]
    return " ".join(words)
