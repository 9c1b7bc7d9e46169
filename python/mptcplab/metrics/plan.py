"""What metrics need to know of the plan that a recording was made from.

The plan is the compiled scenario, stored in the manifest (``crates/emu/src/plan.rs``). A recording
without one is measured all the same; what depends on it is then unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mptcplab.recording import Recording

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


class Plan:
    """A view of the plan in a recording's manifest."""

    def __init__(self, recording: Recording) -> None:
        """Looks at the plan of ``recording``."""
        self._plan: Mapping[str, Any] = recording.manifest.plan
        self._recording = recording

    @cached_property
    def traffic(self) -> dict[str, Mapping[str, Any]]:
        """Traffic items by name."""
        return {item["name"]: item for item in self._list("traffic")}

    @property
    def links(self) -> Sequence[Mapping[str, Any]]:
        """The links."""
        return self._list("links")

    def expected_joins(self, traffic: str) -> int:
        """Additional subflows that a connection of the item should get."""
        return int(self.traffic.get(traffic, {}).get("expected_joins", 0))

    def duration_ns(self, traffic: str) -> int | None:
        """How long the item's transfers last; null where it is bound by a size or unknown."""
        duration = self.traffic.get(traffic, {}).get("workload", {}).get("duration_ns")
        return None if duration is None else int(duration)

    def is_sized(self, traffic: str, kind: str) -> bool:
        """Whether the item's transfers end when a size has been carried."""
        workload = self.traffic.get(traffic, {}).get("workload", {})
        return kind in SIZED_KINDS or (kind == "bulk" and workload.get("bytes") is not None)

    @cached_property
    def interface_of_address(self) -> dict[str, tuple[str, str]]:
        """Address to (node, interface)."""
        return {
            prefix["address"]: (node["name"], interface["name"])
            for node in self._list("nodes")
            for interface in node["interfaces"]
            for prefix in interface["addresses"]
        }

    def in_order(self, nodes: Iterable[str]) -> list[str]:
        """The nodes, each once, in the order of the plan; unknown ones last."""
        order = [node["name"] for node in self._list("nodes")]
        place = {name: number for number, name in enumerate(order)}
        return sorted(dict.fromkeys(nodes), key=lambda name: place.get(name, len(order)))

    def place(self, node: str, interface: str) -> int:
        """Place of an interface in the order of the plan; the last where it is not in it."""
        order = list(dict.fromkeys(self.interface_of_address.values()))
        return order.index((node, interface)) if (node, interface) in order else len(order)

    @cached_property
    def changes(self) -> Sequence[Change]:
        """The planned changes of the network that took place, with the times they took place at."""
        happened = self._recording.frame("events")
        changes = []
        for event in self._list("events"):
            action = event["action"]
            rows = happened.filter(kind=action["kind"], label=event["label"])
            times = rows["t_ns"].sort()
            if times.is_empty():
                continue
            at_ns = min(times, key=lambda time: abs(time - event["at_ns"]))
            changes.append(self._change(at_ns, event["label"], action))
        return sorted(changes, key=lambda change: change.at_ns)

    def _change(self, at_ns: int, label: str, action: Mapping[str, Any]) -> Change:
        if action["kind"] == "link":
            link = self.links[action["link"]]
            up = action.get("carrier")
            if up is None:
                up = action["change"].get("up")
            ends = frozenset(self._interface(end) for end in link["ends"])
            return Change(at_ns, label, up, link["name"], ends)
        changed = action["interface"]
        up = action["up"] if action["kind"] == "interface" else None
        name = next((link["name"] for link in self.links if changed in link["ends"]), None)
        return Change(at_ns, label, up, name, frozenset({self._interface(changed)}))

    def _interface(self, reference: Mapping[str, int]) -> tuple[str, str]:
        node = self._list("nodes")[reference["node"]]
        return node["name"], node["interfaces"][reference["interface"]]["name"]

    def _list(self, key: str) -> Sequence[Mapping[str, Any]]:
        entries: Sequence[Mapping[str, Any]] = self._plan.get(key, ())
        return entries
