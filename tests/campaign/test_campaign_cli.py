"""`mptcplab sweep`: what it runs, what it finds, and what it says."""

import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.launch import run

from mptcplab.campaign.report import repeating
from mptcplab.campaign.result import Sweep
from mptcplab.campaign.session import prepare_sweep, refused_workers
from mptcplab.cli import sweep as cli
from mptcplab.cli.commands.run import EngineOption
from mptcplab.cli.commands.sweep import sweep as command
from mptcplab.cli.errors import UserError
from mptcplab.cli.sweep import axis
from mptcplab.engine.choice import KERNEL, SIM, EngineName
from mptcplab.front import sweeps as front
from mptcplab.scenario import Scenario
from mptcplab.session import Prepared, Settings

SCENARIO = """\
name: two
title: Two paths
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms, loss: 5 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 5 ms}
traffic: [{http: {from: client, to: server, size: 200 kB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  tcp-b: {protocol: tcp, via: b}
  mptcp: {}
repetitions: 2
"""
DELAYS = ("--axis", "links.a.delay=1ms,20ms", "--axis", "links.b.rate=1Mbit/s..4Mbit/s:3:log")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    return tmp_path


def sweep(
    folder: Path, *words: str, scenario: str = "two.yaml"
) -> subprocess.CompletedProcess[str]:
    return run(["sweep", scenario, "--engine", "sim", *words], folder)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("links.a.delay=1 ms, 20ms", ["1 ms", "20ms"]),
        ("traffic.0.bulk.streams=1,2", [1, 2]),
        ("links.a.rate=1Mbit/s..1Gbit/s:4", {"from": "1Mbit/s", "to": "1Gbit/s", "count": 4}),
        (
            "links.a.rate=1Mbit/s..1Gbit/s:4:log",
            {"from": "1Mbit/s", "to": "1Gbit/s", "count": 4, "scale": "log"},
        ),
        ("hosts.client.mptcp.path_manager=[{ndiffports: 3}]", [{"ndiffports": 3}]),
    ],
)
def test_the_values_of_an_axis(text: str, made: object) -> None:
    assert axis(text) == (text.partition("=")[0], made)


@pytest.mark.parametrize("text", ["links.a.delay", "=1ms", "links.a.delay="])
def test_an_axis_without_path_or_values_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write PATH=VALUES"):
        axis(text)


def test_a_sweep_runs_every_point_once_and_reports(folder: Path) -> None:
    ended = sweep(folder, *DELAYS, "--out", "out")
    assert ended.returncode == 0, ended.stderr
    assert "out: 36 runs: 0 found, 36 done" in ended.stderr
    assert "links.b.rate: 1Mbit/s, 2 Mbit/s, 4Mbit/s" in ended.stdout
    assert "aggregation benefit" in ended.stdout
    before = {path: path.stat().st_mtime_ns for path in (folder / "out").rglob("*.parquet")}
    again = sweep(folder, *DELAYS, "--out", "out")
    assert "out: 36 runs: 36 found, 0 done" in again.stderr
    assert again.stdout == ended.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    made = Sweep.open(folder / "out")
    frame = made.frame("goodput", "completion_s")
    assert frame.height == 18
    assert frame["goodput"].null_count() == 0
    assert set(frame.filter(variant="tcp-a")["n"]) == {2}


def test_values_that_go_together_may_stand_there_again(folder: Path) -> None:
    axes = ("--axis", "links.a.rate=1Mbit/s,1Mbit/s,4Mbit/s", "--axis", "links.a.delay=1ms,9ms,9ms")
    words = ("--variant", "tcp-a", "--repeat", "1", "--out", "out")
    ended = sweep(folder, "--zip", *axes, *words)
    assert ended.returncode == 0, ended.stderr
    assert "out: 3 runs: 0 found, 3 done" in ended.stderr
    assert [tuple(point.values.values()) for point in Sweep.open(folder / "out")] == [
        ("1Mbit/s", "1ms"),
        ("1Mbit/s", "9ms"),
        ("4Mbit/s", "9ms"),
    ]


@pytest.mark.parametrize("engine", ["kernel", "auto"])
def test_several_workers_are_none_of_a_sweep_on_the_kernel(
    folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    def on_kernel(own: Scenario, settings: Settings, axes: object) -> Prepared:
        made = prepare_sweep(own, replace(settings, engine=EngineName.SIM), axes)
        return replace(made, choices={KERNEL: made.choices[SIM]})

    for module in (cli, front):
        monkeypatch.setattr(module, "prepare_sweep", on_kernel)
    file, out = folder / "two.yaml", folder / "out"
    words = (
        "workers{}2: a sweep on the kernel does one run after the other: leave it out, or choose "
    )
    with pytest.raises(UserError) as of_command:
        command(str(file), ["links.a.delay=1ms"], engine=EngineOption(engine), workers=2, out=out)
    assert str(of_command.value) == f"--{words.format(' ')}--engine sim"
    with pytest.raises(ValueError, match="workers") as of_call:
        front.sweep(file, {"links.a.delay": ["1 ms"]}, engine=engine, workers=2, out=out)
    assert str(of_call.value) == f'{words.format("=")}engine="sim"'
    assert not out.exists()


def test_one_worker_is_what_a_sweep_on_the_kernel_has() -> None:
    assert refused_workers(KERNEL, None) is refused_workers(KERNEL, 1) is None
    assert refused_workers(SIM, 2) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--axis", "links.a.delay=1ms,21ms"), "its axes have other values"),
        (("--axis", "links.b.delay=1ms,20ms"), "its axes are links.a.delay"),
        (
            ("--axis", "links.a.delay=1ms,20ms", "--seed", "3"),
            "the seed is 1 there and 3 here",
        ),
        (
            ("--axis", "links.a.delay=1ms,20ms", "--variant", "mptcp"),
            "the variants are tcp-a, tcp-b, mptcp there and mptcp here",
        ),
        (
            ("--axis", "links.a.delay=1ms,20ms", "--set", "links.b.rate=9 Mbit/s"),
            "links.b.rate is 10 Mbit/s there and 9 Mbit/s here",
        ),
        (("--axis", "links.a.delay=1ms,20ms", "--samples"), "samples are not kept there"),
    ],
)
def test_a_folder_of_another_sweep_is_refused(
    folder: Path, words: tuple[str, ...], message: str
) -> None:
    sweep(folder, "--axis", "links.a.delay=1ms,20ms", "--repeat", "1", "--out", "out")
    ended = sweep(folder, *words, "--repeat", "1", "--out", "out")
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("out: holds another sweep: ")
    assert message in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "two.yaml: has no sweep: give axes"),
        (("--axis", "links.a.delay=1ms,20mss"), '--axis links.a.delay: "20mss": unknown unit'),
        (("--axis", "links.x.delay=1ms"), '--axis links.x.delay: there is no link "x"'),
        (("--axis", "links.a.delay=1ms,1ms"), '--axis links.a.delay: "1ms": is there already'),
        (
            ("--axis", "links.a.rate=5Mbit/s,5 Mbit/s,5000kbit/s"),
            '--axis links.a.rate: "5 Mbit/s": is there already as "5Mbit/s"',
        ),
        (
            ("--zip", "--axis", "links.a.delay=1ms,1ms", "--axis", "links.b.delay=2ms,2 ms"),
            '--axis: entry 0: "1ms" with "2 ms": is there already as "1ms" with "2ms"',
        ),
        (
            ("--axis", "links.a.delay=1ms", "--engine", "kernel", "--workers", "3"),
            "--workers 3: a sweep on the kernel does one run after the other: leave it out, or",
        ),
        (("--axis", "links.a.delay=1ms..9ms:1"), "--axis links.a.delay: 1: must be at least 2"),
        (("--axis", "links.a.delay=0ms..9ms:3:log"), "--axis links.a.delay: a logarithmic scale"),
        (("--axis", "links.a.delay=1ms", "--engine", "both"), "--engine both: sweep on each"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, words: tuple[str, ...], message: str) -> None:
    ended = sweep(folder, *words, "--out", "out")
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith(message)
    assert not (folder / "out").exists()


def test_a_folder_with_something_else_is_refused(folder: Path) -> None:
    ended = sweep(folder, *DELAYS, "--out", ".")
    assert ended.returncode == 1
    assert "and no sweep: choose another folder" in ended.stderr


def test_the_axes_can_stand_in_the_scenario_and_run_ignores_them(folder: Path) -> None:
    own = (
        "sweep: {drawn: {count: 9, values: {links.a.delay: {uniform: {from: 1 ms, to: 30 ms}}}}}\n"
    )
    (folder / "own.yaml").write_text(SCENARIO + own)
    ended = sweep(folder, "--draws", "4", "--out", "out", scenario="own.yaml")
    assert "4 draws of links.a.delay" in ended.stdout
    assert "out: 24 runs" in ended.stderr
    seeds = Sweep.open(folder / "out").store.scan("runs").collect()["seed"]
    assert seeds.n_unique() == 8
    outputs = [
        run(["run", name, "--engine", "sim", "--repeat", "1"], folder).stdout
        for name in ("two.yaml", "own.yaml")
    ]
    assert outputs[0] == outputs[1] != ""


def test_draws_are_none_of_axes_that_are_given(folder: Path) -> None:
    ended = sweep(folder, "--draws", "4", *DELAYS, "--out", "drawn")
    assert ended.returncode == 1
    assert ended.stderr == (
        "--draws: --axis takes the place of the scenario's sweep and of its draws\n"
    )


def test_a_point_that_cannot_be_run_fails_alone_and_is_listed(folder: Path) -> None:
    # Of so many points not all are tried beforehand: a queue wants a rate.
    (folder / "many.yaml").write_text(
        SCENARIO + "sweep: {axes: {links.a.queue: [null, 9 kB], links.a.rate: [9 Mbit/s, null],"
        " links.a.delay: {from: 1 ms, to: 30 ms, count: 26}}}\n"
    )
    words = ("--repeat", "1", "--variant", "mptcp", "--out", "out")
    ended = sweep(folder, *words, scenario="many.yaml")
    assert "out: 104 runs: 0 found, 104 done" in ended.stderr
    assert "26 of 104 runs failed" in ended.stdout
    assert "… and 16 more: --json has all" in ended.stdout
    told = json.loads(run(["report", "out", "--json"], folder).stdout)
    assert told["runs"] == {"planned": 104, "failed": 26}
    assert len(told["points"]) == 78
    failure = told["failures"][0]
    assert "no packet waits for a, whose rate is unlimited" in failure["why"]
    again = run(shlex.split(failure["command"])[1:], folder)
    assert again.returncode == 1
    assert "no packet waits for a, whose rate is unlimited" in again.stderr


def test_the_command_of_a_run_gives_the_figures_of_the_run(folder: Path) -> None:
    sweep(folder, *DELAYS, "--set", "links.b.delay=7 ms", "--out", "out")
    made = Sweep.open(folder / "out")
    (_, second) = made[3].variants[0].metrics["completion_s"].samples
    words = repeating(made, "tcp-a", 2, made[3].values)
    told = json.loads(run([*shlex.split(words)[1:], "--json"], folder).stdout)
    assert told["variants"][0]["completion_s"]["samples"] == [second]


def test_the_page_has_curves_and_heat_maps(folder: Path) -> None:
    sweep(folder, *DELAYS, "--out", "out")
    ended = run(["report", "out", "--html", "page.html"], folder)
    assert ended.returncode == 0, ended.stderr
    page = (folder / "page.html").read_text()
    assert ">Goodput over both axes</h2>" in page
    assert page.count("<svg") >= 2
    assert page.count('<table class="heat">') >= 1
    assert not re.findall(r'(?:src|href)="(?!#)', page)


@pytest.mark.parametrize(
    "axis",
    [
        "links.a.loss=0,0.5 %",
        "links.a.loss=0,0.005",
        "hosts.client.mptcp.path_manager=[fullmesh,{ndiffports: 2}]",
    ],
)
def test_values_of_several_kinds_have_a_page_and_compare(folder: Path, axis: str) -> None:
    ended = sweep(folder, "--axis", axis, "--axis", "links.b.delay=1ms,9ms", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    ended = run(["report", "out", "--html", "page.html", "--table", "t.csv"], folder)
    assert ended.returncode == 0, ended.stderr
    assert (folder / "page.html").read_text().count("<svg") >= 2
    ended = run(["compare", "out", "out", "--figure", "f.svg"], folder)
    assert ended.returncode == 0, ended.stderr
    made = Sweep.open(folder / "out")
    repeated = shlex.split(repeating(made, "mptcp", 1, made[3].values))
    assert run(repeated[1:], folder).returncode == 0


def test_points_with_the_same_plan_keep_their_own_recordings(folder: Path) -> None:
    words = ("--axis", "title=one,two", "--variant", "mptcp", "--samples", "--out", "out")
    ended = sweep(folder, *words)
    assert ended.returncode == 0, ended.stderr
    made = Sweep.open(folder / "out")
    assert made.store.scan("runs").collect()["address"].n_unique() == 2
    kept = [recording.folder for point in made for recording in point.result["mptcp"]]
    assert len(set(kept)) == 4
    assert all((one / "manifest.json").is_file() for one in kept)
