"""Single changes of a scenario's variant, as keys of the scenario and as settings of a host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from mptcplab.explanation.observed import Connection
from mptcplab.explanation.told import Change
from mptcplab.explanation.ways import leads_to, links_between
from mptcplab.plan import Plan
from mptcplab.scenario import Scenario, for_variant, loads, loads_kept, with_overrides
from mptcplab.scenario.expanded import expanded
from mptcplab.scenario.network import End

_SCHEDULERS = ("lowest-rtt", "round-robin", "redundant", "blest", "ecf")
_STOCK_CONTROLS = ("cubic", "reno")
_COUPLED = ("lia", "olia", "balia")
_SUBFLOWS_OF_A_PAIR = (2, 4)
_BUFFERS_BYTES = (1 << 20, 4 << 20)
"""Of the remedies: 4 MiB holds 100 Mbit/s for a third of a second; where a path loses packets the
smaller one may carry more."""
_LARGEST_BYTES = 1 << 30
"""The kernel's limit of a socket's buffer is 2 GiB."""


def in_full(scenario: Scenario) -> Scenario:
    """The scenario with its topology's hosts and links, and its variant, so that they can change.

    Raises:
        ScenarioError: a variant changes the topology itself.

    """
    source = scenario.provenance
    if "topology" not in source.tree and source.tree.get("variants"):
        return scenario
    tree = {key: value for key, value in expanded(source.tree).items() if key != "topology"}
    if not tree.get("variants"):
        # The one that a scenario has that names none.
        tree["variants"] = {name: {} for name in scenario.variants}
    text = json.dumps({"name": scenario.name, **tree})
    return loads(text, source.origin, source.folder) if source.reads_files else loads_kept(text)


def changed(scenario: Scenario, variant: str, change: Change) -> Scenario:
    """The scenario whose variant has the change, whatever the variant sets itself.

    Raises:
        ScenarioError: the scenario cannot be changed so.

    """
    own = scenario.variants[variant].set
    values = {key: value for key, value in own.items() if key not in change.values}
    return with_overrides(scenario, {f"variants.{variant}.set": {**values, **change.values}})


def together(changes: Sequence[Change]) -> Change:
    """Changes at once; tables at the same place are merged."""
    values: dict[str, Any] = {}
    for one in changes:
        for path, value in one.values.items():
            before = values.get(path)
            if isinstance(before, Mapping) and isinstance(value, Mapping):
                values[path] = {**before, **value}
            else:
                values[path] = value
    settings = [line for one in changes for line in one.settings]
    return Change(values, settings, all(one.stock_kernel for one in changes))


class Changes:
    """The changes that there are for a connection."""

    def __init__(self, scenario: Scenario, variant: str, plan: Plan, connection: Connection):
        """For the connection of this variant, as the plan has it; the scenario is in full."""
        self._scenario = for_variant(scenario, variant)
        self._tree: Mapping[str, Any] = self._scenario.provenance.tree
        self._plan = plan
        self._connection = connection

    def links_between(self, start: End, end: End) -> AbstractSet[str] | None:
        """See `ways.links_between`: without any change."""
        return links_between(self._scenario, start, end)

    def leads_to(self, start: End, host: str) -> bool:
        """Whether a route leads from an interface to a host."""
        return leads_to(self._scenario, start, host)

    def remedies(self) -> Iterator[Change]:
        """Every single change that is tried, in a fixed order."""
        sender, receiver = self._connection.sender, self._connection.receiver
        now = (self._host(sender).get("mptcp") or {}).get("scheduler")
        for name in _SCHEDULERS:
            if name != now:
                yield self.scheduler(sender, name)
        control = self._host(sender).get("congestion_control", "cubic")
        for name in (*_STOCK_CONTROLS, *_COUPLED):
            if name != control:
                yield self.congestion_control(sender, name)
        for size in _BUFFERS_BYTES:
            yield self.send_buffer(sender, size)
            yield self.receive_buffer(receiver, size)
        if self._manages_paths():
            yield self.path_manager()
        for number in _SUBFLOWS_OF_A_PAIR:
            yield self.parallel(number)
        for path in self._connection.paths:
            if len(self._connection.paths) > 1:
                yield self.backup(path, backup=not self._interface(path).get("backup", False))
        first = self._connection.subflows[0].path if self._connection.subflows else None
        for path in self._connection.paths:
            change = self.begun_on(path) if path != first else None
            if change is not None and len(self._connection.paths) > 1:
                yield change
        for path in self._connection.paths:
            if path != first and len(self._connection.paths) > 1:
                yield self.left_out(path)

    def scheduler(self, host: str, name: str) -> Change:
        """Another scheduler, which stock kernels do not have."""
        settings = [f"sysctl -w net.mptcp.scheduler={name}  # {host}"]
        return Change({f"hosts.{host}.mptcp.scheduler": name}, settings, stock_kernel=False)

    def congestion_control(self, host: str, name: str) -> Change:
        """Another congestion control."""
        is_stock = name in _STOCK_CONTROLS
        settings = [f"sysctl -w net.ipv4.tcp_congestion_control={name}  # {host}"]
        if not is_stock:
            settings = [f"mptcplab-host cc load {name}  # {host}", *settings]
        return Change({f"hosts.{host}.congestion_control": name}, settings, stock_kernel=is_stock)

    def send_buffer(self, host: str, initial_bytes: int) -> Change:
        """A send buffer that is so large from the start."""
        return self._sysctl(host, "net.ipv4.tcp_wmem", initial_bytes)

    def receive_buffer(self, host: str, initial_bytes: int) -> Change:
        """A receive buffer that is so large from the start."""
        return self._sysctl(host, "net.ipv4.tcp_rmem", initial_bytes)

    def path_manager(self) -> Change:
        """Subflows from each address to each, and announced ones accepted."""
        client, server = self._connection.client, str(self._connection.transfer["server"])
        limits = {"subflows": 8, "add_addr_accepted": 8}
        settings = ["ip mptcp limits set subflows 8 add_addr_accepted 8  # both"]
        settings += [
            f"ip mptcp endpoint add {address} dev {name} subflow fullmesh  # {client}"
            for name, address in self._addresses(client)
        ]
        values = {
            f"hosts.{client}.mptcp.path_manager": "fullmesh",
            f"hosts.{client}.mptcp.limits": limits,
            f"hosts.{server}.mptcp.path_manager": "signal",
            f"hosts.{server}.mptcp.limits": limits,
        }
        return Change(values, settings)

    def parallel(self, number: int) -> Change:
        """So many subflows between the addresses of the connection, and no others."""
        client = self._connection.client
        own = self._host(client).get("mptcp") or {}
        rest = {key: value for key, value in own.items() if key not in ("limits", "path_manager")}
        values = {f"hosts.{client}.mptcp": {**rest, "path_manager": {"ndiffports": number}}}
        settings = [f"mptcplab-host path-manager ndiffports --subflows {number}  # {client}"]
        return Change(values, settings)

    def backup(self, path: str, *, backup: bool) -> Change:
        """A path that is a backup, or is none any more."""
        client = self._connection.client
        word = "backup" if backup else "nobackup"
        settings = [
            f"ip mptcp endpoint change {address} {word}  # {client}"
            for name, address in self._addresses(client)
            if name == path
        ]
        return Change({f"hosts.{client}.interfaces.{path}.backup": backup}, settings)

    def begun_on(self, path: str) -> Change | None:
        """The connection begun over another path; null where it cannot begin there."""
        found = self._own_traffic()
        client, server = self._connection.client, str(self._connection.transfer["server"])
        if found is None or not self.leads_to(End(client, path), server):
            return None
        number, kind, _ = found
        hop = next(self._gateways(client, path), None)
        way = f"dev {path}" if hop is None else f"via {hop} dev {path}"
        settings = [f"ip route replace default {way}  # {client}"]
        return Change({f"traffic.{number}.{kind}.via": path}, settings)

    def left_out(self, path: str) -> Change:
        """A path that is not used at all."""
        client = self._connection.client
        event = {"at": "0 s", "interface": f"{client}.{path}", "up": False}
        values = {"events": [event, *(self._tree.get("events") or [])]}
        return Change(values, [f"ip link set dev {path} down  # {client}"])

    def without_address_delay(self, path: str) -> Change:
        """Addresses that are there at once."""
        values = {f"hosts.{self._connection.client}.interfaces.{path}.address_delay": "0 s"}
        return Change(values, ())

    def without_middleboxes(self, link: str) -> Change:
        """A link with nothing that changes packets."""
        return Change({f"links.{link}.middleboxes": []}, ())

    def without_loss(self, link: str) -> Change:
        """A link that loses nothing by chance."""
        return self._of_link(link, "loss", "0 %")

    def short_queue(self, link: str) -> Change:
        """A queue of one bandwidth-delay product."""
        return self._of_link(link, "queue", "1 BDP")

    def _of_link(self, link: str, key: str, value: str) -> Change:
        """The value for both directions, also where one has a value of its own."""
        own = self._tree["links"][link] or {}
        values = {f"links.{link}.{key}": value}
        for way in ("up", "down"):
            if isinstance(own.get(way), dict) and key in own[way]:
                values[f"links.{link}.{way}.{key}"] = value
        return Change(values, ())

    def unlimited_application(self) -> Change | None:
        """An application that offers as much as goes; null where it is not limited by a rate."""
        found = self._own_traffic()
        if found is None or found[1] != "bulk" or "rate" not in found[2]:
            return None
        number, kind, settings = found
        rest = {key: value for key, value in settings.items() if key != "rate"}
        return Change({f"traffic.{number}.{kind}": rest}, ())

    def _own_traffic(self) -> tuple[int, str, Mapping[str, Any]] | None:
        """The place, the kind and the settings of the connection's flow in the scenario."""
        name = self._connection.transfer["traffic"]
        for number, item in enumerate(self._tree["traffic"]):
            for kind, settings in item.items() if isinstance(item, Mapping) else ():
                if isinstance(settings, Mapping) and settings.get("name", kind) == name:
                    return number, kind, settings
        return None

    def _sysctl(self, host: str, name: str, initial_bytes: int) -> Change:
        own = self._host(host).get("sysctls") or {}
        words = f"4096 {initial_bytes} {min(_LARGEST_BYTES, 4 * initial_bytes)}"
        settings = [f'sysctl -w {name}="{words}"  # {host}']
        return Change({f"hosts.{host}.sysctls": {**own, name: words}}, settings)

    def _manages_paths(self) -> bool:
        """Whether a path manager is named, so that another one is a change."""
        client, server = self._connection.client, self._connection.transfer["server"]
        named = [self._host(host).get("mptcp") or {} for host in (client, server)]
        return any({"path_manager", "limits"} & one.keys() for one in named)

    def _host(self, name: str) -> Mapping[str, Any]:
        return (self._tree.get("hosts") or {}).get(name) or {}

    def _interface(self, path: str) -> Mapping[str, Any]:
        return self._host(self._connection.client).get("interfaces", {}).get(path) or {}

    def _gateways(self, host: str, path: str) -> Iterator[str]:
        for node in self._plan.nodes:
            for interface in node.interfaces:
                if (node.name, interface.name) == (host, path):
                    yield from map(str, interface.gateways)

    def _addresses(self, host: str) -> Iterator[tuple[str, str]]:
        for node in self._plan.nodes:
            for interface in node.interfaces:
                if node.name == host:
                    yield from ((interface.name, str(one.address)) for one in interface.addresses)
