"""Nodes of the plan: addresses, gateways, routes and MPTCP settings."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from mptcplab.plan import node as plan
from mptcplab.scenario.host import Interface, Mptcp
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import FAMILIES, End, IpAddress, Network, Subnet
from mptcplab.scenario.path_manager import path_manager
from mptcplab.scenario.scheduler import Scheduler


@dataclass(frozen=True)
class _Known:
    """The facts that the routes of every node rest on, in one family.

    A segment is a link, or several that switches join.
    """

    subnets: Mapping[str, Subnet]
    """Segment → its network."""
    distances: Mapping[str, Mapping[str, int]]


def compile_nodes(scenario: Scenario, network: Network) -> tuple[plan.Node, ...]:
    """Hosts, routers and switches of the plan, in the order of `network.nodes`."""
    known = {
        family: _Known(_subnets(network, family), _distances(network, family))
        for family in FAMILIES
    }
    hosts = (_host(scenario, network, known, name) for name in scenario.hosts)
    routers = (_router(scenario, network, known, name) for name in scenario.routers)
    switches = (
        _switch(scenario, network, name, number)
        for number, name in enumerate(scenario.switches, start=1)
    )
    return (*hosts, *routers, *switches)


def _host(
    scenario: Scenario, network: Network, known: Mapping[int, _Known], name: str
) -> plan.Node:
    host = scenario.hosts[name]
    manager = path_manager(scenario, name)
    interfaces = []
    for end in network.ends_of(name):
        settings = network.interfaces[end]
        endpoint = _endpoint(manager.kind, settings)
        interfaces.append(_interface(network, end, settings, endpoint, _gateways(network, end)))
    return plan.Node(
        name=name,
        router=False,
        switch=None,
        interfaces=tuple(interfaces),
        routes=tuple(_route(*route) for route in _host_routes(network, known, name)),
        mptcp=_mptcp(host.mptcp, manager.kind, manager.subflows_per_pair),
        clock_granularity_ns=host.clock_granularity,
        pacing=host.pacing,
        sysctls=host.sysctls,
    )


def _router(
    scenario: Scenario, network: Network, known: Mapping[int, _Known], name: str
) -> plan.Node:
    return plan.Node(
        name=name,
        router=True,
        switch=None,
        interfaces=tuple(
            _interface(network, end, network.interfaces[end], None, [])
            for end in network.ends_of(name)
        ),
        routes=tuple(_route(*route) for route in _router_routes(scenario, network, known, name)),
        mptcp=_mptcp(Mptcp(enabled=False), "default", 1),
        clock_granularity_ns=1,
        pacing=False,
        sysctls=scenario.routers[name].sysctls,
    )


def _switch(scenario: Scenario, network: Network, name: str, number: int) -> plan.Node:
    kind = scenario.switches[name].kind
    return plan.Node(
        name=name,
        router=False,
        switch=plan.Switch(datapath_id=number, is_open_vswitch=kind == "openvswitch"),
        interfaces=tuple(
            _interface(network, end, network.interfaces[end], None, [])
            for end in network.ends_of(name)
        ),
        routes=(),
        mptcp=_mptcp(Mptcp(enabled=False), "default", 1),
        clock_granularity_ns=1,
        pacing=False,
        sysctls={},
    )


def _interface(
    network: Network,
    end: End,
    settings: Interface,
    endpoint: plan.EndpointFlags | None,
    gateways: list[IpAddress],
) -> plan.Interface:
    return plan.Interface(
        name=end.interface,
        addresses=tuple(
            plan.Prefix(address=address.ip, length=address.network.prefixlen)
            for address in network.addresses[end]
        ),
        gateways=tuple(gateways),
        mtu=settings.mtu,
        address_delay_ns=settings.address_delay,
        endpoint=endpoint,
    )


def _endpoint(manager: str, settings: Interface) -> plan.EndpointFlags | None:
    """Flags of the kernel's endpoint; it refuses signal together with fullmesh (tried)."""
    if manager == "fullmesh":
        return plan.EndpointFlags(subflow=True, fullmesh=True, backup=settings.backup)
    if manager == "signal":
        return plan.EndpointFlags(signal=True, backup=settings.backup)
    if manager == "subflow-signal":
        return plan.EndpointFlags(signal=True, subflow=True, backup=settings.backup)
    return None


def _mptcp(settings: Mptcp, manager: str, subflows_per_pair: int) -> plan.Mptcp:
    accepted = settings.limits.add_addr_accepted
    if accepted is None:
        # A host that accepts announced addresses opens subflows to them: no passive path manager.
        accepted = 8 if manager in ("fullmesh", "signal", "subflow-signal") else 0
    return plan.Mptcp(
        enabled=settings.enabled,
        checksum=settings.checksum,
        syn_retries=settings.syn_retries,
        scheduler=None if settings.scheduler is None else settings.scheduler.name,
        scheduler_options=_scheduler_options(settings.scheduler or Scheduler(name="default")),
        subflows_per_pair=subflows_per_pair,
        limit_subflows=settings.limits.subflows,
        limit_add_addr_accepted=accepted,
        by_application=manager == "application",
    )


def _scheduler_options(scheduler: Scheduler) -> plan.SchedulerOptions:
    return plan.SchedulerOptions(
        num_segments=scheduler.num_segments,
        cwnd_limited=scheduler.cwnd_limited,
        opportunistic_retransmission=scheduler.opportunistic_retransmission,
        penalisation=scheduler.penalisation,
    )


def _route(to: Subnet, via: IpAddress) -> plan.Route:
    return plan.Route(to=_prefix(to), via=via)


@lru_cache(maxsize=4096)
def _prefix(subnet: Subnet) -> plan.Prefix:
    """The network of many routes."""
    return plan.Prefix(address=subnet.network_address, length=subnet.prefixlen)


def _gateways(network: Network, end: End) -> list[IpAddress]:
    """The first router on the segment of a host's interface, in each family that both have."""
    routers = [other for other in network.neighbours(end) if other.node in network.routers]
    found = []
    for family in FAMILIES:
        addresses = (network.address(router, family) for router in routers)
        address = next((one for one in addresses if one is not None), None)
        if address is not None and network.address(end, family) is not None:
            found.append(address)
    return found


def _subnets(network: Network, family: int) -> dict[str, Subnet]:
    """Segment → its network of the family."""
    return {
        name: address.network
        for name, ends in network.segments.items()
        for end in ends
        for address in network.addresses[end]
        if address.version == family
    }


def _segments_at(network: Network, router: str) -> list[str]:
    return [network.segment_of[end] for end in network.ends_of(router) if end in network.segment_of]


def _reachable_segments(network: Network, start: End, family: int) -> set[str]:
    """Segments that packets leaving at `start` reach."""
    reached = {arriving.node for arriving in network.forwarding(start, family)}
    return {link for node in reached & network.routers for link in _segments_at(network, node)}


def _distances(network: Network, family: int) -> dict[str, dict[str, int]]:
    """Router → segment → segments that a packet of the router crosses to it, itself included."""
    neighbours = {
        router: [
            peer.node
            for end in network.ends_of(router)
            for peer in network.neighbours(end)
            if peer.node in network.routers
            and network.address(end, family) is not None
            and network.address(peer, family) is not None
        ]
        for router in network.routers
    }
    links = {router: _segments_at(network, router) for router in network.routers}
    found: dict[str, dict[str, int]] = {}
    for start in network.routers:
        crossed = dict.fromkeys(links[start], 1)
        away = {start: 0}
        waiting = deque([start])
        while waiting:
            router = waiting.popleft()
            for other in neighbours[router]:
                if other not in away:
                    away[other] = away[router] + 1
                    waiting.append(other)
                    for link in links[other]:
                        crossed.setdefault(link, away[other] + 1)
        found[start] = crossed
    return found


def _router_routes(
    scenario: Scenario, network: Network, known: Mapping[int, _Known], router: str
) -> Iterator[tuple[Subnet, IpAddress]]:
    """The shortest way to every network that is not the router's own; with `ecmp` all of them."""
    own = set(_segments_at(network, router))
    for family in FAMILIES:
        best: dict[str, tuple[int, list[IpAddress]]] = {}
        nearest = (
            (end, peer) for end in network.ends_of(router) for peer in network.neighbours(end)
        )
        for end, peer in nearest:
            via = network.address(peer, family)
            if via is None or network.address(end, family) is None:
                continue
            for link, crossed in known[family].distances.get(peer.node, {}).items():
                if link in own:
                    continue
                if link not in best or crossed < best[link][0]:
                    best[link] = (crossed, [via])
                elif crossed == best[link][0] and scenario.routers[router].ecmp:
                    best[link][1].append(via)
        for link, subnet in known[family].subnets.items():
            for via in best[link][1] if link in best else ():
                yield subnet, via


def _host_routes(
    network: Network, known: Mapping[int, _Known], host: str
) -> Iterator[tuple[Subnet, IpAddress]]:
    """Ways to networks that the default route, over the first gateway, does not reach."""
    ends = network.ends_of(host)
    if len(ends) == 1:
        return
    own = {network.segment_of[end] for end in ends}
    for family in FAMILIES:
        subnets = known[family].subnets
        default_taken = False
        reached = set(own)
        for end in ends:
            via = next((g for g in _gateways(network, end) if g.version == family), None)
            if via is None:
                continue
            links = _reachable_segments(network, end, family)
            if default_taken:
                for link, subnet in subnets.items():
                    if link in links and link not in reached:
                        yield subnet, via
            default_taken = True
            reached.update(links)
