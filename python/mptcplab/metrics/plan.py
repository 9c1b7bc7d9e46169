"""What metrics need to know of the plan that a recording was made from.

The plan is the compiled scenario, stored in the manifest (``crates/plan/src/lib.rs``). A recording
without one is measured all the same; what depends on it is then unknown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from pydantic import BaseModel, Field, ValidationError, model_validator

from mptcplab.recording import Recording, RecordingError
from mptcplab.recording.manifest import MANIFEST, Json

SIZED_KINDS = frozenset({"http", "ftp"})
"""Kinds of transfer that always have a size, and so a completion time."""


class _Prefix(BaseModel):
    address: IPv4Address | IPv6Address


class _Interface(BaseModel):
    name: str
    addresses: tuple[_Prefix, ...] = ()


class _Node(BaseModel):
    name: str
    interfaces: tuple[_Interface, ...] = ()


class _End(BaseModel):
    node: int = Field(ge=0)
    interface: int = Field(ge=0)


class _Link(BaseModel):
    name: str
    ends: tuple[_End, _End]
    config: Json = {}


class _Workload(BaseModel, extra="allow"):
    kind: str
    duration_ns: int | None = None
    bytes: int | None = None


class _Traffic(BaseModel):
    name: str
    client: int = Field(ge=0)
    start_ns: int = 0
    expected_joins: int = 0
    workload: _Workload


class _LinkChange(BaseModel):
    up: bool | None = None


class _Action(BaseModel):
    kind: str
    link: int | None = Field(None, ge=0)
    change: _LinkChange = _LinkChange()
    carrier: bool | None = None
    interface: _End | None = None
    up: bool | None = None


class _Event(BaseModel):
    at_ns: int
    label: str
    action: _Action


class _Plan(BaseModel):
    nodes: tuple[_Node, ...] = ()
    links: tuple[_Link, ...] = ()
    traffic: tuple[_Traffic, ...] = ()
    events: tuple[_Event, ...] = ()

    @model_validator(mode="after")
    def _check_references(self) -> "_Plan":
        ends = [end for link in self.links for end in link.ends]
        ends += [event.action.interface for event in self.events if event.action.interface]
        for end in ends:
            if end.node >= len(self.nodes) or end.interface >= len(self.nodes[end.node].interfaces):
                raise ValueError(f"no interface {end.interface} of node {end.node}")
        for item in self.traffic:
            if item.client >= len(self.nodes):
                raise ValueError(f"no node {item.client}")
        for event in self.events:
            if event.action.link is not None and event.action.link >= len(self.links):
                raise ValueError(f"no link {event.action.link}")
        return self


@dataclass(frozen=True)
class Change:
    """A change of the network that happened."""

    at_ns: int
    label: str
    up: bool | None
    """False: something failed; true: it is back; null: another change."""
    link: str | None
    """Name of the link that changed, or is attached to the interface that changed."""
    interfaces: frozenset[tuple[str, str]]
    """(node, interface) at its ends, or the one that changed."""


class Plan:
    """A view of the plan in a recording's manifest."""

    def __init__(self, recording: Recording) -> None:
        """Looks at the plan of ``recording``.

        Raises:
            RecordingError: the manifest's plan is damaged.

        """
        try:
            self._plan = _Plan.model_validate(recording.manifest.plan)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in ("plan", *first["loc"]))
            raise RecordingError(
                f"{recording.folder / MANIFEST}: {place}: {first['msg']}; the file is damaged"
            ) from error
        self._recording = recording
        self._traffic = {item.name: item for item in self._plan.traffic}

    def expected_joins(self, traffic: str) -> int:
        """Additional subflows that a connection of the item should get."""
        return self._traffic[traffic].expected_joins if traffic in self._traffic else 0

    def duration_ns(self, traffic: str) -> int | None:
        """How long the item's transfers last; null where it is bound by a size or unknown."""
        return self._traffic[traffic].workload.duration_ns if traffic in self._traffic else None

    def is_sized(self, traffic: str, kind: str) -> bool:
        """Whether the item's transfers end when a size has been carried."""
        if kind != "bulk":
            return kind in SIZED_KINDS
        return traffic in self._traffic and self._traffic[traffic].workload.bytes is not None

    @cached_property
    def task(self) -> tuple[object, ...]:
        """What is done over which links, whatever the protocol and the path."""
        workloads = [(item.client, item.start_ns, item.workload) for item in self._plan.traffic]
        return workloads, [link.config for link in self._plan.links]

    @cached_property
    def interface_of_address(self) -> dict[str, tuple[str, str]]:
        """Address to (node, interface), in the order of the plan."""
        return {
            str(prefix.address): (node.name, interface.name)
            for node in self._plan.nodes
            for interface in node.interfaces
            for prefix in interface.addresses
        }

    @property
    def command_clients(self) -> frozenset[str]:
        """The nodes in which commands run; their connections are no transfers."""
        return frozenset(
            self._plan.nodes[item.client].name
            for item in self._plan.traffic
            if item.workload.kind == "command"
        )

    def in_order(self, nodes: Iterable[str]) -> list[str]:
        """The nodes, each once, in the order of the plan; unknown ones last."""
        place = {node.name: number for number, node in enumerate(self._plan.nodes)}
        return sorted(dict.fromkeys(nodes), key=lambda name: place.get(name, len(place)))

    def place(self, node: str, interface: str) -> int:
        """Place of an interface in the order of the plan; the last where it is not in it."""
        order = list(dict.fromkeys(self.interface_of_address.values()))
        return order.index((node, interface)) if (node, interface) in order else len(order)

    @cached_property
    def changes(self) -> Sequence[Change]:
        """The planned changes of the network that took place, with the times they took place at."""
        happened = self._recording.frame("events")
        changes = []
        for event in self._plan.events:
            rows = happened.filter(kind=event.action.kind, label=event.label)
            times = rows["t_ns"].drop_nulls()
            if times.is_empty():
                continue
            planned_ns = event.at_ns
            at_ns = min(times, key=lambda time: abs(time - planned_ns))
            changes.append(self._change(at_ns, event.label, event.action))
        return sorted(changes, key=lambda change: change.at_ns)

    def _change(self, at_ns: int, label: str, action: _Action) -> Change:
        if action.link is not None:
            link = self._plan.links[action.link]
            up = action.change.up if action.carrier is None else action.carrier
            ends = frozenset(self._interface(end) for end in link.ends)
            return Change(at_ns, label, up, link.name, ends)
        if action.interface is None:
            return Change(at_ns, label, None, None, frozenset())
        changed = action.interface
        up = action.up if action.kind == "interface" else None
        name = next((link.name for link in self._plan.links if changed in link.ends), None)
        return Change(at_ns, label, up, name, frozenset({self._interface(changed)}))

    def _interface(self, end: _End) -> tuple[str, str]:
        node = self._plan.nodes[end.node]
        return node.name, node.interfaces[end.interface].name
