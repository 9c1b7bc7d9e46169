"""The Louvain study's experiments, carried out by real agents.

`python -m benches.agent_experiments FOLDER [DRAWS]`: the first draws of `louvain/experiments`, each
over disjoint paths and over paths with a common link (150 draws unless told: 300 experiments). For
each the kernel engine builds the network, a real agent measures it by the plan of a real server
against a real target: TCP over each path and over both at once, and MPTCP. Sizes are cut so that an
experiment has about twenty seconds of data. What is done is kept in the folder, and another run
goes on after it. At the end come the benefits, beside those of the simulator for the same draws and
sizes.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

import mptcplab
from mptcplab.engine.job import EngineError
from mptcplab.measure.figures import SizeFigures
from mptcplab.measure.plan import Direction
from mptcplab.metrics import compare
from mptcplab.metrics.statistics import Estimate
from mptcplab.scenario import Scenario, load, with_overrides
from mptcplab.scenario.sweep import overrides_of, points
from mptcplab.scenario.units import parse_rate, parse_size
from mptcplab.server.intake import figures_of

from .louvain import RATIOS, SIZES_KB, classes
from .served.lab import Transfers, lab

_SCENARIO = "louvain/experiments"
_DRAWS = 150
_MOST_S = 16.0
"""Of data in an experiment, at the rates of the links; windows and losses make it longer."""
_SIZE = "traffic.0.http.size"
_CONTROL = "hosts.server.congestion_control"
_IDLE = [{"ping": {"from": "probe", "to": "server", "interval": "10 min", "count": 1_000}}]
_VARIANTS = ("tcp-eth", "tcp-wifi", "tcp-both", "mptcp")
Experiment = dict[str, Any]


def main() -> None:
    """Carries out what is left, and prints the tables."""
    folder = Path(sys.argv[1])
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else _DRAWS
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "experiments.jsonl"
    wanted = list(_experiments(draws))
    done = _read(kept)
    known = {one["number"] for one in done}
    # The last line may have been cut.
    kept.write_text("".join(json.dumps(one) + "\n" for one in done))
    with kept.open("a") as file:
        for place, one in enumerate(wanted, 1):
            if one["number"] in known:
                continue
            print(f"{place}/{len(wanted)} {one['values']}", file=sys.stderr, flush=True)
            file.write(json.dumps(one | _by_an_agent(one) | _by_the_simulator(one)) + "\n")
            file.flush()
            os.fsync(file.fileno())
    numbers = {one["number"] for one in wanted}
    _print([one for one in _read(kept) if one["number"] in numbers])


def _experiments(draws: int) -> Iterator[Experiment]:
    """The experiments, both of a draw after each other."""
    scenario = with_overrides(load(_SCENARIO), {"sweep.drawn.count": draws})
    assert scenario.sweep is not None
    by_common = list(points(scenario.sweep.every_axis))
    for draw in range(draws):
        for place in range(draw, len(by_common), draws):
            values = overrides_of(by_common[place])
            size = min(parse_size(values[_SIZE]), _most_bytes(values))
            control = values[_CONTROL] if values[_CONTROL] in ("cubic", "reno") else "cubic"
            told = {_SIZE: f"{size} B", _CONTROL: control}
            rates = _rates(values)
            yield {
                "number": 2 * draw + place // draws + 1,
                "values": values | told,
                "size_kb": size / 1000,
                "rates": max(rates) / min(rates),
            }


def _most_bytes(values: Mapping[str, Any]) -> int:
    common = parse_rate(values["links.common.rate"])
    rates = [min(common, rate) for rate in _rates(values)]
    # MPTCP and TCP over both at once take no longer than the better path, or little.
    per_bit_s = sum(1 / rate for rate in rates) + 2 / max(rates)
    return int(_MOST_S / per_bit_s / 8)


def _rates(values: Mapping[str, Any]) -> list[float]:
    return [parse_rate(values[f"links.{link}.rate"]) for link in ("eth", "wifi")]


def _scenario(values: Mapping[str, Any]) -> Scenario:
    return with_overrides(load(_SCENARIO), values)


def _by_an_agent(one: Experiment) -> Experiment:
    values = dict(one["values"])
    size = int(parse_size(values.pop(_SIZE)))
    control = values.pop(_CONTROL)
    idle = _scenario(values | {"traffic": _IDLE})
    begin_s = time.monotonic()
    try:
        with (
            TemporaryDirectory(prefix="agent-experiments-") as folder,
            lab(Path(folder), idle, "server", "probe", seed=one["number"]) as built,
        ):
            begin_s = time.monotonic()
            told = figures_of(built.measured(Transfers(size, 1, [Direction.DOWN], control)))
    except (RuntimeError, EngineError) as error:
        return {"failed": str(error)}
    finally:
        lasted_s = time.monotonic() - begin_s
    (own,) = told.sizes[Direction.DOWN]
    return {"lasted_s": lasted_s, "agent": _figures_of_agent(own)}


def _figures_of_agent(own: SizeFigures) -> Experiment:
    return {
        "paths_s": [_only(time_s) for time_s in own.path_times],
        "mptcp_s": _only(own.mptcp_time),
        "aggregation": _only(own.aggregation),
        "delay": _only(own.delay),
        "is_tcp": own.fell_back > 0,
    }


def _by_the_simulator(one: Experiment) -> Experiment:
    with TemporaryDirectory(prefix="agent-experiments-") as folder:
        result = mptcplab.run(
            _scenario(one["values"]),
            engine="sim",
            variants=_VARIANTS,
            repeat=1,
            seed=one["number"],
            out=Path(folder) / "result",
            progress=False,
        )
        found = {own.name: own.metrics for own in compare(result)}
    return {
        "simulator": {
            "paths_s": [_only(found[name].get("completion_s")) for name in _VARIANTS[:2]],
            "mptcp_s": _only(found["mptcp"].get("completion_s")),
            "aggregation": _only(found["mptcp"].get("aggregation_benefit")),
            "delay": _only(found["mptcp"].get("delay_benefit")),
        }
    }


def _only(estimate: Estimate | None) -> float | None:
    """The only sample of an estimate."""
    samples = () if estimate is None else estimate.samples
    return samples[0] if samples else None


def _read(kept: Path) -> list[Experiment]:
    if not kept.exists():
        return []
    return [json.loads(line) for line in kept.read_text().splitlines(True) if line.endswith("\n")]


def _print(done: Sequence[Experiment]) -> None:
    failed = [one for one in done if "failed" in one]
    lasted = [one["lasted_s"] for one in done if "failed" not in one]
    print(f"{len(done)} experiments, {len(failed)} failed", end="")
    if lasted:
        print(f"; {median(lasted):.1f} s at the median, {max(lasted):.1f} s at most", end="")
    print()
    for one in failed:
        print(f"  {one['number']}: {one['failed']}")
    measured = [one for one in done if "failed" not in one]
    _table("", measured, {"all": measured})
    _table("size", measured, classes(measured, "size_kb", SIZES_KB, " kB"))
    _table("ratio of rates", measured, classes(measured, "rates", RATIOS))


def _table(title: str, done: Sequence[Experiment], divided: Mapping[str, Any]) -> None:
    heads = ["common link", title, "experiments"]
    for what in ("faster than the best path", "mean aggregation", "mean delay benefit"):
        heads += [f"{what}: agents", "simulator"]
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * 3}{'---:|' * 6}")
    commons = sorted({one["values"]["links.common.rate"] for one in done})
    for common, (name, members) in itertools.product(commons, divided.items()):
        own = [one for one in members if one["values"]["links.common.rate"] == common]
        if own:
            cells = itertools.chain.from_iterable(
                zip(_cells(own, "agent"), _cells(own, "simulator"), strict=True)
            )
            print(f"| {common} | {name} | {len(own)} | {' | '.join(cells)} |")


def _cells(own: Sequence[Experiment], engine: str) -> list[str]:
    known = [one[engine] for one in own]
    faster = [
        one["mptcp_s"] < min(one["paths_s"])
        for one in known
        if one["mptcp_s"] is not None and None not in one["paths_s"]
    ]
    cells = [f"{100 * sum(faster) / len(faster):.0f} %" if faster else "–"]
    for name in ("aggregation", "delay"):
        values = [one[name] for one in known if one[name] is not None]
        cells.append(f"{mean(values):.2f}".replace("-", "−") if values else "–")
    return cells


if __name__ == "__main__":
    main()
