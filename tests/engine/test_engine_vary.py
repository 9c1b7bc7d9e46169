"""Draws of a repetition by its seed."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.engine.launch import run as run_command
from tests.engine.system import needs_mptcp
from tests.engine.worlds import two_paths

from mptcplab.engine import run
from mptcplab.engine.compile import compile_plan
from mptcplab.engine.vary import start_delay_ns
from mptcplab.recording import Recording, Result
from mptcplab.recording.tables import TABLES
from mptcplab.scenario import Scenario, load

MS = 1_000_000
PLAIN = """\
traffic:
  - bulk: {from: client, to: server, duration: 300 ms}
  - ping: {from: client, to: server, start: 100 ms, count: 2}
variants:
  tcp: {protocol: tcp, via: a}
  mptcp: {protocol: mptcp}
repetitions: 2
"""
VARIED = PLAIN + "vary: {start: 50 ms}\n"


def scenario(folder: Path, rest: str) -> Scenario:
    return load(two_paths(folder, "varied", rest))


def starts_ns(made: Scenario, variant: str, seed: int) -> list[int]:
    return [item.start_ns for item in compile_plan(made, variant, seed).traffic]


def rows_hash(recording: Recording) -> str:
    digest = hashlib.sha256()
    for name in TABLES:
        digest.update(recording.frame(name).write_ndjson().encode())
    return digest.hexdigest()


def test_delays_are_uniform_and_of_seed_and_name_alone() -> None:
    drawn = [start_delay_ns(seed, "bulk", 50 * MS) for seed in range(1000)]
    assert min(drawn) >= 0
    assert max(drawn) <= 50 * MS
    tenths = [sum(5 * MS * n <= one < 5 * MS * (n + 1) for one in drawn) for n in range(10)]
    assert all(80 <= count <= 120 for count in tenths), tenths
    assert {start_delay_ns(seed, "bulk", 1) for seed in range(20)} == {0, 1}
    assert start_delay_ns(1, "bulk", 0) == 0
    assert start_delay_ns(1, "bulk", 50 * MS) == 486_354
    assert start_delay_ns(1, "ping", 50 * MS) != start_delay_ns(1, "bulk", 50 * MS)


def test_starts_are_drawn_after_their_own_and_are_the_same_in_all_variants(tmp_path: Path) -> None:
    varied, plain = scenario(tmp_path, VARIED), scenario(tmp_path / "plain", PLAIN)
    assert starts_ns(plain, "tcp", 1) == starts_ns(plain, "tcp", 2) == [0, 100 * MS]
    for seed in (1, 2):
        bulk, ping = (start_delay_ns(seed, name, 50 * MS) for name in ("bulk", "ping"))
        for variant in ("tcp", "mptcp"):
            assert starts_ns(varied, variant, seed) == [bulk, 100 * MS + ping]
    assert starts_ns(varied, "tcp", 1) != starts_ns(varied, "tcp", 2)
    limits = [compile_plan(made, "tcp", 1).time_limit_ns for made in (varied, plain)]
    assert limits[0] == limits[1] + 50 * MS


def test_a_seed_gives_the_same_rows_again_and_another_another_start(tmp_path: Path) -> None:
    made = scenario(tmp_path / "scenario", VARIED)
    first, again, other = (
        run(made, "mptcp", tmp_path / str(number), seed=seed, engine="sim")
        for number, seed in enumerate((1, 1, 2))
    )
    assert rows_hash(first) == rows_hash(again)
    for recording, seed in ((first, 1), (other, 2)):
        began = recording.frame("transfers")["start_ns"].to_list()
        assert began == starts_ns(made, "mptcp", seed)[:1]


@needs_mptcp
def test_both_engines_draw_the_same(tmp_path: Path) -> None:
    made = scenario(tmp_path, VARIED)
    manifests = [
        run(made, "tcp", tmp_path / engine, seed=7, engine=engine).manifest
        for engine in ("kernel", "sim")
    ]
    for manifest in manifests:
        traffic = json.loads(manifest.model_dump_json())["plan"]["traffic"]
        assert [item["start_ns"] for item in traffic] == starts_ns(made, "tcp", 7)
        assert manifest.settings["vary_start_ns"] == 50 * MS


ECHOES = "  - ping: {from: client, to: server, start: 100 ms, count: 2}\n"
ALONE = PLAIN.replace("bulk: {", "datagrams: {rate: 1 Mbit/s, ").replace(ECHOES, "")
SECOND = "  - datagrams: {rate: 1 Mbit/s, from: client, to: server, duration: 100 ms}\n"
DATAGRAMS = ALONE.replace("variants:", f"{SECOND}variants:")
SAME = (
    "all 2 repetitions are one run: nothing in the scenario is left to chance, so there is nothing "
    "to repeat"
)


@pytest.mark.parametrize(
    ("rest", "option", "sentence"),
    [
        (PLAIN, [], None),
        (PLAIN, ["--vary", "start=20ms"], None),
        (DATAGRAMS, [], f"{SAME}; --vary start=50ms draws when traffic starts"),
        (ALONE, [], SAME),
    ],
)
def test_the_report_says_what_there_is_to_repeat(
    tmp_path: Path, rest: str, option: list[str], sentence: str | None
) -> None:
    file = two_paths(tmp_path, "plain", rest)
    words: list[str | Path] = ["run", file, "--engine", "sim", "--json", "--out", "out", *option]
    ended = run_command(words, tmp_path)
    assert ended.returncode == 0, ended.stderr
    for variant in json.loads(ended.stdout)["variants"]:
        same = [one for one in variant["warnings"] if one.startswith("all 2 repetitions")]
        goodput = variant["goodput_mbps"]
        assert same == ([] if sentence is None else [sentence])
        assert len(goodput["samples"]) == 2
        assert (goodput["ci95"] is None) == (sentence is not None)
    recordings = Result.open(tmp_path / "out").recordings("mptcp")
    limits = {one.manifest.settings.get("vary_start_ns") for one in recordings}
    assert limits == ({20 * MS} if option else {None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stop=1s", "--vary: 'stop=1s': write start=TIME, such as start=50ms"),
        ("50ms", "--vary: '50ms': write start=TIME, such as start=50ms"),
        ("start=50", '--vary start: a time needs a unit: did you mean "50 ms"?'),
    ],
)
def test_a_mistake_in_the_option_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = two_paths(tmp_path, "plain", PLAIN)
    ended = run_command(["run", file, "--engine", "sim", "--vary", text], tmp_path)
    assert (ended.returncode, ended.stderr.strip()) == (1, message)
    assert not (tmp_path / "out").exists()
