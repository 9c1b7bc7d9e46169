"""The controller of switches on the page of a report."""

from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import SECOND, Rows, description, manifest, record, result, transfer

from mptcplab.metrics import compare
from mptcplab.page.templates import summary
from mptcplab.recording import Result
from mptcplab.recording.manifest import Json
from mptcplab.report import control, report, to_html, to_json
from mptcplab.report import flow_entries as shown
from mptcplab.report.control import ControlAccount, LinkLoad, control_accounts

FIRST, SECOND_SUBFLOW = "10.0.1.1:40000-10.0.1.2:5001", "10.0.2.1:40001-10.0.1.2:5001"
POLICY: Json = {
    "policy": "disjoint",
    "channel_delay_ns": 0,
    "channel_rate_bps": None,
    "sizes": "unknown",
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
HOSTILE = "<script>alert(1)</script>"


def decision(t_s: float, subject: str, label: str) -> Json:
    return {"t_ns": int(t_s * SECOND), "kind": "controller", "subject": subject, "label": label}


def entry(switch: str, start_s: float | None, end_s: float | None = None) -> Json:
    ended = None if end_s is None else "idle_timeout"
    times = [None if at_s is None else int(at_s * SECOND) for at_s in (start_s, end_s)]
    life: Json = {"start_ns": times[0], "end_ns": times[1], "ended": ended}
    words: Json = {"match": f"in_port 1, {HOSTILE}", "instructions": "output 2"}
    counts: Json = {"table_id": 0, "priority": 5, "packets": 3, "bytes": 300}
    return {"switch": switch, **life, **words, **counts}


def load(t_s: int, delivered: int, rate_bps: int | None = 10_000_000) -> Json:
    ends = {"link": "air", "from": "s1.left", "to": "s2.right", "rate_bps": rate_bps}
    return {"t_ns": t_s * SECOND, "delivered_bytes": delivered, **ends}


def made(folder: Path, controller: Json | None = POLICY) -> tuple[list[ControlAccount], str]:
    """The accounts of a run, and the page of its report."""
    out = result(folder, description([("mptcp", "mptcp")]))
    samples = [
        {"t_ns": SECOND, "node": "client", "token": token, "subflow": subflow}
        for subflow, token in ((FIRST, 7), (SECOND_SUBFLOW, 7), ("10.0.2.1:1-10.0.2.2:2", None))
    ]
    rows: Rows = {
        "transfers": [transfer(token=7, source=FIRST.partition("-")[0], target="10.0.1.2:5001")],
        "subflow_samples": samples,
        "events": [
            decision(0, "s1", "connected"),
            decision(0.5, FIRST, "over air"),
            decision(1, SECOND_SUBFLOW, "over air"),
            decision(3, SECOND_SUBFLOW, f"moved, over {HOSTILE}"),
            {"t_ns": 0, "kind": "link", "subject": "air", "label": "air fails"},
        ],
        "flow_entries": [entry("s2", 1), entry("s1", 0.5, 2), entry("s1", None)],
        "link_samples": [load(0, 1_000), load(1, 500_000), load(4, 2_001_000)],
    }
    plan = two_paths() | ({} if controller is None else {"controller": controller})
    record(out.recording_folder("mptcp", 1), rows, manifest("mptcp", "mptcp", plan=plan))
    return control_accounts(compare(out), "result-1"), to_html([report(out)])


def test_subflows_have_their_paths_and_their_transfer(tmp_path: Path) -> None:
    (account,), page = made(tmp_path)
    assert account.controller == "disjoint"
    told = [(one.time_s, one.connection, one.subject) for one in account.decisions]
    assert told == [
        (0.0, "", "s1"),
        (0.5, "bulk 0", FIRST),
        (1.0, "bulk 0", SECOND_SUBFLOW),
        (3.0, "bulk 0", SECOND_SUBFLOW),
    ]
    assert account.words == (("over air", 2), (f"moved, over {HOSTILE}", 1))
    for text in ("Controller of the switches", "<code>disjoint</code>", SECOND_SUBFLOW, "over air"):
        assert text in page
    assert HOSTILE not in page


def test_links_have_their_load(tmp_path: Path) -> None:
    (account,), page = made(tmp_path)
    assert account.loads == (LinkLoad("air", "s1.left", "s2.right", 10.0, 4.0),)
    assert account.loads[0].share_percent == 40
    assert '<td class="figure">40.0</td>' in page


def test_loads_and_subflows_of_paths_are_charts_with_the_decisions_marked(tmp_path: Path) -> None:
    (account,), page = made(tmp_path)
    load, subflows = account.charts
    (course,) = load.chart.panels[0].series
    # 499 kB in the first second, 1.501 MB in the three after it.
    assert (course.label, course.x.tolist()) == ("air from s1", [1.0, 4.0])
    assert course.y.tolist() == pytest.approx([3.992, 4.002667], rel=1e-5)
    moved, over = subflows.chart.panels[0].series
    assert (over.label, moved.label) == ("air", HOSTILE)
    # Both over the same path, until one moves; the last samples are of 1 s, before it does.
    counts = list(zip(over.x.tolist(), over.y.tolist(), strict=True))
    assert counts == [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0), (1.0, 1.0), (3.0, 0.0), (3.0, 0.0)]
    # One subflow for a half and for two of the three seconds.
    assert [row[1:] for row in summary(subflows.chart)][1] == ["air", "6", "0", "0.8333", "1"]
    (mark,) = load.chart.panels[0].marks
    assert (mark.time_s, mark.label) == (3.0, f"moved: {SECOND_SUBFLOW}")
    assert page.count(f'id="{mark.target}"') == 1
    for chart in (load, subflows):
        assert f'<figure class="chart" id="{chart.id}">' in page
    assert f'<a href="#{load.id}" data-moment="3.0" data-group="time">3.000000</a>' in page


def test_switches_have_their_flow_entries(tmp_path: Path) -> None:
    (account,), page = made(tmp_path)
    told = [(one.switch, one.start_s, one.end_s) for one in account.flow_entries.entries]
    assert told == [("s1", None, None), ("s1", 0.5, 2.0), ("s2", 1.0, None)]
    for text in ("Flow entries of switches", "idle_timeout", "output 2", "before"):
        assert text in page
    assert HOSTILE not in page


def test_flow_entries_are_in_json_with_the_documented_keys(tmp_path: Path) -> None:
    made(tmp_path)
    (variant,) = to_json(report(Result.open(tmp_path)))["variants"]
    assert [one["end_s"] for one in variant["flow_entries"]] == [None, 2.0, None]
    prefix = "| `variants[].flow_entries[]."
    lines = DOCUMENT.read_text().splitlines()
    keys = [line[len(prefix) :].split("`")[0] for line in lines if line.startswith(prefix)]
    assert list(variant["flow_entries"][0]) == keys


def test_flow_entries_that_are_too_many_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "MOST_ENTRIES", 1)
    (account,), page = made(tmp_path)
    assert (len(account.flow_entries.entries), account.flow_entries.left_out) == (1, 2)
    assert "There were 2 more" in page


def test_what_is_too_much_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_DECISIONS", 1)
    (account,), page = made(tmp_path)
    assert (len(account.decisions), account.left_out) == (1, 3)
    assert "The table of events has 3 more." in page


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"policy": None, "argv": ["faucet", "--ryu"]}, "faucet --ryu"),
        ({"policy": None, "address": {"host": "127.0.0.1", "port": 6653}}, "127.0.0.1, port 6653"),
    ],
)
def test_a_controller_of_others_is_named(tmp_path: Path, changes: Json, name: str) -> None:
    (account,), _ = made(tmp_path, POLICY | changes)
    assert account.controller == name


def test_a_run_without_a_controller_has_no_such_section(tmp_path: Path) -> None:
    accounts, page = made(tmp_path, None)
    assert accounts == []
    assert "Controller of the switches" not in page
