"""Results of agents as results folders of the lab: the same figures, and nothing made up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.measure.results import connection, ended, result, seen
from tests.server.made import SOURCES, empty_result, made_result, step, steps
from tests.server.running import Agent, Running, run

import mptcplab
from mptcplab.measure.plan import LOOKS
from mptcplab.metrics import Estimate, VariantMetrics, compare
from mptcplab.recording import Result
from mptcplab.recording.tables import MEASURED, TABLES
from mptcplab.report import report, to_html
from mptcplab.server.export_recordings import export_recordings
from mptcplab.server.measured_rows import path_names
from mptcplab.server.state import State
from mptcplab.server.wanted import Wanted

BOTH = "wifi+lte"


@pytest.fixture
def agent(server: Running) -> Agent:
    return server.enrolled()


def exported(server: Running, folder: Path, agent: Agent, *options: str) -> Result:
    words = ("--recording", "--agent", agent.id, "--state", str(server.state), *options)
    run("export", str(folder), *words)
    return mptcplab.open(folder)


def figures(folder: Result) -> dict[str, VariantMetrics]:
    return {variant.name: variant for variant in compare(folder)}


def assert_same(ours: Estimate | None, theirs: Mapping[str, Any], scale: float = 1.0) -> None:
    """The figure of a recording is the server's, to the last digit where it has its unit."""
    if theirs["mean"] is None:
        assert ours is None or ours.mean is None
        return
    assert ours is not None
    known = [one for one in theirs["samples"] if one is not None]
    own = [one * scale for one in ours.samples if one is not None]
    if scale == 1:
        assert own == known
        assert ours.mean == theirs["mean"]
        assert (ours.ci95 and list(ours.ci95)) == theirs["ci95"]
    assert own == pytest.approx(known, rel=1e-12)


def assert_same_figures(found: Mapping[str, VariantMetrics], told: Mapping[str, Any]) -> int:
    """All figures of a summary are those of its recordings; says how many transfers there are."""
    names = [path["interface"] for path in told["paths"]]
    both = "+".join(names)
    count = 0

    def of(variant: str, metric: str) -> Estimate | None:
        return found[variant].metrics.get(metric) if variant in found else None

    for path, name in zip(told["paths"], names, strict=True):
        assert_same(of(f"idle-{name}", "latency_s.p50"), path["rtt_ms"], 1_000)
        assert_same(of(f"loaded-{name}", "latency_s.p50"), path["rtt_ms"]["loaded"], 1_000)
    for way in ("down", "up"):
        sizes = told["benefit"][way]
        for size in sizes:
            task = f"{way}-{size['bytes'] // 1000}kB".replace("000kB", "MB")
            for number, name in enumerate(names):
                assert_same(of(f"tcp-{name}-{task}", "completion_s"), size["paths_s"][number])
            mptcp = f"mptcp-{both}-{task}"
            assert_same(of(mptcp, "completion_s"), size["mptcp_s"])
            assert_same(of(mptcp, "aggregation_benefit"), size["aggregation"])
            assert_same(of(mptcp, "delay_benefit"), size["delay"])
            assert_same(of(f"at-once-{both}-{task}", "goodput"), size["at_once_mbps"])
            count += 1
        if sizes:
            for name, path in zip(names, told["paths"], strict=True):
                assert_same(of(f"tcp-{name}-{task}", "goodput"), path[f"{way}_mbps"])
                assert_same(of(f"tcp-{name}-{task}", f"goodput.{way}"), path[f"{way}_mbps"])
            assert_same(of(f"mptcp-{both}-{task}", "goodput"), told["mptcp"][f"{way}_mbps"])
    return count


def repeated(every: list[dict[str, Any]], times: tuple[float, ...]) -> list[dict[str, Any]]:
    """The steps once for each of these factors of all times."""
    found = []
    for repetition, factor in enumerate(times):
        for one in every:
            if repetition and one["kind"] in (*LOOKS, "loaded"):
                continue
            ends = [slower(each, factor) for each in one["result"]["connections"]]
            changed = {"result": one["result"] | {"connections": ends}}
            # Looks have repetitions of their own.
            found.append(one | changed | {"repetition": one["repetition"] or repetition})
    return found


def slower(one: dict[str, Any], factor: float) -> dict[str, Any]:
    times = {key: int(one["probe"][key] * factor) for key in ("duration_us", "ended_us")}
    rtts = [int(rtt * factor) + place for place, rtt in enumerate(one["rtts_us"])]
    return one | {"probe": one["probe"] | times, "rtts_us": rtts}


def test_figures_are_those_of_the_result(server: Running, agent: Agent, tmp_path: Path) -> None:
    told = agent.result(steps=repeated(steps(), (1.0, 1.37, 0.713)))
    assert agent.put(told).status == 201
    folder = exported(server, tmp_path / "out", agent)
    found = figures(folder)
    assert list(found) == [
        "tcp-wifi-down-1MB",
        "tcp-lte-down-1MB",
        f"mptcp-{BOTH}-down-1MB",
        f"at-once-{BOTH}-down-1MB",
        "idle-wifi",
        "idle-lte",
        "loaded-wifi",
    ]
    summary = server.get(f"/api/v1/results/{told['id']}/summary").json
    assert assert_same_figures(found, summary) == 1
    mptcp = found[f"mptcp-{BOTH}-down-1MB"]
    assert mptcp.plain == ("tcp-wifi-down-1MB", "tcp-lte-down-1MB")
    assert mptcp.metrics["aggregation_benefit"].known == 3
    assert mptcp.metrics["share.lte"].mean == 0.5
    assert mptcp.metrics["multipath"].mean == 1.0


def test_experiments_follow_one_another(server: Running, agent: Agent, tmp_path: Path) -> None:
    times = ((1.0, 1.2), (0.9,), (1.1, 1.3, 1.7))
    for one in times:
        assert agent.put(agent.result(steps=repeated(steps(), one))).status == 201
    folder = exported(server, tmp_path / "out", agent)
    wifi = figures(folder)["tcp-wifi-down-1MB"]
    every = [factor for one in times for factor in one]
    assert wifi.metrics["completion_s"].samples == pytest.approx(every)
    assert [run.repetition for run in wifi.runs] == [1, 2, 3, 4, 5, 6]
    # Paths were loaded once in each experiment, which is no lack of repetitions.
    loaded = figures(folder)["loaded-wifi"]
    assert [run.repetition for run in loaded.runs] == [1, 3, 4]
    assert not loaded.warnings


def unusual() -> list[tuple[str, list[dict[str, Any]]]]:
    """Steps as they come where something goes wrong."""
    size = 1_000_000
    half = result(connection(ended(size // 2, 3_000_000), ended(sent=size)))
    late = result(connection(ended(size // 2, 25_000_000), ended(sent=size)))
    nothing = result(connection(ended(), ended(sent=size)))
    unseen = result(connection(ended(), None) | {"failure": "10.0.9.1: Connection refused"})
    more = result(connection(ended(2 * size, 1_000_000), ended(sent=2 * size)))
    up = result(connection(ended(sent=size), ended(size, 1_234_567)))
    fell = result(connection(ended(size, 900_000), ended(sent=size)))
    short = result(connection(ended(9, 900_000), ended()), connection(ended(), ended(), (9, 8)))
    silent = result(connection(ended(), ended()))

    def other(kind: str, path: int | None, measured: dict[str, Any]) -> list[dict[str, Any]]:
        kept = [one for one in steps() if (one["kind"], one["path"]) != (kind, path)]
        direction, count = (None, 0) if kind == "idle" else ("down", size)
        return [*kept, step(kind, measured, direction, count, path)]

    def both_up(by_mptcp: dict[str, Any]) -> list[dict[str, Any]]:
        alone = [step("tcp", one, "up", size, path) for path, one in enumerate((up, half_up()))]
        return [*steps(), *alone, step("mptcp", by_mptcp, "up", size)]

    def half_up() -> dict[str, Any]:
        return result(connection(ended(sent=size), ended(size // 2, 2_000_000)))

    return [
        *((name, other("tcp", 0, one)) for name, one in _named(locals(), "half late nothing more")),
        ("unseen", other("tcp", 1, unseen)),
        ("MPTCP unseen", other("mptcp", None, unseen)),
        ("fallback", other("mptcp", None, fell)),
        ("half of MPTCP", other("mptcp", None, half)),
        ("short load", other("loaded", 0, short)),
        ("silence", other("idle", 1, silent)),
        ("up", both_up(up)),
        ("no TCP", [one for one in steps() if one["kind"] != "tcp"]),
        ("no path alone", [one for one in steps() if (one["kind"], one["path"]) != ("tcp", 1)]),
        ("not at once", [one for one in steps() if one["kind"] != "at-once"]),
        ("small", steps(100_000)),
    ]


def _named(values: Mapping[str, Any], names: str) -> list[tuple[str, Any]]:
    return [(name, values[name]) for name in names.split()]


@pytest.mark.parametrize("every", [pytest.param(every, id=name) for name, every in unusual()])
def test_figures_are_the_same_where_something_went_wrong(
    server: Running, agent: Agent, tmp_path: Path, every: list[dict[str, Any]]
) -> None:
    told = agent.result(steps=every)
    assert agent.put(told).status == 201
    folder = exported(server, tmp_path / "out", agent)
    summary = server.get(f"/api/v1/results/{told['id']}/summary").json
    assert assert_same_figures(figures(folder), summary)


def test_recordings_are_valid_and_have_nothing_made_up(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    assert agent.put(agent.result()).status == 201
    folder = exported(server, tmp_path / "out", agent)
    assert folder.description.engine == "agent"
    for name in folder:
        for recording in folder[name]:
            kept = {file.name for file in recording.folder.iterdir()}
            assert kept == {"manifest.json", *(f"{table}.parquet" for table in MEASURED)}
            for table in TABLES:
                recording.frame(table)
            assert recording.manifest.duration_s is None
    assert "measured by car-7" in to_html([report(folder)])
    (mptcp,) = folder[f"mptcp-{BOTH}-down-1MB"]
    (row,) = mptcp.transfers.rows(named=True)
    assert (row["start_ns"], row["end_ns"], row["bytes"]) == (0, 800_000_000, 1_000_000)
    assert (row["fallback"], row["joins"], row["error"]) == (False, 1, None)
    unknown = ("connected_ns", "first_byte_ns", "longest_silence_ns", "token", "source")
    assert [row[column] for column in unknown] == [None] * 5
    samples = mptcp.subflow_samples
    assert samples["interface"].to_list() == ["wifi", "lte"]
    assert samples["bytes_acked"].to_list() == [None, None]
    (idle,) = folder["idle-lte"]
    assert idle.latencies["rtt_ns"].to_list() == [20_000_000] * 10
    assert idle.latencies["t_ns"].null_count() == 10
    (tcp,) = folder["tcp-lte-down-1MB"]
    measured = tcp.manifest.measured
    assert measured is not None
    assert (measured.path, measured.paths, measured.agent) == ("lte", ("wifi", "lte"), agent.id)


def test_recordings_are_without_addresses_on_request(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    failed = result(connection(ended(), None) | {"failure": "10.0.9.1: Connection refused"})
    seen_tcp = ended(1_000, 1_000) | {"seen": seen(f"{SOURCES[1]}:40001")}
    alone = result(connection(seen_tcp, ended(sent=1_000)))
    every = [
        *steps(),
        step("tcp", failed, "up", 1_000, 1),
        step("tcp", alone, "down", 1_000, 1),
    ]
    target = {"host": "10.0.9.1", "port": 4420, "rate_limit_bps": None}
    partial = {"outcome": "partial", "reason": "10.0.9.1, port 4420: no answer"}
    assert agent.put(agent.result(steps=every, target=target, **partial)).status == 201
    plain = exported(server, tmp_path / "plain", agent)
    folder = exported(server, tmp_path / "out", agent, "--without-addresses")
    addresses = (*SOURCES, "10.0.9.1")
    assert all(one in text_of(plain) for one in addresses)
    assert not [one for one in addresses if one in text_of(folder)]
    assert figures(folder).keys() == figures(plain).keys()
    assert all(figures(folder)[name].metrics == one.metrics for name, one in figures(plain).items())
    (mptcp,) = folder[f"mptcp-{BOTH}-down-1MB"]
    (tcp,) = folder["tcp-lte-down-1kB"]
    source, target = (tcp.transfers[end][0].rpartition(":")[0] for end in ("source", "target"))
    # The same address has the same number in all of the folder.
    assert mptcp.subflow_samples["subflow"][1] == f"{source}:40000-{target}:5001"


def text_of(folder: Result) -> str:
    found = [file.read_text() for file in folder.folder.rglob("*.json")]
    for name in folder:
        for recording in folder[name]:
            found += [str(recording.frame(table).rows()) for table in MEASURED]
    return "\n".join(found)


def test_other_paths_are_other_variants(server: Running, agent: Agent, tmp_path: Path) -> None:
    assert agent.put(agent.result()).status == 201
    alone = [one for one in steps() if one["path"] in (0, None) and one["kind"] != "at-once"]
    for seen_by_end in (
        one[end]["seen"]
        for each in alone
        for one in each["result"]["connections"]
        for end in ("probe", "target")
    ):
        # MPTCP had one path, too.
        del seen_by_end["subflows"][1:]
    assert agent.put(agent.result(paths=made_result()["paths"][:1], steps=alone)).status == 201
    found = figures(exported(server, tmp_path / "out", agent))
    assert len(found["tcp-wifi-down-1MB"].runs) == 2
    assert found["mptcp-wifi-down-1MB"].plain == ("tcp-wifi-down-1MB",)
    both = found[f"mptcp-{BOTH}-down-1MB"]
    assert len(both.runs) == 1
    assert both.metrics["aggregation_benefit"].mean == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize(
    ("interfaces", "names"),
    [
        (("wifi", "lte"), ("wifi", "lte")),
        (("eth0", "eth0", "eth0-2"), ("eth0", "eth0-2", "eth0-2-2")),
        (("../../etc", "..", "/"), ("______etc", "__", "_")),
        (("eth0.5", "eth0:5"), ("eth0_5", "eth0_5-2")),
        (("ü" * 100,), ("_" * 15,)),
    ],
)
def test_paths_have_names_of_folders(interfaces: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert path_names(interfaces) == names


def test_a_period_is_chosen(server: Running, agent: Agent, tmp_path: Path) -> None:
    day_ms = 86_400_000
    begin_ms = 1_800_000_000_000 // day_ms * day_ms  # 2027-01-15
    for day in range(3):
        told = agent.result(began_unix_ms=begin_ms + day * day_ms)
        assert agent.put(told).status == 201
    options = ("--since", "2027-01-16", "--until", "2027-01-17 00:00")
    folder = exported(server, tmp_path / "out", agent, *options)
    (recording,) = folder["idle-wifi"]
    assert recording.manifest.started == "2027-01-16T00:00:00+00:00"
    words = ("--state", str(server.state), "--agent", agent.id, *options)
    assert run("export", str(tmp_path / "table"), *words).endswith(": 1 result\n")
    assert (
        "lines@1"
        in run("export", str(tmp_path / "all"), "--recording", *words[:4], "--plan", "lines")
        or (tmp_path / "all/result.json").exists()
    )


def test_a_choice_that_makes_no_folder_is_refused(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    other = server.enrolled(name="other")
    for one in (agent, other):
        assert one.put(one.result()).status == 201
    assert agent.put(agent.result(plan="lines@2")).status == 201
    failed = server.enrolled()
    told = empty_result("failed", agent=failed.id, sequence=0)
    assert failed.put(told).status == 201
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")

    def refused(folder: str, *options: str, status: int = 1) -> str:
        words = ("--recording", "--state", str(server.state), *options)
        return run("export", str(tmp_path / folder), *words, status=status)

    assert "agents: choose one by --agent: " in refused("out")
    several = refused("out", "--agent", agent.id)
    assert "the results are of 2 plans: choose one by --plan: lines@1, lines@2" in several
    assert "there is none" in refused("out", "--agent", "nobody")
    assert "no such results" in refused("out", "--agent", other.id, "--plan", "none")
    assert "brought nothing" in refused("out", "--agent", failed.id)
    assert "not a time" in refused("out", "--since", "yesterday")
    assert "it holds something" in refused("full", "--agent", other.id)
    assert "leave it out with --recording" in refused("out", "--table", "csv", status=2)
    assert not (tmp_path / "out").exists()


def test_marks_of_an_experiment_are_warnings(server: Running, agent: Agent, tmp_path: Path) -> None:
    host = made_result()["host"] | {"starved": True}
    told = agent.result(host=host, outcome="partial", reason="The budget is used up.")
    assert agent.put(told | {"began_unix_ms": 2**53}).status == 201
    folder = exported(server, tmp_path / "out", agent)
    (recording,) = folder["idle-wifi"]
    assert recording.manifest.started is None
    busy, partial = recording.manifest.warnings
    assert "too busy" in busy
    assert partial == "its experiment ended early: The budget is used up"
    words = [warned.sentence for warned in report(folder).warnings]
    assert {busy, partial} <= set(words)


def test_an_export_that_is_ended_early_is_no_result(
    server: Running, agent: Agent, tmp_path: Path
) -> None:
    for _ in range(2):
        assert agent.put(agent.result()).status == 201
    answers = iter((True, False))
    connection = State(server.state).open()
    made = export_recordings(
        connection, tmp_path / "out", Wanted(agent.id), goes_on=lambda: next(answers)
    )
    connection.close()
    assert (made.is_whole, made.results, made.recordings) == (False, 1, 7)
    with pytest.raises(mptcplab.RecordingError, match=r"holds no result\.json"):
        mptcplab.open(tmp_path / "out")


def test_what_does_not_count_is_told_once(server: Running, agent: Agent, tmp_path: Path) -> None:
    fell = result(connection(ended(1_000_000, 900_000), ended(sent=1_000_000)))
    every = [one for one in steps() if one["kind"] != "mptcp"]
    told = agent.result(steps=repeated([*every, step("mptcp", fell, "down", 1_000_000)], (1, 2)))
    assert agent.put(told).status == 201
    found = figures(exported(server, tmp_path / "out", agent))
    assert found[f"mptcp-{BOTH}-down-1MB"].warnings == (
        "0 of 2 repetitions complete",
        "2 repetitions do not count, the first is 1: MPTCP fell back to TCP",
    )


def test_explanations_say_why_there_are_none(server: Running, agent: Agent, tmp_path: Path) -> None:
    assert agent.put(agent.result()).status == 201
    folder = exported(server, tmp_path / "out", agent)
    with pytest.raises(mptcplab.RecordingError, match="is of real hosts"):
        mptcplab.explain(folder)
