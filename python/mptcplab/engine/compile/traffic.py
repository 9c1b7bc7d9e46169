"""Traffic of the plan: who connects from where to where, and what is expected of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mptcplab.engine.compile.links import rate_bps
from mptcplab.plan import SubflowAction
from mptcplab.plan import traffic as plan
from mptcplab.scenario.fields import LONGEST_NS
from mptcplab.scenario.flows import (
    Flow,
    Way,
    find_way,
    own_subflows,
    subflow_target,
    timed_length_ns,
)
from mptcplab.scenario.model import Scenario, SubflowEnds
from mptcplab.scenario.network import FAMILIES, End, IpAddress, Network
from mptcplab.scenario.path_manager import path_manager
from mptcplab.scenario.profiles import changes_of, settings_of
from mptcplab.scenario.traffic import (
    Body,
    Bulk,
    Command,
    Connections,
    Datagrams,
    Ftp,
    Http,
    Ping,
    RequestResponse,
    Stream,
)

FIRST_PORT = 5001
MARGIN_NS = 30_000_000_000
"""After the last timed traffic: for connections that close over a failed path."""
UNTIMED_FACTOR, UNTIMED_MARGIN_NS = 10, 60_000_000_000
"""Traffic that ends by an amount may take this times its ideal time, and this more."""
UNTIMED_COMMAND_NS = 3_600_000_000_000
"""A command without a duration may take an hour."""
SHORT_NS = 500_000_000
"""Below this ideal time of a connection no subflow is expected to join."""
_FASTEST_BPS = 10_000_000_000
_HANDSHAKE_ROUND_TRIPS = 10


def compile_flow(scenario: Scenario, network: Network, flow: Flow, index: int) -> plan.Traffic:
    """One flow of the plan. The scenario has been checked: a way exists."""
    way = _way(network, flow)
    source = network.address(way.source, way.family) if way else None
    target = network.address(way.target, way.family) if way else _own_address(network, flow)
    return plan.Traffic(
        name=flow.name,
        client=network.nodes.index(flow.client),
        server=network.nodes.index(flow.server),
        protocol=flow.protocol,
        source=source,
        target=target,
        port=FIRST_PORT + index,
        start_ns=flow.body.start,
        congestion_control=scenario.hosts[flow.client].congestion_control,
        server_congestion_control=scenario.hosts[flow.server].congestion_control,
        dual_stack=_is_dual_stack(flow.body),
        expected_joins=_expected_joins(scenario, network, flow, way),
        subflows=tuple(_own_subflows(network, flow, way)),
        workload=_workload(flow.body),
    )


def _own_subflows(network: Network, flow: Flow, way: Way | None) -> Iterator[plan.OwnSubflow]:
    """Subflows that the application opens, where it speaks MPTCP."""
    if way is None or flow.protocol != "mptcp":
        return
    for end in own_subflows(flow):
        target = subflow_target(network, flow, way, end)
        if target is not None:
            source, reached = (_address(network, one, way) for one in (end, target))
            yield plan.OwnSubflow(source=source, target=reached)


def compile_subflow(
    network: Network, subflow: SubflowEnds, is_open: bool, sent: Sequence[Flow]
) -> Iterator[SubflowAction]:
    """Actions of an event of a subflow in a variant: none where the traffic speaks TCP."""
    for index, flow in enumerate(sent):
        way = _way(network, flow)
        if flow.name == subflow.of and flow.protocol == "mptcp" and way is not None:
            source, target = (End.parse(end) for end in (subflow.source, subflow.target))
            yield SubflowAction(
                traffic=index,
                source=_address(network, source, way),
                target=_address(network, target, way),
                open=is_open,
            )


def time_limit_ns(scenario: Scenario, network: Network, flows: list[Flow]) -> int:
    """When a run of these flows has gone on for too long."""
    latest_ns = 0 if scenario.vary is None else scenario.vary.start
    longest_ns = max(_flow_limit_ns(scenario, network, flow) for flow in flows)
    return min(LONGEST_NS, latest_ns + longest_ns)


def _way(network: Network, flow: Flow) -> Way | None:
    if flow.client == flow.server:
        return None
    return find_way(network, flow.client, flow.server, flow.via)


def _address(network: Network, end: End, way: Way) -> IpAddress:
    """The address of an interface in the family of a way that it can be an end of."""
    address = network.address(end, way.family)
    assert address is not None
    return address


def _own_address(network: Network, flow: Flow) -> IpAddress:
    """For a command without a server: an address of its own host."""
    ends = network.ends_of(flow.client)
    chosen = [end for end in ends if flow.via in (None, end.interface)]
    return network.addresses[chosen[0]][0].ip


def _expected_joins(scenario: Scenario, network: Network, flow: Flow, way: Way | None) -> int:
    """Additional subflows that the path managers must bring about.

    Counted conservatively: with fullmesh one for each of the client's other interfaces that
    reaches the server in a family of the connection's socket (one of IPv4 has no IPv6 subflows),
    with subflow-signal one for each that reaches the connection's own address of the server, with
    ndiffports and from the application what was asked for, otherwise none. A connection of
    less than half a second may be over before a subflow has joined; it is expected to have none. Of
    a command the server must be known: without one it has no way. Where a controller decides which
    subflows there are, none is expected.
    """
    hosts = (scenario.hosts[flow.client], scenario.hosts[flow.server])
    if flow.protocol != "mptcp" or way is None or not all(h.mptcp.enabled for h in hosts):
        return 0
    if isinstance(flow.body, Ping | Datagrams) or _is_short(scenario, network, flow.body, way):
        return 0
    if any(end.node in network.switches for end in way.crossed):
        return 0
    manager = path_manager(scenario, flow.client)
    limit = min(host.mptcp.limits.subflows for host in hosts)
    if manager.kind == "ndiffports":
        return min(limit, manager.subflows_per_pair - 1)
    if manager.kind == "application":
        return min(limit, len(own_subflows(flow)))
    if manager.kind == "subflow-signal":
        reached = [network.forwarding(end, way.family) for end in network.ends_of(flow.client)]
        return min(limit, sum(way.target in ends for ends in reached) - 1)
    if manager.kind != "fullmesh":
        return 0
    families = FAMILIES if _is_dual_stack(flow.body) else (way.family,)
    others = [end for end in network.ends_of(flow.client) if end != way.source]
    reaching = [
        end
        for end in others
        if any(_reaches(network, end, flow.server, family) for family in families)
    ]
    return min(limit, len(reaching))


def _is_dual_stack(body: Body) -> bool:
    return isinstance(body, Connections) and body.dual_stack


def _is_short(scenario: Scenario, network: Network, body: Body, way: Way) -> bool:
    """Whether a connection is over within half a second, over the first path alone."""
    rate = _rate_bps(scenario, network, body, way)
    match body:
        case Bulk(size=int(size)) | Http(size=size) | Ftp(size=size):
            length_ns = _sending_ns(size, rate)
        case RequestResponse():
            payload = body.request + body.response
            exchange_ns = _sending_ns(payload, rate) + _round_trip_ns(scenario, network, way)
            # The connection closes after the last response.
            length_ns = (body.count - 1) * max(body.interval, exchange_ns) + exchange_ns
        case _:
            timed_ns = timed_length_ns(body)
            return timed_ns is not None and timed_ns < SHORT_NS
    return length_ns < SHORT_NS


def _sending_ns(payload_bytes: int, rate: int) -> float:
    return payload_bytes * 8 * 10**9 / rate


def _round_trip_ns(scenario: Scenario, network: Network, way: Way) -> int:
    """The delays of the links on the way, there and back, as the run begins."""
    links = dict.fromkeys(network.link_of[end] for end in way.crossed)
    return sum(s.delay or 0 for link in links for s in settings_of(scenario.links[link]))


def _way_rate_bps(scenario: Scenario, network: Network, way: Way) -> int:
    links = dict.fromkeys(network.link_of[end] for end in way.crossed)
    return min(_smallest_rate_bps(scenario, link) for link in links)


def _rate_bps(scenario: Scenario, network: Network, body: Body, way: Way) -> int:
    """The rate of a flow over one way: the network's, or what its application offers."""
    rate = _way_rate_bps(scenario, network, way)
    if isinstance(body, Bulk) and body.rate is not None:
        return min(rate, body.rate * body.streams)
    return rate


def _reaches(network: Network, start: End, host: str, family: int) -> bool:
    return any(end.node == host for end in network.forwarding(start, family))


def _workload(body: Body) -> plan.Workload:
    match body:
        case Bulk():
            return plan.BulkWorkload(
                way=body.direction,
                streams=body.streams,
                duration_ns=body.duration,
                bytes=body.size,
                rate_bps=body.rate,
            )
        case Datagrams():
            bursts = body.on_off
            return plan.DatagramsWorkload(
                way=body.direction,
                rate_bps=body.rate,
                packet_bytes=body.packet,
                duration_ns=body.duration,
                on_off_ns=None if bursts is None else (bursts.burst, bursts.pause),
            )
        case Stream():
            return plan.StreamWorkload(
                way=body.direction,
                rate_bps=body.rate,
                frame_bytes=body.frame,
                deadline_ns=body.deadline,
                duration_ns=body.duration,
            )
        case Http():
            return plan.HttpWorkload(bytes=body.size, count=body.count)
        case Ftp():
            return plan.FtpWorkload(way=body.direction, bytes=body.size, count=body.count)
        case Ping():
            return plan.PingWorkload(
                interval_ns=body.interval, count=body.count, payload_bytes=body.payload
            )
        case RequestResponse():
            return plan.RequestResponseWorkload(
                request_bytes=body.request,
                response_bytes=body.response,
                interval_ns=body.interval,
                count=body.count,
            )
        case Command():
            server = body.server_command
            return plan.CommandWorkload(
                argv=tuple(body.run),
                server_argv=None if server is None else tuple(server.run),
                duration_ns=body.duration,
            )


def _flow_limit_ns(scenario: Scenario, network: Network, flow: Flow) -> int:
    length = timed_length_ns(flow.body)
    if length is not None:
        return flow.body.start + length + MARGIN_NS
    if isinstance(flow.body, Command):
        return flow.body.start + UNTIMED_COMMAND_NS
    ideal = _ideal_ns(scenario, network, flow)
    return flow.body.start + UNTIMED_FACTOR * ideal + UNTIMED_MARGIN_NS


def _ideal_ns(scenario: Scenario, network: Network, flow: Flow) -> int:
    """Time that the first path alone needs at its smallest rate, with round trips to connect."""
    way = _way(network, flow)
    assert way is not None
    rate = _rate_bps(scenario, network, flow.body, way)
    round_trip = _round_trip_ns(scenario, network, way)
    payload, exchanges = _amount(flow.body)
    return payload * 8 * 10**9 // rate + exchanges * _HANDSHAKE_ROUND_TRIPS * round_trip


def _smallest_rate_bps(scenario: Scenario, link: str) -> int:
    """The lowest rate that either direction of the link ever has."""
    every = list(settings_of(scenario.links[link]))
    for event in scenario.events:
        if event.link == link and event.change is not None:
            every.extend(changes_of(event.change))
    rates = (rate_bps(settings, scenario.folder) for settings in every)
    return min((rate for rate in rates if rate is not None), default=_FASTEST_BPS)


def _amount(body: Body) -> tuple[int, int]:
    """Payload bytes and number of exchanges."""
    match body:
        case Bulk():
            return (body.size or 0) * body.streams * (2 if body.direction == "both" else 1), 1
        case Http() | Ftp():
            return body.size * body.count, body.count
        case RequestResponse():
            return (body.request + body.response) * body.count, body.count
    return 0, 1
