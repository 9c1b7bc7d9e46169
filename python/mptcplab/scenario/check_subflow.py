"""Whether the subflows that events open and close can be."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mptcplab.scenario.check_names import unknown_end
from mptcplab.scenario.flows import Flow, find_way, flows
from mptcplab.scenario.model import Scenario, SubflowEnds
from mptcplab.scenario.network import End, Network
from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.tree import Path

_WITH_CONNECTIONS = ("bulk", "http", "ftp", "request-response")


def check_subflows(
    scenario: Scenario, network: Network, variants: Collection[str]
) -> Iterator[Problem]:
    """Every problem of the events that open or close subflows."""
    every = {name: flows(scenario, variant) for name, variant in scenario.variants.items()}
    known = {flow.name: flow for sent in every.values() for flow in sent}
    for index, event in enumerate(scenario.events):
        if event.subflow is None:
            continue
        path: Path = ("events", index, "subflow")
        flow = known.get(event.subflow.of)
        if flow is None:
            wrong = f"there is no traffic {quoted(event.subflow.of)}"
            text = f"{wrong}: {did_you_mean(event.subflow.of, known)}"
            yield scenario.provenance.problem((*path, "of"), text)
            continue
        found = list(_ends(scenario, path, event.subflow, flow))
        yield from found or _effect(scenario, network, path, event.subflow, flow)
        if not any(
            f.protocol == "mptcp" for v in variants for f in every[v] if f.name == flow.name
        ):
            text = f"{flow.name} never speaks MPTCP: let a variant of it be mptcp"
            yield scenario.provenance.problem((*path, "of"), text)


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
