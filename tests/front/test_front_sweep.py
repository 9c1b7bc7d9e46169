"""Sweeps: axes crossed, figures as a frame and as a plot."""

from pathlib import Path
from typing import Any

import pytest

import mptcplab as lab
from mptcplab.metrics import compare

SHORT: dict[str, Any] = {"engine": "sim", "variants": ["tcp-wifi", "mptcp"], "duration": "300 ms"}
DELAYS = ["5 ms", "50 ms"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> lab.Sweep:
    axes = {"links.wifi.delay": DELAYS, "links.eth.rate": ["10 Mbit/s", "100 Mbit/s"]}
    out = tmp_path_factory.mktemp("sweep") / "out"
    return lab.sweep("lisbon/A1", axes, repeat=1, samples=True, out=out, **SHORT)


def test_lists_of_values_are_crossed(swept: lab.Sweep) -> None:
    assert [tuple(point.values.values()) for point in swept] == [
        ("5 ms", "10 Mbit/s"),
        ("5 ms", "100 Mbit/s"),
        ("50 ms", "10 Mbit/s"),
        ("50 ms", "100 Mbit/s"),
    ]
    assert swept.variants == ("tcp-wifi", "mptcp")
    changes = {one.path: one.here for one in swept[2].result.description.scenario.changes}
    assert changes["links.wifi.delay"] == "50 ms"
    assert swept[2].result["mptcp"][0].transfers.height == 1


def test_the_frame_has_a_row_for_each_point_and_variant(swept: lab.Sweep) -> None:
    frame = swept.frame("goodput", "share.wifi")
    assert frame.height == 8
    assert frame.columns[:4] == ["links.wifi.delay", "links.eth.rate", "variant", "n"]
    wifi = frame.filter(variant="tcp-wifi").sort("links.wifi.delay")["goodput"]
    assert wifi.null_count() == 0
    assert frame["goodput_low"].null_count() == 8
    with pytest.raises(KeyError, match="the metrics are goodput"):
        swept.frame("goodputt")


def test_the_plot_has_a_panel_for_each_choice_of_the_other_axes(swept: lab.Sweep) -> None:
    figure = swept.plot("goodput")
    assert [axes.get_title() for axes in figure.axes] == [
        "links.eth.rate 10 Mbit/s",
        "links.eth.rate 100 Mbit/s",
    ]
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert swept.plot(x="links.eth.rate").axes[0].get_xlabel() == "links.eth.rate"
    with pytest.raises(KeyError, match="the axes are"):
        swept.plot(x="links.wifi.rate")


def test_a_sweep_is_shown_as_a_table_and_can_be_opened_again(swept: lab.Sweep) -> None:
    assert "<td" in swept._repr_html_()
    again = lab.Sweep.open(str(swept.folder))
    assert again.frame().equals(swept.frame())
    assert again._repr_html_() == swept._repr_html_()
    with pytest.raises(lab.RecordingError, match="not a sweep"):
        lab.Sweep.open(swept.folder / "runs")


def test_a_mistake_in_any_point_is_told_before_the_first_one_runs(tmp_path: Path) -> None:
    with pytest.raises(lab.ScenarioError, match=r'^axes\["links.wifi.delay"\]: '):
        lab.sweep("lisbon/A1", {"links.wifi.delay": ["5 ms", "50 mss"]}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("axes", [{}, {"links.wifi.delay": []}, {"links.wifi.delay": "5 ms"}])
def test_axes_without_values_are_refused(axes: dict[str, Any]) -> None:
    with pytest.raises(lab.ScenarioError, match=r"^axes"):
        lab.sweep("lisbon/A1", axes)


AT_ONCE = """\
name: at once
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms, loss: 1 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 5 ms, loss: 1 %}
traffic: [{http: {from: client, to: server, size: 1 MB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  tcp-b: {protocol: tcp, via: b}
  both: {protocol: tcp, via: [a, b]}
  mptcp: {}
"""


def test_the_figures_of_a_point_are_those_of_its_recordings(
    swept: lab.Sweep, tmp_path: Path
) -> None:
    file = tmp_path / "at_once.yaml"
    file.write_text(AT_ONCE)
    axes = {"links.a.delay": ["5 ms"]}
    at_once = lab.sweep(file, axes, engine="sim", repeat=2, samples=True, out=tmp_path / "out")
    assert "delay_benefit" in at_once[0].variants[-1].metrics
    for point in [*swept, *at_once]:
        by_name = {one.name: one for one in compare(point.result)}
        assert [one.name for one in point.variants] == list(by_name)
        for one in point.variants:
            theirs = by_name[one.name].metrics
            assert {name: of.samples for name, of in one.metrics.items()} == {
                name: of.samples for name, of in theirs.items()
            }


def test_without_samples_a_point_has_figures_but_no_recordings(tmp_path: Path) -> None:
    made = lab.sweep("lisbon/A1", {"links.wifi.delay": DELAYS}, repeat=1, out=tmp_path, **SHORT)
    assert [one.name for one in made[0].variants] == ["tcp-wifi", "mptcp"]
    with pytest.raises(lab.RecordingError, match="samples=True"):
        assert made[0].result
    again = lab.sweep("lisbon/A1", {"links.wifi.delay": DELAYS}, repeat=1, out=tmp_path, **SHORT)
    assert again.frame().equals(made.frame())


def test_two_results_are_compared_with_intervals(tmp_path: Path) -> None:
    first, second = (
        lab.run(
            "lisbon/A1",
            repeat=3,
            set={"links.wifi.delay": delay, "links.wifi.loss": "1 %"},
            **SHORT,
            out=tmp_path / str(number),
        )
        for number, delay in enumerate(DELAYS)
    )
    found = lab.compare(first, second)
    (row,) = [r for r in found.rows if (r.variant, r.metric) == ("tcp-wifi", "goodput")]
    assert row.first is not None
    assert row.second is not None
    assert row.first.mean is not None
    assert row.second.mean is not None
    assert row.difference == row.second.mean - row.first.mean < 0
    assert row.ci95 is not None
    assert row.ci95[0] < row.difference < row.ci95[1]
    frame = found.frame().filter(variant="tcp-wifi", metric="goodput")
    assert frame["difference_low"].item() == row.ci95[0]
    shown = found._repr_html_()
    assert "links.wifi.delay 50 ms, not 5 ms" in shown
    assert "±" in shown


def test_results_without_a_common_variant_are_not_compared(tmp_path: Path) -> None:
    first, second = (
        lab.run("lisbon/A1", **{**SHORT, "variants": name}, repeat=1, out=tmp_path / name)
        for name in SHORT["variants"]
    )
    with pytest.raises(ValueError, match="no variant is in both"):
        lab.compare(first, second)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"tls_ca": "ca.pem"}, ValueError, "they go with cluster=ADDRESS"),
        ({"cluster": "tcp://[::1]:1", "workers": 2}, ValueError, "has workers of its own"),
        ({"cluster": "tcp://[::1]:1", "samples": True}, ValueError, "recordings stay on one"),
        ({"cluster": "nowhere"}, lab.EngineError, "^cluster 'nowhere': write tcp://127"),
        ({"cluster": "tcp://192.0.2.1:1"}, lab.EngineError, "with tls_ca, tls_cert and tls_key$"),
    ],
)
def test_arguments_for_a_cluster_are_checked(
    arguments: dict[str, Any], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        lab.sweep("lisbon/A1", {"links.wifi.delay": DELAYS}, out=tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()
