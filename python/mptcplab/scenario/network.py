"""The network that a scenario describes: nodes, interfaces, addresses, and the way between.

Addresses that the scenario does not give are assigned: a network for each link, `10.0.N.0/24` and
`fd00:N::/64` with N counting the links from 1 in the scenario's order, `.1` and `::1` at the link's
first end, `.2` and `::2` at the second. Networks and addresses that are given are kept out of.

Links that switches join are one segment, which has one network: that of its first link, with its
hosts and routers numbered in the order of the links.
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from mptcplab.scenario.host import Host, Interface, Router
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.switch import Switch

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Subnet = ipaddress.IPv4Network | ipaddress.IPv6Network
FAMILIES = (4, 6)
_SHIFTS = 256
_ASSIGNED_LENGTHS = {4: 24, 6: 64}
"""Family → bits of the networks that are assigned."""
_PORT = Interface.model_construct(mtu=65_535)
"""A port of a switch: without addresses, and open for any frame."""


class End(NamedTuple):
    """An interface of a node."""

    node: str
    interface: str

    @classmethod
    def parse(cls, text: str) -> End:
        """Reads `client.wifi`."""
        node, _, interface = text.partition(".")
        return cls(node, interface)

    def __str__(self) -> str:
        return f"{self.node}.{self.interface}"


_Hop = tuple[End, End]
"""The end at which packets leave a node, and the one at which they arrive at the next."""


class AddressError(ValueError):
    """Addresses that contradict each other, at an interface or a link."""

    def __init__(self, path: tuple[str | int, ...], text: str) -> None:
        super().__init__(text)
        self.path = path


@dataclass(frozen=True)
class Network:
    """Nodes joined by links, every interface with its addresses."""

    nodes: tuple[str, ...]
    """Hosts, then routers, then switches, each in the scenario's order."""
    routers: frozenset[str]
    switches: frozenset[str]
    interfaces: dict[End, Interface]
    """In the order of their node: given ones first, then those that only links name."""
    links: dict[str, tuple[End, End]]
    addresses: dict[End, tuple[Address, ...]] = field(default_factory=dict)
    _forwarding: dict[tuple[End, int], dict[End, tuple[End, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Answers of `forwarding`, which are asked for again and again."""

    @cached_property
    def link_of(self) -> dict[End, str]:
        """The link at each interface."""
        return {end: name for name, ends in self.links.items() for end in ends}

    def ends_of(self, node: str) -> list[End]:
        """The node's interfaces in order."""
        return self._ends_of.get(node, [])

    @cached_property
    def _ends_of(self) -> dict[str, list[End]]:
        found: dict[str, list[End]] = {}
        for end in self.interfaces:
            found.setdefault(end.node, []).append(end)
        return found

    def peer(self, end: End) -> End | None:
        """The interface at the other end of the link."""
        if end not in self.link_of:
            return None
        first, second = self.links[self.link_of[end]]
        return second if end == first else first

    @cached_property
    def segments(self) -> dict[str, tuple[End, ...]]:
        """The interfaces of hosts and routers on each segment, which is named by its first link.

        A segment is a link, or several that switches join.
        """
        found: dict[str, tuple[End, ...]] = {}
        for link, first in self._segment_of_link.items():
            ends = (end for end in self.links[link] if end.node not in self.switches)
            found[first] = (*found.get(first, ()), *ends)
        return found

    @cached_property
    def segment_of(self) -> dict[End, str]:
        """The segment at each interface."""
        return {end: self._segment_of_link[link] for end, link in self.link_of.items()}

    @cached_property
    def _segment_of_link(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for first in self.links:
            waiting = [first]
            while waiting:
                link = waiting.pop()
                if link in found:
                    continue
                found[link] = first
                for end in self.links[link]:
                    if end.node in self.switches:
                        waiting += [self.link_of[other] for other in self.ends_of(end.node)]
        return {link: found[link] for link in self.links}

    def neighbours(self, end: End) -> list[End]:
        """Interfaces of other hosts and routers on the same segment."""
        if end not in self.segment_of:
            return []
        return [other for other in self.segments[self.segment_of[end]] if other.node != end.node]

    def address(self, end: End, family: int) -> IpAddress | None:
        """The interface's first address of the family."""
        return self._first_addresses.get((end, family))

    @cached_property
    def _first_addresses(self) -> dict[tuple[End, int], IpAddress]:
        found: dict[tuple[End, int], IpAddress] = {}
        for end, addresses in self.addresses.items():
            for address in addresses:
                found.setdefault((end, address.version), address.ip)
        return found

    def forwarding(self, start: End, family: int) -> dict[End, tuple[End, ...]]:
        """Interfaces that packets leaving at `start` can reach, with the ends crossed on the way.

        The way is the one with the fewest links; of equal ones that over interfaces named first.
        Only routers and switches forward; an end of a link that is no switch's needs an address of
        the family.
        """
        if (start, family) not in self._forwarding:
            self._forwarding[start, family] = self._reached(start, family)
        return self._forwarding[start, family]

    def _reached(self, start: End, family: int) -> dict[End, tuple[End, ...]]:
        hops = self._hops[family]
        reached: dict[End, tuple[End, ...]] = {}
        visited = {start.node}
        first = [hop for hop in hops.get(start.node, ()) if hop[0] == start]
        waiting: deque[tuple[list[_Hop], tuple[End, ...]]] = deque([(first, ())])
        while waiting:
            leaving, before = waiting.popleft()
            # The way came in over the last of them, and does not turn round.
            entry = before[-1] if before else None
            for hop in leaving:
                arriving = hop[1]
                node = arriving.node
                if hop[0] == entry or (node in visited and arriving in reached):
                    continue
                way = before + hop
                if node != start.node and node not in self.switches:
                    reached.setdefault(arriving, way)
                if node not in visited:
                    visited.add(node)
                    if node in self._forwarders:
                        waiting.append((hops[node], way))
        return reached

    @cached_property
    def _forwarders(self) -> frozenset[str]:
        return self.routers | self.switches

    @cached_property
    def _hops(self) -> dict[int, dict[str, list[_Hop]]]:
        """The links that carry a family, by family and the node at which packets leave."""
        found: dict[int, dict[str, list[_Hop]]] = {family: {} for family in FAMILIES}
        for end in self.interfaces:
            peer = self.peer(end)
            if peer is None:
                continue
            for family, hops in found.items():
                if all(
                    each.node in self.switches or self.address(each, family) is not None
                    for each in (end, peer)
                ):
                    hops.setdefault(end.node, []).append((end, peer))
        return found


def build(scenario: Scenario) -> Network:
    """Nodes, interfaces and addresses of a scenario whose names have been checked.

    Raises `AddressError` where given addresses contradict each other.
    """
    network = outline(scenario)
    return Network(
        network.nodes,
        network.routers,
        network.switches,
        network.interfaces,
        network.links,
        dict(_addresses(network)),
    )


def free_addresses(network: Network, link: str) -> Iterator[IpAddress]:
    """Addresses of a link's networks that no interface has, IPv4 before IPv6, the highest first."""
    taken = {address.ip for every in network.addresses.values() for address in every}
    segment = network.segments[network.segment_of[network.links[link][0]]]
    nets = {address.network for end in segment for address in network.addresses[end]}
    for net in sorted(nets, key=lambda net: (net.version, str(net))):
        for offset in range(2, min(net.num_addresses, _SHIFTS)):
            if net[-offset] not in taken:
                yield net[-offset]


def outline(scenario: Scenario) -> Network:
    """The network without addresses."""
    links = {
        name: (End.parse(link.between[0]), End.parse(link.between[1]))
        for name, link in scenario.links.items()
    }
    interfaces: dict[End, Interface] = {}
    nodes: dict[str, Host | Router | Switch] = {
        **scenario.hosts,
        **scenario.routers,
        **scenario.switches,
    }
    named: dict[str, list[End]] = {}
    for end in chain.from_iterable(links.values()):
        named.setdefault(end.node, []).append(end)
    for name, node in nodes.items():
        if not isinstance(node, Switch):
            for interface, settings in node.interfaces.items():
                interfaces[End(name, interface)] = settings
        if not isinstance(node, Host):
            unset = Interface() if isinstance(node, Router) else _PORT
            for end in named.get(name, ()):
                interfaces.setdefault(end, unset)
    routers, switches = frozenset(scenario.routers), frozenset(scenario.switches)
    return Network(tuple(nodes), routers, switches, interfaces, links)


class _Used:
    """Networks that are given or assigned, to be asked for overlaps with those to assign."""

    def __init__(self, networks: list[Subnet]) -> None:
        self._larger: list[Subnet] = []
        self._others: set[Subnet] = set()
        """Each widened to the length of those that are assigned."""
        for network in networks:
            self.add(network)

    def add(self, network: Subnet) -> None:
        length = _ASSIGNED_LENGTHS[network.version]
        if network.prefixlen < length:
            self._larger.append(network)
        else:
            self._others.add(network.supernet(new_prefix=length))

    def overlap(self, candidate: Subnet) -> bool:
        """Whether one of them overlaps a network of the length that is assigned."""
        return candidate in self._others or any(
            candidate.overlaps(larger) for larger in self._larger
        )


def _addresses(network: Network) -> Iterator[tuple[End, tuple[Address, ...]]]:
    used = _Used(_check_given(network))
    every = sorted({f for end in network.interfaces for f in _own_families(network, end) or ()})
    numbers = {link: number for number, link in enumerate(network.links, start=1)}
    for name, ends in network.segments.items():
        families = _segment_families(network, ends, tuple(every) or (4,))
        subnets: dict[int, Subnet] = {}
        for family in sorted(set(chain.from_iterable(families))):
            subnets[family] = _segment_network(network, ends, family, numbers[name], used)
            used.add(subnets[family])
        taken = {address.ip for end in ends for address in network.interfaces[end].addresses}
        for index, end in enumerate(ends):
            addresses: list[Address] = list(network.interfaces[end].addresses)
            for family in families[index]:
                if not any(address.version == family for address in addresses):
                    ip = _free_address(subnets[family], index + 1, taken, _path(network, end))
                    taken.add(ip)
                    addresses.append(ipaddress.ip_interface(f"{ip}/{subnets[family].prefixlen}"))
            yield end, tuple(addresses)
    for end in network.interfaces:
        if end.node in network.switches:
            yield end, ()


def _segment_families(
    network: Network, ends: tuple[End, ...], fallback: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Families of each end: a host's are its own, a router's follow from what it must carry."""
    own = [_own_families(network, end) for end in ends]
    others = tuple(sorted({family for families in own for family in families or ()}))
    return [families or others or fallback for families in own]


def _own_families(network: Network, end: End) -> tuple[int, ...] | None:
    if end.node in network.switches:
        return None
    interface = network.interfaces[end]
    undecided = interface.family is None and not interface.addresses
    return None if end.node in network.routers and undecided else interface.families


def _check_given(network: Network) -> list[Subnet]:
    owners: dict[IpAddress, End] = {}
    networks: dict[Subnet, str] = {}
    for end, interface in network.interfaces.items():
        for index, address in enumerate(interface.addresses):
            path: tuple[str | int, ...] = (*_path(network, end), "addresses", index)
            if address.ip in owners:
                raise AddressError(path, f'"{address}": {owners[address.ip]} has it already')
            owners[address.ip] = end
            link = network.segment_of.get(end, str(end))
            for other, other_link in networks.items():
                if other_link == link and other != address.network and _same_family(other, address):
                    raise AddressError(
                        path, f'"{address}": the other end of link {link} is in {other}'
                    )
                if other_link != link and other.overlaps(address.network):
                    raise AddressError(
                        path, f'"{address}": its network overlaps {other} of link {other_link}'
                    )
            networks[address.network] = link
    return list(networks)


def _same_family(network: Subnet, address: Address) -> bool:
    return network.version == address.version


def _path(network: Network, end: End) -> tuple[str, ...]:
    kind = "routers" if end.node in network.routers else "hosts"
    return (kind, end.node, "interfaces", end.interface)


def _segment_network(
    network: Network, ends: tuple[End, ...], family: int, number: int, used: _Used
) -> Subnet:
    for end in ends:
        for address in network.interfaces[end].addresses:
            if address.version == family:
                return address.network
    candidates = (_candidate(family, number, shift) for shift in range(_SHIFTS))
    for subnet in candidates:
        if not used.overlap(subnet):
            return subnet
    text = f"no IPv{family} network is left to assign: give {ends[0]} an address"
    raise AddressError(("links", network.link_of[ends[0]]), text)


def _candidate(family: int, number: int, shift: int) -> Subnet:
    """Network of the link of that number; the next where `shift` says that others are taken."""
    if family == 4:
        block, third = divmod(number, 256)
        return ipaddress.ip_network(f"10.{(block + shift) % 256}.{third}.0/{_ASSIGNED_LENGTHS[4]}")
    return ipaddress.ip_network(f"fd{shift:02x}:{number}::/{_ASSIGNED_LENGTHS[6]}")


def _free_address(
    subnet: Subnet, preferred: int, taken: set[IpAddress], path: tuple[str | int, ...]
) -> IpAddress:
    for offset in (preferred, *range(1, _SHIFTS)):
        if offset < subnet.num_addresses and subnet[offset] not in taken:
            return subnet[offset]
    raise AddressError(path, f"no address is left in {subnet}: give one, or a shorter prefix")
