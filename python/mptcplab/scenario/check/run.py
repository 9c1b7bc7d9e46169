"""Checks of what a scenario does: traffic, events, variants, findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mptcplab.scenario.check.effect import check_effect
from mptcplab.scenario.check.names import bad_rates, unknown_end, unknown_host
from mptcplab.scenario.check.subflow import check_subflows
from mptcplab.scenario.expectation import parse
from mptcplab.scenario.flows import Flow, end_ns, find_way, flows
from mptcplab.scenario.model import Event, Scenario
from mptcplab.scenario.network import Network
from mptcplab.scenario.path_manager import clients, path_manager
from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.profiles import changes_of, is_half_duplex
from mptcplab.scenario.switch import PROGRAM
from mptcplab.scenario.traffic import Command, Datagrams, Ping
from mptcplab.scenario.tree import Path
from mptcplab.scenario.units import format_time


def check_names(scenario: Scenario) -> Iterator[Problem]:
    """Names in traffic, events and findings that refer to nothing."""
    yield from _traffic(scenario)
    for index, event in enumerate(scenario.events):
        yield from _event(scenario, ("events", index), event)
    yield from _findings(scenario)


def check_behaviour(
    scenario: Scenario, network: Network, variants: Collection[str]
) -> Iterator[Problem]:
    """Settings without effect although all names are known, as a server that no way leads to."""
    if any(True for _ in check_names(scenario)):
        return
    yield from _flow_names(scenario)
    yield from _path_managers(scenario)
    yield from check_effect(scenario)
    for name in variants:
        sent = flows(scenario, scenario.variants[name])
        for flow in sent:
            yield from _flow(scenario, network, name, flow)
        if scenario.variants[name].via and not any(flow.via_from_variant for flow in sent):
            text = "applies to nothing: every flow fixes its own `via` or `protocol`"
            yield _problem(scenario, ("variants", name, "via"), text)
    yield from check_subflows(scenario, network, variants)
    yield from _late_events(scenario)


def _problem(scenario: Scenario, path: Path, text: str) -> Problem:
    return scenario.provenance.problem(path, text)


def _traffic(scenario: Scenario) -> Iterator[Problem]:
    for index, item in enumerate(scenario.traffic):
        body = item.body
        command = isinstance(body, Command)
        path: Path = ("traffic", index, item.kind)
        from_key = "on" if command else "from"
        to_path = (*path, "server", "on") if command else (*path, "to")
        for client in body.clients:
            wrong = unknown_host(scenario, client)
            if wrong:
                yield _problem(scenario, (*path, from_key), wrong)
            elif body.servers and client == body.server_of(client):
                yield _problem(scenario, to_path, f"{quoted(client)} is the client itself")
            elif body.via is not None:
                yield from _via(scenario, (*path, "via"), client, body.via)
        for client in dict.fromkeys(c for c in body.clients if body.clients.count(c) > 1):
            yield _problem(scenario, (*path, from_key), f"{quoted(client)} is given twice")
        for server in dict.fromkeys(body.servers):
            if wrong := unknown_host(scenario, server):
                yield _problem(scenario, to_path, wrong)


def _via(scenario: Scenario, path: Path, client: str, via: Sequence[str]) -> Iterator[Problem]:
    known = scenario.hosts[client].interfaces
    for number, name in enumerate(via):
        place = (*path, number) if len(via) > 1 else path
        if name not in known:
            text = f"{client} has no interface {quoted(name)}: {did_you_mean(name, known)}"
            yield _problem(scenario, place, text)


def _event(scenario: Scenario, path: Path, event: Event) -> Iterator[Problem]:
    for key in ("link", "carrier"):
        link = getattr(event, key)
        if link is not None and link not in scenario.links:
            text = f"there is no link {quoted(link)}: {did_you_mean(link, scenario.links)}"
            yield _problem(scenario, (*path, key), text)
            return
    if event.interface is not None:
        wrong = unknown_end(scenario, event.interface, routers=False)
        if wrong:
            yield _problem(scenario, (*path, "interface"), f"{quoted(event.interface)}: {wrong}")
    if event.change is not None and event.link is not None:
        half = is_half_duplex(scenario.links[event.link])
        yield from bad_rates(scenario, (*path, "change"), changes_of(event.change), half)


def _findings(scenario: Scenario) -> Iterator[Problem]:
    variants = scenario.variants
    for index, text in enumerate(entry.finding for entry in scenario.expect):
        for name in dict.fromkeys(found.variant for found in parse(text).names()):
            if name not in variants:
                wrong = f"there is no variant {quoted(name)}: {did_you_mean(name, variants)}"
                yield _problem(scenario, ("expect", index), f"{quoted(text)}: {wrong}")
    for index, figure in enumerate(scenario.reference):
        if figure.variant not in variants:
            name = figure.variant
            wrong = f"there is no variant {quoted(name)}: {did_you_mean(name, variants)}"
            yield _problem(scenario, ("reference", index, "variant"), wrong)


def _flow_names(scenario: Scenario) -> Iterator[Problem]:
    first: dict[str, int] = {}
    has_program = scenario.controller is not None and scenario.controller.command is not None
    for flow in flows(scenario, next(iter(scenario.variants.values()))):
        if flow.name == PROGRAM and has_program:
            text = f"{quoted(PROGRAM)} is the controller's program in recordings: take another name"
            yield _problem(scenario, ("traffic", flow.index, flow.kind, "name"), text)
        if flow.name in first:
            text = f"{quoted(flow.name)} is the name of flow {first[flow.name]} already"
            yield _problem(scenario, ("traffic", flow.index, flow.kind, "name"), text)
        first.setdefault(flow.name, flow.index)


def _path_managers(scenario: Scenario) -> Iterator[Problem]:
    for name, host in scenario.hosts.items():
        manager = path_manager(scenario, name).kind
        if manager == "ndiffports" and name not in clients(scenario):
            text = "ndiffports opens subflows of clients, and no traffic starts here"
            yield _problem(scenario, ("hosts", name, "mptcp", "path_manager"), text)
        if manager in ("fullmesh", "signal", "subflow-signal"):
            continue
        text = f"{name}'s path manager is {manager}, which has no backups: use fullmesh"
        for interface, settings in host.interfaces.items():
            if settings.backup:
                path = ("hosts", name, "interfaces", interface, "backup")
                yield _problem(scenario, path, text)
        for index, event in enumerate(scenario.events):
            if event.backup is not None and (event.interface or "").startswith(f"{name}."):
                yield _problem(scenario, ("events", index, "backup"), text)


def _flow(scenario: Scenario, network: Network, variant: str, flow: Flow) -> Iterator[Problem]:
    item: Path = ("traffic", flow.index, flow.kind)
    of_variant: Path = ("variants", variant, "via")
    if flow.via_from_variant and flow.via is not None:
        wrong = list(_via(scenario, of_variant, flow.client, [flow.via]))
        if wrong:
            yield from wrong
            return
    if flow.is_one_of_several and flow.protocol == "mptcp":
        text = "several interfaces at once are for protocol tcp: MPTCP uses them by its subflows"
        yield _problem(scenario, of_variant if flow.via_from_variant else (*item, "via"), text)
    opens_mptcp = flow.protocol == "mptcp" and not isinstance(flow.body, Ping | Datagrams)
    if opens_mptcp and not scenario.hosts[flow.client].mptcp.enabled:
        path: Path = ("hosts", flow.client, "mptcp", "enabled")
        text = f"is false, but variant {variant} opens MPTCP connections from {flow.client}"
        yield _problem(scenario, path, text)
    if flow.client != flow.server:
        way = find_way(network, flow.client, flow.server, flow.via)
        if way is None:
            start = f"{flow.client}.{flow.via}" if flow.via else flow.client
            text = f"there is no way from {start} to {flow.server} (variant {variant})"
            yield _problem(scenario, item, f"{text}: join them by links and routers")
        elif isinstance(flow.body, Datagrams):
            narrow = min(way.crossed, key=lambda end: network.interfaces[end].mtu)
            size = network.interfaces[narrow].mtu
            if flow.body.packet > size:
                text = f"{flow.body.packet} B, but {narrow} on the way takes packets of {size} B"
                yield _problem(scenario, (*item, "packet"), f"{text}: send no larger ones")


def _late_events(scenario: Scenario) -> Iterator[Problem]:
    end = end_ns(scenario)
    for index, event in enumerate(scenario.events):
        if end is not None and event.at > end:
            text = f"{format_time(event.at)} is after the end of all traffic ({format_time(end)})"
            yield _problem(scenario, ("events", index, "at"), text)
