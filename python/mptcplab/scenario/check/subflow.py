"""Whether the subflows that events open and close can be."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mptcplab.scenario.check.names import unknown_end
from mptcplab.scenario.flows import Flow, find_way, flows, subflow_target
from mptcplab.scenario.model import Scenario, SubflowEnds
from mptcplab.scenario.network import End, Network
from mptcplab.scenario.path_manager import path_manager
from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.traffic import Connections
from mptcplab.scenario.tree import Path

_WITH_CONNECTIONS = ("bulk", "http", "ftp", "request-response", "stream")


def check_subflows(
    scenario: Scenario, network: Network, variants: Collection[str]
) -> Iterator[Problem]:
    """Every problem of the subflows that applications open, and of the events that do."""
    every = {name: flows(scenario, variant) for name, variant in scenario.variants.items()}
    for index, item in enumerate(scenario.traffic):
        if isinstance(item.body, Connections) and item.body.subflows:
            sent = [flow for name in variants for flow in every[name] if flow.index == index]
            path: Path = ("traffic", index, item.kind, "subflows")
            yield from _of_application(scenario, network, path, item.body, sent)
    known = {flow.name: flow for sent in every.values() for flow in sent}
    for index, event in enumerate(scenario.events):
        if event.subflow is None:
            continue
        path = ("events", index, "subflow")
        flow = known.get(event.subflow.of)
        if flow is None:
            wrong = f"there is no traffic {quoted(event.subflow.of)}"
            text = f"{wrong}: {did_you_mean(event.subflow.of, known)}"
            yield scenario.provenance.problem((*path, "of"), text)
            continue
        found = list(_ends(scenario, path, event.subflow, flow))
        yield from found or _effect(scenario, network, path, event.subflow, flow)
        if variants and not any(
            f.protocol == "mptcp" for v in variants for f in every[v] if f.name == flow.name
        ):
            text = f"{flow.name} never speaks MPTCP: let a variant of it be mptcp"
            yield scenario.provenance.problem((*path, "of"), text)


def _of_application(
    scenario: Scenario, network: Network, path: Path, item: Connections, sent: list[Flow]
) -> Iterator[Problem]:
    """Problems of the subflows that a flow's applications open."""
    for number, text in enumerate(item.subflows or []):
        place = (*path, number) if len(item.subflows or []) > 1 else path
        wrong = unknown_end(scenario, text, routers=False)
        if wrong is None and End.parse(text).node not in item.clients:
            wrong = f"is no interface of a client, {', '.join(item.clients)}"
        if wrong is not None:
            yield scenario.provenance.problem(place, f"{quoted(text)}: {wrong}")
            return
        for flow in sent:
            way = find_way(network, flow.client, flow.server, flow.via)
            end = End.parse(text)
            if way is None or flow.protocol != "mptcp" or end.node != flow.client:
                continue
            if network.address(end, way.family) is None:
                wrong = f"{flow.name} goes by IPv{way.family}, of which it has no address"
                yield scenario.provenance.problem(place, f"{quoted(text)}: {wrong}")
            elif subflow_target(network, flow, way, end) is None:
                wrong = f"does not reach {flow.server}, the server of {flow.name}"
                yield scenario.provenance.problem(place, f"{quoted(text)}: {wrong}")
    for client in dict.fromkeys(flow.client for flow in sent if flow.protocol == "mptcp"):
        if path_manager(scenario, client).kind != "application":
            text = (
                f"the path manager of {client} opens subflows itself: write "
                f"hosts.{client}.mptcp.path_manager: application"
            )
            yield scenario.provenance.problem(path, text)


def _ends(scenario: Scenario, path: Path, subflow: SubflowEnds, flow: Flow) -> Iterator[Problem]:
    for key, text, node in (
        ("from", subflow.source, flow.client),
        ("to", subflow.target, flow.server),
    ):
        wrong = unknown_end(scenario, text, routers=False)
        if wrong is None and End.parse(text).node != node:
            role = "client" if key == "from" else "server"
            wrong = f"is no interface of {node}, the {role} of {flow.name}"
        if wrong is not None:
            yield scenario.provenance.problem((*path, key), f"{quoted(text)}: {wrong}")


def _effect(
    scenario: Scenario, network: Network, path: Path, subflow: SubflowEnds, flow: Flow
) -> Iterator[Problem]:
    if flow.kind not in _WITH_CONNECTIONS:
        text = f"{flow.name} is {flow.kind}, which has no connections of its own"
        yield scenario.provenance.problem((*path, "of"), text)
        return
    way = find_way(network, flow.client, flow.server, flow.via)
    if way is None:
        return  # Said of the traffic.
    for key, text in (("from", subflow.source), ("to", subflow.target)):
        if network.address(End.parse(text), way.family) is None:
            wrong = f"{flow.name} goes by IPv{way.family}, of which it has no address"
            yield scenario.provenance.problem((*path, key), f"{quoted(text)}: {wrong}")
