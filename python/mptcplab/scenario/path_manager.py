"""Which path manager a host has where the scenario does not say."""

from __future__ import annotations

from mptcplab.scenario.host import PathManager
from mptcplab.scenario.model import Scenario


def clients(scenario: Scenario) -> frozenset[str]:
    """Hosts from which some traffic starts."""
    return frozenset(client for item in scenario.traffic for client in item.body.clients)


def path_manager(scenario: Scenario, host: str) -> PathManager:
    """The host's path manager: as given, or else fullmesh for clients, signal for the others.

    A client then opens a subflow from each of its interfaces to each address of the server, which
    announces them. (The kernel takes no endpoint that is both.)
    """
    given = scenario.hosts[host].mptcp.path_manager
    if given is not None:
        return given
    return PathManager(kind="fullmesh" if host in clients(scenario) else "signal")
