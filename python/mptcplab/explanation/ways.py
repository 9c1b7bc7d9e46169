"""The links that a path's packets cross, by the routes of the scenario."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from mptcplab.scenario import Scenario
from mptcplab.scenario.network import FAMILIES, End, build


def links_between(scenario: Scenario, start: End, end: End) -> AbstractSet[str] | None:
    """Names of the links from one interface to another.

    Null where the routes do not say them: a controller or a hash chooses (`ecmp`), or none leads
    there. The scenario is as a variant makes it.
    """
    network = build(scenario)
    if network.switches or any(router.ecmp for router in scenario.routers.values()):
        return None
    for family in FAMILIES:
        way = network.forwarding(start, family).get(end)
        if way is not None:
            return {network.link_of[one] for one in way}
    return None


def leads_to(scenario: Scenario, start: End, host: str) -> bool:
    """Whether a route leads from an interface to a host; the scenario is as a variant makes it."""
    network = build(scenario)
    return any(end.node == host for family in FAMILIES for end in network.forwarding(start, family))
