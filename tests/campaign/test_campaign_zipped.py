"""Plots over keys that go together, of which one repeats a value."""

import numpy as np
import pytest
from tests.engine.launch import run

from mptcplab.campaign.compared import over_each_other
from mptcplab.campaign.plots import curves, heat_maps
from mptcplab.campaign.result import Sweep

SCENARIO = """\
name: zipped
hosts: {client: {interfaces: {a: {}, b: {}}}, server: {interfaces: {a: {}, b: {}}}}
links:
  a: {between: [client.a, server.a], rate: 20 Mbit/s, delay: 5 ms}
  b: {between: [client.b, server.b], rate: 20 Mbit/s, delay: 5 ms}
traffic: [{http: {from: client, to: server, size: 100 kB}}]
variants: {mptcp: {}}
repetitions: 1
sweep:
  axes: {links.b.rate: [1 Mbit/s, 2 Mbit/s]}
  zipped:
    - links.a.rate: [10 Mbit/s, 10 Mbit/s, 50 Mbit/s]
      links.a.delay: [5 ms, 20 ms, 20 ms]
"""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Two rates of the second link, each with three pairs of rate and delay of the first."""
    made = tmp_path_factory.mktemp("zipped")
    (made / "zipped.yaml").write_text(SCENARIO)
    ended = run(["sweep", "zipped.yaml", "--engine", "sim", "--out", "out"], made)
    assert ended.returncode == 0, ended.stderr
    return Sweep.open(made / "out")


def test_a_heat_map_has_a_cell_for_each_row(sweep: Sweep) -> None:
    drawn = heat_maps(sweep, "completion_s").axes[0]
    (image,) = drawn.get_images()
    cells = np.asarray(image.get_array())
    assert cells.shape == (2, 3)
    assert np.sort(cells.ravel()) == pytest.approx(
        sorted(sweep.frame("completion_s")["completion_s"])
    )
    names = [text.get_text() for text in drawn.get_xticklabels()]
    assert names == ["10 Mbit/s with 5 ms", "10 Mbit/s with 20 ms", "50 Mbit/s with 20 ms"]


def test_no_curve_has_two_points_at_one_place(sweep: Sweep) -> None:
    figure = curves(sweep, "completion_s", "links.a.rate")
    places = [
        np.asarray(line.get_xdata()).tolist() for one in figure.axes for line in one.get_lines()
    ]
    assert sum(map(len, places)) >= 6
    assert all(len(set(own)) == len(own) for own in places)


def test_other_axes_of_a_comparison_stand_at_their_first_row(sweep: Sweep) -> None:
    figure = over_each_other({"one": sweep, "other": sweep}, "completion_s", "links.b.rate", None)
    first = sweep.frame("completion_s").filter(
        **{"links.a.rate": "10 Mbit/s", "links.a.delay": "5 ms"}
    )
    shown = [
        np.asarray(line.get_ydata()).tolist() for one in figure.axes for line in one.get_lines()
    ]
    assert first["completion_s"].to_list() in shown
    assert all(len(own) <= 2 for own in shown)
