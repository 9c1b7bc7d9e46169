"""The tables of the connected car's page, from a captured result of `carfi/netcat-topology`.

`mptcplab run carfi/netcat-topology --repeat 10 --capture --out out/car`, then
`python -m benches.carfi out/car`. Rates are those of the applications, in kilobytes a second as in
the document; what packets tell comes from the captures of the client's interfaces. Beside the
document's figures where it has some.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.trace.reading import read
from mptcplab.trace.render.json import to_json
from mptcplab.trace.views import view

_RATES = {"fullmesh-announced": "508.5 (31.2)", "application-opened": "151.4 (3.1)"}
_INTERVALS = {
    "fullmesh-announced": ("0.1716 (0.0002)", "0.0283 (0.0064)", "0.1999 (0.0065)"),
    "application-opened": ("0.0908 (0.0521)", "0.0505 (0.0521)", "0.1412 (0.0001)"),
}
_SHARES = {"10.0.1.6": "40.66", "10.0.2.6": "35.67", "10.0.3.6": "23.66"}


def main() -> None:
    """Prints the tables of every variant of a result."""
    (folder,) = map(Path, sys.argv[1:])
    for variant in sorted(path for path in folder.iterdir() if path.is_dir()):
        runs = sorted(variant.iterdir(), key=lambda path: int(path.name))
        print(f"\n## {variant.name}, {len(runs)} runs\n")
        _rates(variant.name, [Recording.open(run) for run in runs])
        _packets(variant.name, [_connection(run) for run in runs])
        _round_trips([Recording.open(run) for run in runs])


def _rates(variant: str, recordings: Sequence[Recording]) -> None:
    rates, durations = [], []
    for recording in recordings:
        (row,) = recording.frame("transfers").to_dicts()
        seconds = (row["end_ns"] - row["start_ns"]) / 1e9
        durations.append(seconds)
        rates.append(row["bytes"] / seconds / 1e3)
    print("| | here: mean (standard deviation) | document |\n|---|---|---|")
    print(f"| rate, kB/s | {_told(rates, 1)} | {_RATES.get(variant, '')} |")
    print(f"| duration, s | {_told(durations, 2)} | |")


def _connection(run: Path) -> dict[str, Any]:
    files = [str(file) for file in sorted(run.glob("client-*.pcapng"))]
    found = to_json(view(read(files, packets=True)), statistics=True)
    (connection,) = found["connections"]
    return dict(connection)


def _packets(variant: str, connections: Sequence[dict[str, Any]]) -> None:
    starts = [sorted(one["start_ns"] / 1e9 for one in found["subflows"]) for found in connections]
    theirs = _INTERVALS.get(variant, ("", "", ""))
    for (first, second), document in zip(((0, 1), (1, 2), (0, 2)), theirs, strict=True):
        spans = [start[second] - start[first] for start in starts if len(start) > second]
        if spans:
            name = f"interval {first + 1}–{second + 1} of flow starts, s"
            print(f"| {name} | {_told(spans, 4)} | {document} |")
    print(
        "\n| address | packets | rate, packets/ms | share, % | burst rate, packets/ms | document |"
    )
    print("|---|---|---|---|---|---|")
    sent = [
        {row["address"]: row for row in found["addresses"] if row["end"] == "client"}
        for found in connections
    ]
    for address in sorted(sent[0]):
        rows = [found[address] for found in sent if address in found]
        packets = [row["packets"] for row in rows]
        shares = [
            100 * row["packets"] / sum(other["packets"] for other in found.values())
            for row, found in zip(rows, sent, strict=True)
        ]
        rates = [row["packets_per_ms"] for row in rows]
        bursts = [row["burst_packets_per_ms"] for row in rows]
        told = [_told(packets, 0), _told(rates, 3), _told(shares, 2), _told(bursts, 2)]
        document = _SHARES.get(address, "") if variant == "application-opened" else ""
        print(f"| {address} | {' | '.join(told)} | {document} |")


def _round_trips(recordings: Sequence[Recording]) -> None:
    """Smoothed round-trip times, and the payload carried, by interface."""
    every = [measure(recording).metrics for recording in recordings]
    interfaces = [name.removeprefix("share.") for name in every[0] if name.startswith("share.eth")]
    print("\n| interface | payload, % | round trip: median, s | 99 % below, s |\n|---|---|---|---|")
    for interface in interfaces:
        names = [f"share.{interface}", f"rtt_s.{interface}.p50", f"rtt_s.{interface}.p99"]
        shares, medians, longest = ([own.get(name) or 0.0 for own in every] for name in names)
        told = [_told([100 * share for share in shares], 1), _told(medians, 3), _told(longest, 3)]
        print(f"| {interface} | {' | '.join(told)} |")


def _told(values: Sequence[float], digits: int) -> str:
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ({spread:.{digits}f})"


if __name__ == "__main__":
    main()
