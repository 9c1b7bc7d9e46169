"""Hosts, routers and switches of a plan."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from mptcplab.plan.model import IpAddress, Model


class Prefix(Model):
    """An address and the length of its prefix."""

    address: IpAddress
    length: int


class EndpointFlags(Model):
    """Flags of an endpoint of the kernel's path manager; written are those that are set."""

    signal: bool = False
    subflow: bool = False
    fullmesh: bool = False
    backup: bool = False

    @model_serializer(mode="wrap")
    def _only_set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if value}


class Interface(Model):
    """One end of a link."""

    name: str
    addresses: tuple[Prefix, ...]
    gateways: tuple[IpAddress, ...]
    mtu: int
    address_delay_ns: int
    endpoint: EndpointFlags | None


class Route(Model):
    """A static route."""

    to: Prefix
    via: IpAddress


class SchedulerOptions(Model):
    """Options of the simulator's schedulers."""

    num_segments: int = 1
    cwnd_limited: bool = True
    opportunistic_retransmission: bool = False
    penalisation: bool = False


class Mptcp(Model):
    """MPTCP settings of a host."""

    enabled: bool
    checksum: bool
    syn_retries: int | None
    scheduler: str | None
    scheduler_options: SchedulerOptions = SchedulerOptions()
    subflows_per_pair: int
    limit_subflows: int
    limit_add_addr_accepted: int
    by_application: bool = False


class Switch(Model):
    """An OpenFlow switch; its ports are the interfaces of its node, numbered from 1."""

    datapath_id: int
    is_open_vswitch: bool = False


class Node(Model):
    """A host, a router or a switch."""

    name: str
    router: bool
    switch: Switch | None = None
    interfaces: tuple[Interface, ...]
    routes: tuple[Route, ...]
    mptcp: Mptcp
    clock_granularity_ns: int = 1
    pacing: bool = False
    sysctls: dict[str, str]
