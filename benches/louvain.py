"""The benefits of MPTCP over random pairs of paths, from a sweep of `louvain/experiments`.

`mptcplab sweep louvain/experiments --engine sim --out out/experiments`, then
`python -m benches.louvain out/experiments`: both benefits over disjoint paths and over paths with a
common link, by congestion control, by size, and by how much the paths' rates and delays differ.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from mptcplab.campaign.result import Sweep
from mptcplab.metrics.statistics import percentile
from mptcplab.scenario.units import parse_rate, parse_size, parse_time

VARIANTS = ("mptcp", "mptcp-buffer")
BENEFITS = ("aggregation_benefit", "delay_benefit")
RATIOS = (1, 2, 4, 8, 16, 1000)
"""Bounds of the classes of ratios."""
SIZES_KB = (10, 100, 1000, 20_000)
Point = dict[str, Any]


def main() -> None:
    """Prints the tables of a sweep."""
    (folder,) = sys.argv[1:]
    points = list(_points(Sweep.open(folder)))
    _table("", points, lambda own: {"all": own})
    _table("congestion control", points, lambda own: _by(own, "control"))
    _table("size", points, lambda own: classes(own, "size_kb", SIZES_KB, " kB"))
    _table("ratio of rates", points, lambda own: classes(own, "rates", RATIOS))
    _table("ratio of delays", points, lambda own: classes(own, "delays", RATIOS))


def _points(sweep: Sweep) -> Iterator[Point]:
    """The values drawn at each point, and the benefits of each variant there."""
    for row in sweep.frame(*BENEFITS).iter_rows(named=True):
        if row["variant"] not in VARIANTS:
            continue
        rates = [parse_rate(row[f"links.{link}.rate"]) for link in ("eth", "wifi")]
        delays = [parse_time(row[f"links.{link}.delay"]) for link in ("eth", "wifi")]
        yield {
            "common": row["links.common.rate"],
            "control": row["hosts.server.congestion_control"],
            "size_kb": parse_size(row["traffic.0.http.size"]) / 1000,
            "rates": max(rates) / min(rates),
            "delays": max(delays) / min(delays),
            "variant": row["variant"],
            **{name: row[name] for name in BENEFITS},
        }


def _by(points: Sequence[Point], key: str) -> Mapping[str, list[Point]]:
    names = sorted({point[key] for point in points})
    return {name: [point for point in points if point[key] == name] for name in names}


def classes(
    points: Sequence[Point], key: str, bounds: Sequence[int], unit: str = ""
) -> Mapping[str, list[Point]]:
    """The points by the class that a value of each is in; a class begins with its lower bound."""
    return {
        f"{low} to {high}{unit}": [point for point in points if low <= point[key] < high]
        for low, high in itertools.pairwise(bounds)
    }


def _table(title: str, points: Sequence[Point], divided: Any) -> None:
    """One row a class, of each variant over each common link."""
    figures = ("mean", "25 %", "median", "75 %")
    columns = [f"{name.partition('_')[0]} {figure}" for name in BENEFITS for figure in figures]
    heads = ["common link", "variant", title, "experiments", *columns, "faster than the best path"]
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for common, variant in itertools.product(_by(points, "common"), VARIANTS):
        own = [one for one in points if (one["common"], one["variant"]) == (common, variant)]
        for name, some in divided(own).items():
            cells = [cell for benefit in BENEFITS for cell in _cells(some, benefit)]
            row = [common, variant, name, str(len(some)), *cells, _faster(some)]
            print(f"| {' | '.join(row)} |")


def _known(points: Sequence[Point], benefit: str) -> list[float]:
    return [point[benefit] for point in points if point[benefit] is not None]


def _cells(points: Sequence[Point], benefit: str) -> list[str]:
    known = _known(points, benefit)
    if not known:
        return ["–"] * 4
    quartiles = [percentile(known, percent) or 0.0 for percent in (25, 50, 75)]
    return [f"{value:.2f}".replace("-", "−") for value in (mean(known), *quartiles)]


def _faster(points: Sequence[Point]) -> str:
    known = _known(points, "delay_benefit")
    return f"{100 * sum(value > 0 for value in known) / len(known):.0f} %" if known else "–"


if __name__ == "__main__":
    main()
