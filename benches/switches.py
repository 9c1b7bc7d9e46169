"""The cost of a switch on the kernel engine: TCP over one link, beside TCP over two with a router,
a switch or a bridge of Open vSwitch between them.

Links without a limit say how much the emulator carries. A bridge of Open vSwitch is for low rates,
and has links of 20, 40 and 80 Mbit/s; where it is not installed, its rows are left out.
"""

from __future__ import annotations

from mptcplab.engine.choice import KERNEL
from mptcplab.engine.kernel.machine import open_vswitch_missing
from mptcplab.scenario import Scenario, loads

from .effort import Effort
from .figures import Figure, figure
from .samples import Part, samples
from .shortened import shortened

_LEAST_SHARE = 0.8
_LOW_MBPS = (20, 40, 80)
_UNLIMITED = "unlimited"
_LINK = "one link"
_BETWEEN = {
    "a router": "routers: {middle: {}}",
    "a switch": "switches: {middle: {}}\ncontroller: shortest",
    "Open vSwitch": "switches: {middle: {kind: openvswitch}}\ncontroller: shortest",
}
_HOSTS = """\
hosts: {client: {interfaces: {eth: {}}}, server: {interfaces: {eth: {}}}}
"""
_TRAFFIC = """\
traffic: [{bulk: {from: client, to: server, direction: down, duration: 10 s}}]
variants: {tcp: {protocol: tcp}}
"""


def measure(effort: Effort) -> list[Figure]:
    """Goodput of each in Mbit/s, and the shares of one link's that two carry."""
    measured = _of_rate(_UNLIMITED, ("a router", "a switch"), effort, _LEAST_SHARE)
    if open_vswitch_missing() is None:
        for mbps in _LOW_MBPS[:1] if effort.shortest else _LOW_MBPS:
            measured += _of_rate(f"{mbps} Mbit/s", ("Open vSwitch",), effort, None)
    return measured


def _of_rate(
    rate: str, between: tuple[str, ...], effort: Effort, least_share: float | None
) -> list[Figure]:
    """Figures of links of one rate, measured in turn."""
    scenarios = {name: _scenario(name, rate, effort.seconds) for name in (_LINK, *between)}
    goodputs: dict[str, list[float]] = {name: [] for name in scenarios}
    for seed in range(1, effort.repeat + 1):
        parts = [Part(scenario, ["tcp"]) for scenario in scenarios.values()]
        for name, found in zip(scenarios, samples(KERNEL, parts, 1, seed), strict=True):
            goodputs[name] += found["tcp", "goodput"]
    figures = [figure(f"{rate}, {name}", "Mbit/s", goodputs[name]) for name in scenarios]
    for name in between:
        shares = [two / one for one, two in zip(goodputs[_LINK], goodputs[name], strict=True)]
        figures.append(figure(f"{rate}, {name} over one link", "", shares, low=least_share))
    return figures


def _scenario(between: str, rate: str, seconds: float) -> Scenario:
    if between == _LINK:
        links = [_link("client.eth", "server.eth", rate)]
    else:
        links = [
            _link("client.eth", "middle.client", rate),
            _link("server.eth", "middle.server", rate),
        ]
    text = f"{_HOSTS}{_BETWEEN.get(between, '')}\nlinks: {{{', '.join(links)}}}\n{_TRAFFIC}"
    return shortened(loads(text, "switches.yaml"), seconds)


def _link(one: str, other: str, rate: str) -> str:
    return f"{one.partition('.')[0]}: {{between: [{one}, {other}], rate: {rate}}}"
