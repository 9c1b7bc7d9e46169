"""The plan of a run, with every name resolved and every unit in the field's name.

A plan is made from a scenario and one of its variants (`mptcplab.engine.compile`), reaches an
engine as one line of JSON, and stands in the manifest of the recording, from which metrics read it.
These models mirror the structs of `crates/lab/plan` and, for links, `crates/lab/link`, which
document each field; a test compares them. A field with a default is younger than the first
recordings: the default is what a plan without it means.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from mptcplab.plan.link import Link, LinkChange
from mptcplab.plan.model import Index, InterfaceRef, IpAddress, Model
from mptcplab.plan.node import Node
from mptcplab.plan.traffic import Traffic


class LinkAction(Model):
    """New parameters of a link; `carrier` also changes what its two interfaces see."""

    kind: Literal["link"] = "link"
    link: Index
    change: LinkChange
    carrier: bool | None


class InterfaceAction(Model):
    """`ip link set … up|down` on a host."""

    kind: Literal["interface"] = "interface"
    interface: InterfaceRef
    up: bool


class BackupAction(Model):
    """Changes the backup flag of the endpoints of an interface (MP_PRIO)."""

    kind: Literal["backup"] = "backup"
    interface: InterfaceRef
    backup: bool


class SubflowAction(Model):
    """Opens or closes a subflow of every connection of a flow, as an application would."""

    kind: Literal["subflow"] = "subflow"
    traffic: Index
    source: IpAddress
    target: IpAddress
    open: bool


Action = Annotated[
    LinkAction | InterfaceAction | BackupAction | SubflowAction, Field(discriminator="kind")
]


class Event(Model):
    """A change at a time."""

    at_ns: int
    action: Action
    label: str


class Address(Model):
    """An address of TCP."""

    host: IpAddress
    port: int


class Controller(Model):
    """The controller of all switches: with a policy, by its program or by its address."""

    policy: str | None
    policy_source: str | None = None
    argv: tuple[str, ...] | None = None
    address: Address | None = None
    discovery_ns: int = 0
    link_probe_ns: int = 1_000_000_000
    channel_delay_ns: int
    channel_rate_bps: int | None
    sizes: Literal["told", "learned", "unknown"]
    tcp_fallback: bool = False


class Capture(Model):
    """Which packets are written, and where."""

    folder: str
    interfaces: tuple[InterfaceRef, ...]
    snap_length: int


class Plan(Model):
    """Everything that one run needs."""

    seed: int
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    traffic: tuple[Traffic, ...]
    events: tuple[Event, ...]
    sample_interval_ns: int
    capture: Capture | None
    time_limit_ns: int
    controller: Controller | None = None

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        ends = [end for link in self.links for end in link.ends]
        for event in self.events:
            match event.action:
                case LinkAction(link=index):
                    if index >= len(self.links):
                        raise ValueError(f"no link {index}")
                case InterfaceAction(interface=end) | BackupAction(interface=end):
                    ends.append(end)
        for end in ends:
            if end.node >= len(self.nodes) or end.interface >= len(self.nodes[end.node].interfaces):
                raise ValueError(f"no interface {end.interface} of node {end.node}")
        for item in self.traffic:
            if item.client >= len(self.nodes):
                raise ValueError(f"no node {item.client}")
        return self

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON's types."""
        return self.model_dump(mode="json")
