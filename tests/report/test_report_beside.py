"""Samples of several results beside each other."""

from pathlib import Path

from tests.metrics.plans import two_paths
from tests.recording.handmade import (
    MILLISECOND,
    description,
    manifest,
    record,
    result,
)

from mptcplab.report import Report, report
from mptcplab.report.beside import MOST_BOXES, MOST_LINES, beside


def answered(folder: Path, variants: int, answers: int) -> Report:
    """A result with so many variants, each with answers after 1 ms, 2 ms and so on."""
    names = [f"v{number}" for number in range(variants)]
    out = result(folder, description([(name, "mptcp") for name in names]))
    latencies = [
        {
            "traffic": "ping",
            "kind": "ping",
            "sequence": number,
            "t_ns": number,
            "rtt_ns": number * MILLISECOND,
        }
        for number in range(1, answers + 1)
    ]
    for name in names:
        header = manifest(name, "mptcp", plan=two_paths())
        record(out.recording_folder(name, 1), {"latencies": latencies}, header)
    return report(out)


def test_samples_are_distributions_and_boxes(tmp_path: Path) -> None:
    both = [answered(tmp_path / "a", 1, 9), answered(tmp_path / "b", 1, 5)]
    found = {one.id: one for one in beside(both)}
    chart = found["beside-latency-samples"].chart
    assert chart is not None
    assert len(chart.panels[0].series) == 2
    rows = found["beside-latency-boxes"].rows
    for folder, count, five in (("a", 9, (1, 3, 5, 7, 9)), ("b", 5, (1, 2, 3, 4, 5))):
        name = f"<td>v0, test/hand (kernel, {tmp_path / folder}) (n = {count})</td>"
        figures = "".join(f'<td class="figure">{value}</td>' for value in (*five, 0))
        assert f"<tr>{name}{figures}</tr>" in rows


def test_too_few_samples_make_no_box_and_many_variants_no_lines(tmp_path: Path) -> None:
    few = [answered(tmp_path / name, 1, 4) for name in ("a", "b")]
    assert "beside-latency-boxes" not in {one.id for one in beside(few)}
    many = [answered(tmp_path / name, 7, 5) for name in ("c", "d")]
    assert MOST_LINES < 14 <= MOST_BOXES
    names = {one.id for one in beside(many)}
    assert "beside-latency-boxes" in names
    assert "beside-latency-samples" not in names
