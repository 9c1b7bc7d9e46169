"""Do real agents find the benefits that the lab finds? `louvain/agents`, measured by both.

The lab runs the scenario on the kernel engine. A real agent measures the same networks, which the
kernel engine emulates, against a real target and by the plan of a real server, all three of them
inside. Both have the benefits of the same definitions, of transfers of the same size, and begin
them at moments of chance in the course of the links' rates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import mptcplab
from mptcplab.measure.figures import SizeFigures
from mptcplab.measure.plan import Direction
from mptcplab.metrics import compare
from mptcplab.metrics.statistics import Estimate, difference_of_means
from mptcplab.scenario import Scenario, load, with_overrides
from mptcplab.server.intake import figures_of

from .effort import Effort
from .figures import Figure, figure
from .served.lab import Transfers, lab

_SCENARIO = "louvain/agents"
_VARIANTS = ("mptcp", "mptcp-shared")
_PATHS = ("tcp-dsl", "tcp-lte", "tcp-wifi")
_AT_ONCE = "tcp-all"
_IDLE = [{"ping": {"from": "probe", "to": "server", "interval": "10 min", "count": 1_000}}]

Samples = Mapping[str, Sequence[float]]
"""By the name of a figure, one a repetition."""


def measure(effort: Effort) -> list[Figure]:
    """Figures of both, and how far their means are apart."""
    size = effort.sized(30_000_000, 1_000_000)
    scenario = with_overrides(load(_SCENARIO), {"traffic.0.http.size": f"{size} B"})
    if effort.shortest:
        scenario = with_overrides(scenario, {"vary": None})
    found = []
    for variant in _VARIANTS[: effort.sized(len(_VARIANTS), 1)]:
        theirs = _of_the_lab(scenario, variant, effort)
        ours = _of_an_agent(scenario, variant, size, effort)
        for name, samples in theirs.items():
            found += _compared(f"{variant}: {name}", ours[name], samples)
    return found


def _of_the_lab(scenario: Scenario, variant: str, effort: Effort) -> Samples:
    suffix = variant.removeprefix("mptcp")
    paths = [path + suffix for path in _PATHS]
    with TemporaryDirectory(prefix="agents-in-the-lab-", dir=os.environ.get("TMPDIR")) as folder:
        result = mptcplab.run(
            scenario,
            engine="kernel",
            variants=[*paths, _AT_ONCE + suffix, variant],
            repeat=effort.repeat,
            out=Path(folder) / "result",
            progress=False,
        )
        found = {one.name: one.metrics for one in compare(result)}
    own = found[variant]
    return {
        "aggregation benefit": _known(own.get("aggregation_benefit")),
        "delay benefit": _known(own.get("delay_benefit")),
        "goodput of MPTCP": _known(own.get("goodput")),
        **{f"goodput of {path}": _known(found[path + suffix].get("goodput")) for path in _PATHS},
    }


def _of_an_agent(scenario: Scenario, variant: str, size: int, effort: Effort) -> Samples:
    idle = with_overrides(scenario, {"traffic": _IDLE, "vary": None})
    with (
        TemporaryDirectory(prefix="agents-in-the-lab-", dir=os.environ.get("TMPDIR")) as folder,
        lab(Path(folder), idle, "server", "probe", variant) as built,
    ):
        result = built.measured(Transfers(size, effort.repeat, [Direction.DOWN]))
    told = figures_of(result)
    (own,) = told.sizes[Direction.DOWN]
    _check(own, [path.interface for path in told.paths])
    return {
        "aggregation benefit": _known(own.aggregation),
        "delay benefit": _known(own.delay),
        "goodput of MPTCP": _known(own.mptcp_goodput),
        **{
            f"goodput of tcp-{path.interface}": _known(goodput)
            for path, goodput in zip(told.paths, own.path_goodputs, strict=True)
        },
    }


def _check(own: SizeFigures, interfaces: Sequence[str]) -> None:
    """That the agent has measured these paths, and MPTCP over all of them."""
    if interfaces != [path.removeprefix("tcp-") for path in _PATHS]:
        raise RuntimeError(f"the agent's paths are {', '.join(interfaces)}")
    if own.fell_back or own.unfinished or own.tried < len(own.mptcp):
        raise RuntimeError("transfers by MPTCP were none, or have not finished")


def _compared(title: str, ours: Sequence[float], theirs: Sequence[float]) -> list[Figure]:
    if not ours or not theirs:
        raise RuntimeError(f"{title}: no repetition has it")
    is_goodput = "goodput" in title
    unit = "Mbit/s" if is_goodput else ""
    found = [
        figure(f"{title}, lab", unit, theirs),
        figure(f"{title}, agent", unit, ours),
    ]
    apart = difference_of_means(ours, theirs)
    # An agent's time begins with its request, the lab's with the connection: means of goodputs that
    # hardly vary differ by that.
    if not is_goodput and apart.mean is not None and apart.half_width:
        title = f"{title}: means apart, in half widths of the interval of their difference"
        found.append(figure(title, "", [abs(apart.mean) / apart.half_width], high=1))
    return found


def _known(estimate: Estimate | None) -> list[float]:
    return [] if estimate is None else [sample for sample in estimate.samples if sample is not None]
