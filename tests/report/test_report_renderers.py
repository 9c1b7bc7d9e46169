"""Terminal and page say what the model says."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.metrics.plans import carrier, two_paths
from tests.recording.handmade import SECOND, description, manifest, record, result, transfer
from tests.report.sample import sample

from mptcplab.metrics import Sides, Verdict, compare
from mptcplab.page.charts import Mark
from mptcplab.report import Report, report, to_html, to_terminal
from mptcplab.report import model as model_module
from mptcplab.report.chosen import representative
from mptcplab.report.html import topology
from mptcplab.report.model import ReferenceRow
from mptcplab.report.series import course
from mptcplab.report.terminal import verdict_numbers


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(sample(tmp_path_factory.mktemp("report") / "out"))


@pytest.fixture(scope="module")
def page(model: Report) -> str:
    return to_html([model])


def printed(model: Report) -> list[str]:
    console = Console(file=StringIO(), width=120, color_system=None)
    to_terminal([model], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_answer_is_computed_from_the_metrics(model: Report) -> None:
    assert model.answer == (
        "mptcp was faster than the best path alone (tcp-eth): 109.5 ± 2.5 Mbit/s, 1.62 times "
        "67.5 ± 0.0 Mbit/s.",
        "That is 100.0 % of the sum of the single paths (tcp-wifi 42.0, tcp-eth 67.5).",
        "Its payload went 38.4 % over wifi, 61.6 % over eth.",
        "Delivery over mptcp went on through the failure.",
        "1 of 3 findings hold, 1 does not, 1 is undecided.",
    )


def test_the_terminal_shows_variants_paths_references_findings_and_warnings(model: Report) -> None:
    lines = printed(model)
    assert "Warning: tcp-eth: eth: the interface lost its carrier" in lines
    assert "tcp-wifi 42.0 ± 2.5 – 0 ± 0 – 0 ± 0 3" in lines
    assert "tcp-eth 67.5 ± 0.0 – 5.00 ± 0.00 1.00 ± 0.00 5.00 ± 0.00 3" in lines
    assert "mptcp eth 67.5 ± 0.0 61.6 ± 1.4" in lines
    assert "mptcp goodput 146.0 Mbit/s 109.5 ± 2.5 Mbit/s" in lines
    assert "mptcp recovery_s.eth 15.0 s 1.00 ± 0.00 s table 6.4" in lines
    assert "not held mptcp.recovery_s > 1 s (0, not > 1)" in lines
    assert "undecided mptcp.completion_s < 1 s (mptcp.completion_s has no value)" in lines


def test_a_long_note_stands_once_below_the_figures_of_the_document(model: Report) -> None:
    why = "the document counts from another moment, which it does not tell"
    goodput, recovery = model.references
    rows = (replace(goodput, note="D1"), replace(recovery, note=why), replace(recovery, note=why))
    lines = printed(replace(model, references=rows))
    assert "mptcp goodput 146.0 Mbit/s 109.5 ± 2.5 Mbit/s D1" in lines
    assert lines.count("mptcp recovery_s.eth 15.0 s 1.00 ± 0.00 s note 1") == 2
    assert lines.count(f"note 1: {why}") == 1


def test_the_note_of_a_finding_is_printed_where_it_does_not_hold(tmp_path: Path) -> None:
    told = description([("mptcp", "mptcp")], expect=("mptcp.goodput > 1", "mptcp.goodput > 9"))
    notes = {"mptcp.goodput > 1": "is not told", "mptcp.goodput > 9": "the link has 8 [Mbit/s]"}
    scenario = told.scenario.model_copy(update={"notes": notes})
    made = result(tmp_path / "out", told.model_copy(update={"scenario": scenario}))
    rows = [transfer(end_ns=SECOND, bytes=10**6)]
    record(made.recording_folder("mptcp", 1), {"transfers": rows}, manifest())
    model = report(made)
    lines = printed(model)
    assert "not held mptcp.goodput > 9 (8, not > 9) note 1" in lines
    assert "note 1: the link has 8 [Mbit/s]" in lines
    assert "is not told" not in "".join(lines)
    page = to_html([model])
    assert "the link has 8 [Mbit/s]" in page
    assert "is not told" not in page
    beside = [ReferenceRow("mptcp", "goodput", "Mbit/s", 9.5, None, notes["mptcp.goodput > 9"])]
    lines = printed(replace(model, references=tuple(beside)))
    assert lines.count("note 1: the link has 8 [Mbit/s]") == 1
    assert "not held mptcp.goodput > 9 (8, not > 9) note 1" in lines


def test_streams_have_a_table_of_their_shares(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    made = result(folder, description([("mptcp", "mptcp")]))
    rows = [
        transfer(index=index, bytes=payload) for index, payload in enumerate((10**6, 3 * 10**6))
    ]
    record(made.recording_folder("mptcp", 1), {"transfers": rows}, manifest())
    model = report(made)
    lines = printed(model)
    assert lines[lines.index("share of each stream, %") + 4 :][:2] == ["1 25.0", "2 75.0"]
    assert ">Streams</h2>" in to_html([model])
    shown = (ReferenceRow("mptcp", "stream_share.1", "", 0.18, None, ""),)
    assert "mptcp stream_share.1 18.0 % –" in printed(replace(model, references=shown))


def test_one_repetition_has_no_interval(tmp_path: Path) -> None:
    lines = printed(report(sample(tmp_path / "out", repetitions=1)))
    assert "one run each" in lines
    assert "tcp-wifi 41.0 – 0 – 0 1" in lines


@pytest.mark.parametrize(
    ("sides", "shown"),
    [
        ([Sides(11.84, ">", 19.04, held=False)], "(11.84, not > 19.04)"),
        ([Sides(25.1, ">", 18.8, held=True)], "(25.1 > 18.8)"),
        (
            [Sides(2.0, "<", 3.0, held=True), Sides(3.0, "<", 1.0, held=False)],
            "(2 < 3 and 3, not < 1)",
        ),
        ([Sides(None, ">", 1.0, held=None)], "(– > 1)"),
        ([Sides(1.0, "==", 1.00001, held=False)], "(1, not == 1.0000100000000001)"),
        ([Sides(1.0, "<", 1.0, held=False)], "(1, not < 1)"),
    ],
)
def test_a_comparison_that_is_false_does_not_read_as_if_it_were_true(
    sides: list[Sides], shown: str
) -> None:
    assert verdict_numbers(Verdict("", None, tuple(sides), None)) == shown


class Elements(HTMLParser):
    """Elements and attributes of a page, and whether its elements are closed in order."""

    VOID = frozenset({"meta", "br", "link", "img", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(page: str) -> None:
    elements = Elements()
    elements.feed(page)
    assert elements.open == []
    assert {tag for tag, _ in elements.seen}.isdisjoint({"link", "img", "iframe"})
    identifiers = [attributes["id"] for _, attributes in elements.seen if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for tag, attributes in elements.seen:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), tag
        linked = attributes.get("href")
        assert linked is None or linked[1:] in identifiers
    assert not re.search(r"url\((?!#)|@import", page)


def test_the_page_holds_the_answer_the_tables_and_the_plots(page: str, model: Report) -> None:
    for sentence in model.answer:
        assert sentence in page
    for title in (
        "Throughput over time",
        "Use of the paths",
        "Round-trip time",
        "Round-trip time by sequence number",
        "Payload of the subflows",
        "Queues",
    ):
        assert f">{title}</h2>" in page
    assert ">Completion times</h2>" not in page
    assert ">Latency</h2>" not in page
    assert page.count('class="panel"') == 3 * 5
    assert page.count(">eth is back</text>") == 3 * 4
    assert "(tcp-wifi 2, tcp-eth 1, mptcp 2)" in page
    assert "mptcplab run test/hand" in page


def test_the_topology_is_drawn_from_the_scenario_in_the_result(model: Report) -> None:
    text = """
        hosts: {client: {interfaces: {wifi: {}}}, server: {interfaces: {wifi: {}}}}
        links: {air: {between: [client.wifi, server.wifi], rate: 40 Mbit/s, delay: 5 ms}}
        traffic: [{bulk: {from: client, to: server, way: down, duration: 5 s}}]
    """
    scenario = model.description.scenario.model_copy(update={"text": text})
    described = model.description.model_copy(update={"scenario": scenario})
    drawing = topology(replace(model, description=described))
    assert drawing is not None
    assert drawing.startswith("<svg")
    assert "40 Mbit/s" in drawing


def test_a_link_is_drawn_whose_trace_is_not_at_hand(model: Report) -> None:
    text = """
        hosts: {client: {interfaces: {wifi: {}}}, server: {interfaces: {wifi: {}}}}
        links: {air: {between: [client.wifi, server.wifi], trace: drive.trace}}
        traffic: [{bulk: {from: client, to: server, way: down, duration: 5 s}}]
    """
    scenario = model.description.scenario.model_copy(update={"text": text})
    described = model.description.model_copy(update={"scenario": scenario})
    drawing = topology(replace(model, description=described))
    assert drawing is not None
    assert "trace drive.trace" in drawing


def test_a_scenario_that_cannot_be_read_any_more_has_no_topology(model: Report, page: str) -> None:
    assert topology(model) is None
    assert ">Topology</h2>" not in page


def test_changes_at_almost_the_same_time_are_one_mark(tmp_path: Path) -> None:
    events = (
        carrier(8 * SECOND, "air fails", 0, up=False),
        carrier(8 * SECOND + 50_000, "eth fails", 1, up=False),
        carrier(9 * SECOND, "eth is back", 1, up=True),
    )
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    rows: list[dict[str, object]] = [
        {"t_ns": event["at_ns"], "kind": "link", "subject": "x", "label": event["label"]}
        for event in events
    ]
    record(
        made.recording_folder("mptcp", 1),
        {"transfers": [transfer()], "events": rows},
        manifest(plan=two_paths(*events)),
    )
    found = course(report(made).variants[0])
    assert found is not None
    assert found.marks == (Mark(8.0, "air fails, eth fails"), Mark(9.0, "eth is back"))


def test_a_run_of_commands_shows_their_output_and_the_throughput(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    counters: list[dict[str, object]] = [
        {"t_ns": t * SECOND, "node": "client", "interface": "eth", "rx_bytes": t, "tx_bytes": t}
        for t in range(3)
    ]
    lines: list[dict[str, object]] = [
        {"traffic": "run", "node": "client", "stream": "stdout", "t_ns": t, "text": f"line {t} <b>"}
        for t in (2, 1)
    ]
    record(
        made.recording_folder("mptcp", 1),
        {"interface_samples": counters, "outputs": lines},
        manifest(plan=two_paths(workload={"kind": "command"}, traffic="run")),
    )
    model = report(made)
    found = course(model.variants[0])
    assert found is not None
    assert [line.label for line in found.throughput_mbps] == ["eth down", "eth up"]
    page = to_html([model])
    assert "<summary>mptcp: run</summary><pre>line 1 &lt;b&gt;\nline 2 &lt;b&gt;</pre>" in page


def test_text_from_files_is_escaped(tmp_path: Path) -> None:
    made = sample(tmp_path / "out", repetitions=1)
    path = tmp_path / "out" / "result.json"
    path.write_text(path.read_text().replace("Made by hand", "<script>alert(1)</script>[bold]x"))
    model = report(type(made).open(made.folder))
    assert "<script>alert" not in to_html([model])
    assert "test/hand — <script>alert(1)</script>[bold]x" in printed(model)


def test_the_representative_repetition_is_the_median_one(model: Report) -> None:
    chosen = representative(model.variants[2])
    assert chosen is not None
    assert chosen.repetition == 2


def test_courses_are_rates_between_samples(model: Report) -> None:
    found = course(model.variants[0])
    assert found is not None
    [wifi] = found.throughput_mbps
    assert wifi.label == "wifi"
    assert wifi.places[0] == pytest.approx(0.2)
    assert wifi.values.mean() == pytest.approx(42 * 1500 / 1448, rel=1e-4)
    assert [mark.time_s for mark in found.marks] == [8.0, 12.0]


def test_a_table_wider_than_the_terminal_is_divided(model: Report) -> None:
    console = Console(file=StringIO(), width=80, color_system=None)
    to_terminal([model], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    heads = [line.split()[0] for line in text.splitlines() if line.strip().startswith("variant")]
    assert len(heads) > 2
    assert "…" not in text


def test_a_warning_of_several_variants_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sample(tmp_path / "out", repetitions=2)
    first, *others = compare(made)
    warned = [replace(one, warnings=("for all", "for others")) for one in others]
    every = [replace(first, warnings=("for all",)), *warned]
    monkeypatch.setattr(model_module, "compare", lambda _: every)
    names = ", ".join(one.name for one in others)
    assert report(made).warnings == (
        model_module.Warned("all variants", "for all"),
        model_module.Warned(names, "for others"),
    )
