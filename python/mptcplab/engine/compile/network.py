"""Nodes of the plan: addresses, gateways, routes and MPTCP settings."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plan import node as plan
from mptcplab.scenario.host import Interface, Mptcp
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import FAMILIES, End, IpAddress, Network, Subnet
from mptcplab.scenario.path_manager import path_manager
from mptcplab.scenario.scheduler import Scheduler


def compile_nodes(scenario: Scenario, network: Network) -> tuple[plan.Node, ...]:
    """Hosts and routers of the plan, in the order of `network.nodes`."""
    return tuple(
        _router(scenario, network, name)
        if name in network.routers
        else _host(scenario, network, name)
        for name in network.nodes
    )


def _host(scenario: Scenario, network: Network, name: str) -> plan.Node:
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
        interfaces=tuple(interfaces),
        routes=tuple(_route(*route) for route in _host_routes(network, name)),
        mptcp=_mptcp(host.mptcp, manager.kind, manager.subflows_per_pair),
        clock_granularity_ns=host.clock_granularity,
        pacing=host.pacing,
        sysctls=host.sysctls,
    )


def _router(scenario: Scenario, network: Network, name: str) -> plan.Node:
    return plan.Node(
        name=name,
        router=True,
        interfaces=tuple(
            _interface(network, end, network.interfaces[end], None, [])
            for end in network.ends_of(name)
        ),
        routes=tuple(_route(*route) for route in _router_routes(scenario, network, name)),
        mptcp=_mptcp(Mptcp(enabled=False), "default", 1),
        clock_granularity_ns=1,
        pacing=False,
        sysctls=scenario.routers[name].sysctls,
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
    """Flags of the kernel's endpoint; it refuses signal together with fullmesh."""
    if manager == "fullmesh":
        return plan.EndpointFlags(subflow=True, fullmesh=True, backup=settings.backup)
    if manager == "signal":
        return plan.EndpointFlags(signal=True, backup=settings.backup)
    return None


def _mptcp(settings: Mptcp, manager: str, subflows_per_pair: int) -> plan.Mptcp:
    accepted = settings.limits.add_addr_accepted
    if accepted is None:
        # A host that accepts announced addresses opens subflows to them: no passive path manager.
        accepted = 8 if manager in ("fullmesh", "signal") else 0
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
    return plan.Route(to=plan.Prefix(address=to.network_address, length=to.prefixlen), via=via)


def _gateways(network: Network, end: End) -> list[IpAddress]:
    """The router at the other end of a host's link, in each family that both have."""
    peer = network.peer(end)
    if peer is None or peer.node not in network.routers:
        return []
    found = []
    for family in FAMILIES:
        address = network.address(peer, family)
        if address is not None and network.address(end, family) is not None:
            found.append(address)
    return found


def _subnets(network: Network, family: int) -> dict[str, Subnet]:
    """Link → its network of the family."""
    return {
        name: address.network
        for name, ends in network.links.items()
        for end in ends
        for address in network.addresses[end]
        if address.version == family
    }


def _reachable_links(network: Network, start: End, family: int) -> dict[str, int]:
    """Link that packets leaving at `start` reach → links crossed, itself included."""
    reached: dict[str, int] = {}
    for arriving, way in network.forwarding(start, family).items():
        if arriving.node not in network.routers:
            continue
        for end in network.ends_of(arriving.node):
            if end in network.link_of:
                crossed = len(way) // 2 + 1
                name = network.link_of[end]
                reached[name] = min(crossed, reached.get(name, crossed))
    return reached


def _router_routes(
    scenario: Scenario, network: Network, router: str
) -> Iterator[tuple[Subnet, IpAddress]]:
    """The shortest way to every network that is not the router's own; with `ecmp` all of them."""
    ends = network.ends_of(router)
    own = {network.link_of[end] for end in ends}
    for family in FAMILIES:
        best: dict[str, tuple[int, list[IpAddress]]] = {}
        for end in ends:
            peer = network.peer(end)
            via = network.address(peer, family) if peer is not None else None
            if via is None:
                continue
            for link, crossed in _reachable_links(network, end, family).items():
                if link in own:
                    continue
                if link not in best or crossed < best[link][0]:
                    best[link] = (crossed, [via])
                elif crossed == best[link][0] and scenario.routers[router].ecmp:
                    best[link][1].append(via)
        for link, subnet in _subnets(network, family).items():
            for via in best[link][1] if link in best else ():
                yield subnet, via


def _host_routes(network: Network, host: str) -> Iterator[tuple[Subnet, IpAddress]]:
    """Ways to networks that the default route, over the first gateway, does not reach."""
    ends = network.ends_of(host)
    known = {network.link_of[end] for end in ends}
    for family in FAMILIES:
        subnets = _subnets(network, family)
        default_taken = False
        reached = set(known)
        for end in ends:
            via = next((g for g in _gateways(network, end) if g.version == family), None)
            if via is None:
                continue
            links = _reachable_links(network, end, family)
            if default_taken:
                for link in links:
                    if link not in reached and link in subnets:
                        yield subnets[link], via
            default_taken = True
            reached.update(links)
