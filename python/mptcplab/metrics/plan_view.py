"""The metrics' view of the plan that a recording was made from.

The plan is the compiled scenario, stored in the manifest (`mptcplab.plan`). A recording without one
is measured all the same; what depends on it is then unknown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from mptcplab import plan
from mptcplab.metrics.rows import grouped, known
from mptcplab.plan.link import DirectionConfig, FixedRate, NoJitter, NoLoss, TraceRate
from mptcplab.plan.model import InterfaceRef
from mptcplab.plan.traffic import (
    BulkWorkload,
    CommandWorkload,
    DatagramsWorkload,
    FtpWorkload,
    HttpWorkload,
    RequestResponseWorkload,
    StreamWorkload,
    Workload,
)
from mptcplab.recording import Recording, RecordingError
from mptcplab.recording.manifest import MANIFEST, Json, Measured

_TRANSFERS = (BulkWorkload, FtpWorkload, HttpWorkload, RequestResponseWorkload, StreamWorkload)
SIZED_KINDS = frozenset({"http", "ftp"})
"""Kinds of transfer that always have a size, and so a completion time."""


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


@dataclass(frozen=True)
class HostLink:
    """The link at an interface of a host."""

    node: str
    outgoing_bps: int | None
    """Null where it is not one fixed rate of this direction alone."""
    incoming_bps: int | None
    framing_bytes: int
    mtu: int


class PlanView:
    """A view of the plan in a recording's manifest."""

    def __init__(self, recording: Recording, compiled: plan.Plan | None = None) -> None:
        """Looks at the plan of ``recording``: at the one that it was ``compiled`` to, where given.

        Raises:
            RecordingError: the manifest's plan is damaged.

        """
        try:
            self._plan = compiled or _read(recording.manifest.plan)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in ("plan", *first["loc"]))
            raise RecordingError(
                f"{recording.folder / MANIFEST}: {place}: {first['msg']}; the file is damaged"
            ) from error
        self._recording = recording
        self._traffic = {item.name: item for item in self._plan.traffic}

    def expected_joins(self, traffic: str) -> int:
        """Additional subflows that a connection of the flow should get."""
        if self.measured is not None:
            return len(self.measured.paths) - 1
        return self._traffic[traffic].expected_joins if traffic in self._traffic else 0

    def duration_ns(self, traffic: str) -> int | None:
        """How long the flow's transfers last; null where it is bound by a size or unknown."""
        return self._traffic[traffic].duration_ns if traffic in self._traffic else None

    def is_sized(self, traffic: str, kind: str) -> bool:
        """Whether the flow's transfers end when a size has been carried."""
        if kind != "bulk":
            return kind in SIZED_KINDS
        if self.measured is not None:
            return self.measured.bytes is not None
        workload = self._traffic[traffic].workload if traffic in self._traffic else None
        return isinstance(workload, BulkWorkload) and workload.bytes is not None

    @property
    def measured(self) -> Measured | None:
        """The measurement between real hosts that it is in place of a plan."""
        return self._recording.manifest.measured

    @property
    def flows(self) -> list[str]:
        """The names of the flows, in the order of the plan."""
        return [item.name for item in self._plan.traffic]

    @property
    def controller(self) -> str | None:
        """The policy of the switches' controller, its command or its address; null without one."""
        controller = self._plan.controller
        if controller is None:
            return None
        if controller.address is not None:
            return f"{controller.address.host}, port {controller.address.port}"
        return controller.policy or " ".join(controller.argv or ())

    @property
    def clients(self) -> list[tuple[str, str]]:
        """The client of each flow, and the flow's protocol."""
        nodes = self._plan.nodes
        return [(nodes[item.client].name, item.protocol) for item in self._plan.traffic]

    @cached_property
    def task(self) -> tuple[object, ...]:
        """The workloads, the links and what happens to them, whatever the protocol and the path."""
        workloads = [(item.client, item.start_ns, item.workload) for item in self._plan.traffic]
        changes = [
            (event.at_ns, event.action)
            for event in self._plan.events
            if isinstance(event.action, plan.LinkAction | plan.InterfaceAction)
        ]
        return workloads, [link.config for link in self._plan.links], changes

    @cached_property
    def task_by_interface(self) -> dict[str, tuple[object, ...]]:
        """The task of each interface, of flows whose connections start at one."""
        workloads: dict[str, list[object]] = {}
        for item in self._plan.traffic:
            _, interface = self.interface_of_address.get(str(item.source), (None, None))
            if interface is not None:
                task = (item.client, item.start_ns, item.workload)
                workloads.setdefault(interface, []).append(task)
        _, links, changes = self.task
        return {interface: (own, links, changes) for interface, own in workloads.items()}

    @cached_property
    def exchanges(self) -> int | None:
        """How many transfers follow one another in each flow; null where flows differ in that."""
        counts = {_exchanges(item.workload) for item in self._plan.traffic}
        return counts.pop() if len(counts) == 1 else None

    @property
    def depends_on_starts(self) -> bool:
        """Whether it matters when traffic starts: beside other traffic, an event or a trace."""
        return len(self._plan.traffic) > 1 or bool(self._plan.events) or self.follows_traces

    @property
    def may_have_chance(self) -> bool:
        """Whether the seed may decide something beside the starts: hosts answer, links lose."""
        directions = [one for link in self._plan.links for one in link.config.directions]
        return (
            bool(self._plan.events)
            or any(not isinstance(item.workload, DatagramsWorkload) for item in self._plan.traffic)
            or any(_is_random(one) for one in directions)
        )

    @property
    def hosts(self) -> frozenset[str]:
        """The nodes that have applications."""
        return frozenset(
            node.name for node in self._plan.nodes if not node.router and node.switch is None
        )

    @property
    def sends_transfers_only(self) -> bool:
        """Whether there is traffic, and all of it is transfers over connections of the lab."""
        kinds = [isinstance(item.workload, _TRANSFERS) for item in self._plan.traffic]
        return bool(kinds) and all(kinds)

    @property
    def follows_traces(self) -> bool:
        """Whether the rate of a link changes over time, as a trace says."""
        directions = [one for link in self._plan.links for one in link.config.directions]
        return any(isinstance(one.rate, TraceRate) for one in directions)

    @cached_property
    def host_links(self) -> Sequence[HostLink]:
        """The links at the hosts' interfaces, in the order of the links."""
        found = []
        for link in self._plan.links:
            rates = [
                one.rate.bits_per_second
                if isinstance(one.rate, FixedRate) and link.config.duplex == "full"
                else None
                for one in link.config.directions
            ]
            for end, (outgoing, incoming) in zip(link.ends, (rates, rates[::-1]), strict=True):
                node = self._plan.nodes[end.node]
                framing = link.config.directions[0].framing_bytes
                mtu = node.interfaces[end.interface].mtu
                if not node.router and node.switch is None:
                    found.append(HostLink(node.name, outgoing, incoming, framing, mtu))
        return found

    @cached_property
    def interface_of_address(self) -> dict[str, tuple[str, str]]:
        """Address to (node, interface), in the order of the plan."""
        return {
            str(prefix.address): (node.name, interface.name)
            for node in self._plan.nodes
            for interface in node.interfaces
            for prefix in interface.addresses
        }

    @cached_property
    def commands(self) -> dict[str, str]:
        """The flows that are commands, each with the node in which it runs."""
        return {
            item.name: self._plan.nodes[item.client].name
            for item in self._plan.traffic
            if isinstance(item.workload, CommandWorkload)
        }

    @cached_property
    def streams(self) -> dict[str, StreamWorkload]:
        """The flows that are streams of frames."""
        return {
            item.name: item.workload
            for item in self._plan.traffic
            if isinstance(item.workload, StreamWorkload)
        }

    def protocol(self, traffic: str) -> str | None:
        """The protocol that a flow asks for; null where it is unknown."""
        return self._traffic[traffic].protocol if traffic in self._traffic else None

    @property
    def command_clients(self) -> frozenset[str]:
        """The nodes in which commands run."""
        return frozenset(self.commands.values())

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
        if not self._plan.events:
            return []
        happened = grouped(
            self._recording.rows("events", ("t_ns", "kind", "label")), "kind", "label"
        )
        changes = []
        for event in self._plan.events:
            times = known(happened.get((event.action.kind, event.label), ()), "t_ns")
            if not times:
                continue
            planned_ns = event.at_ns
            at_ns = min(times, key=lambda time: abs(time - planned_ns))
            changes.append(self._change(at_ns, event.label, event.action))
        return sorted(changes, key=lambda change: change.at_ns)

    @property
    def down_at_first(self) -> list[str]:
        """The links of which a direction is down when the run begins."""
        return [
            link.name
            for link in self._plan.links
            if not all(direction.up for direction in link.config.directions)
        ]

    def _change(self, at_ns: int, label: str, action: plan.Action) -> Change:
        match action:
            case plan.LinkAction():
                link = self._plan.links[action.link]
                up = action.change.up if action.carrier is None else action.carrier
                ends = frozenset(self._interface(end) for end in link.ends)
                return Change(at_ns, label, up, link.name, ends)
            case plan.InterfaceAction(interface=changed, up=up):
                pass
            case plan.BackupAction(interface=changed):
                up = None
            case plan.SubflowAction():
                return Change(at_ns, label, None, None, frozenset())
        name = next((link.name for link in self._plan.links if changed in link.ends), None)
        return Change(at_ns, label, up, name, frozenset({self._interface(changed)}))

    def _interface(self, end: InterfaceRef) -> tuple[str, str]:
        node = self._plan.nodes[end.node]
        return node.name, node.interfaces[end.interface].name


def _is_random(direction: DirectionConfig) -> bool:
    """Whether a direction of a link treats packets by chance."""
    is_plain = isinstance(direction.jitter, NoJitter) and isinstance(direction.loss, NoLoss)
    return not is_plain or direction.reordering is not None or direction.duplication > 0


def _exchanges(workload: Workload) -> int:
    return workload.count if isinstance(workload, HttpWorkload | FtpWorkload) else 1


def _read(recorded: Json) -> plan.Plan:
    if recorded:
        return plan.Plan.model_validate(recorded)
    return plan.Plan(
        seed=0,
        nodes=(),
        links=(),
        traffic=(),
        events=(),
        sample_interval_ns=0,
        capture=None,
        time_limit_ns=0,
    )
