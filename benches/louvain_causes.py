"""In how many downloads MPTCP beats TCP over the better path, from a sweep of `louvain/causes`.

`mptcplab sweep louvain/causes --engine sim --out out/causes`, then
`python -m benches.louvain_causes out/causes`: by the axes of the sweep, of each variant the share
of the downloads that took less time than TCP over the better path, and the median of how many
times as fast they were.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import median

from mptcplab.campaign.result import Sweep

VARIANTS = ("mptcp", "mptcp-lowest-rtt", "mptcp-v095", "mptcp-buffer")
PATHS = ("tcp-eth", "tcp-wifi")
AXES = ("traffic.0.http.size", "links.wifi.loss")


def main() -> None:
    """Prints the table of a sweep."""
    (folder,) = sys.argv[1:]
    speeds: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for point in Sweep.open(folder):
        times = {one.name: one.metrics["completion_s"].mean for one in point.variants}
        best = [times[path] for path in PATHS]
        own = speeds[tuple(str(point.values[axis]) for axis in AXES)]
        for name in VARIANTS:
            took = times[name]
            if took is not None and None not in best:
                own[name].append(min(one for one in best if one is not None) / took)
    print(f"| size | loss of WiFi | pairs | {' | '.join(VARIANTS)} |")
    print("|" + "---|" * (3 + len(VARIANTS)))
    for key, found in speeds.items():
        cells = [_cell(found[name]) for name in VARIANTS]
        print(f"| {' | '.join(key)} | {len(found[VARIANTS[0]])} | {' | '.join(cells)} |")


def _cell(speeds: list[float]) -> str:
    faster = sum(speed > 1 for speed in speeds) / len(speeds)
    return f"{100 * faster:.0f} %, {median(speeds):.2f}"


if __name__ == "__main__":
    main()
