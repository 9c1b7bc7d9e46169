"""From a scenario and a variant to the plan that an engine reads.

The plan is the JSON form of `Plan` in `crates/plan/src/lib.rs`: every name resolved to an index or
an address, every unit in its field's name. Compiling is pure; what the machine can do is checked
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.engine.compile_links import LinkState, compile_change, compile_link, reference
from mptcplab.engine.compile_network import compile_nodes
from mptcplab.engine.compile_traffic import compile_flow, compile_subflow, time_limit_ns
from mptcplab.scenario.draw_words import event_words
from mptcplab.scenario.flows import Flow, flows
from mptcplab.scenario.loading import for_variant
from mptcplab.scenario.model import Event, Scenario
from mptcplab.scenario.network import End, Network, build

Plan = dict[str, Any]
"""The plan as JSON's types."""


@dataclass(frozen=True)
class Capture:
    """Which packets to keep, and where."""

    folder: Path
    interfaces: tuple[str, ...] = ()
    """`node.interface`; all interfaces of hosts where empty."""
    snap_length_bytes: int = 160
    """Enough for all headers and options, with the start of the payload."""


def compile_plan(
    scenario: Scenario, variant: str, seed: int, capture: Capture | None = None
) -> Plan:
    """The plan of one repetition of a variant; `seed` is the repetition's own.

    Raises `ScenarioError` for a variant that the scenario does not have.
    """
    made = for_variant(scenario, variant)
    network = build(made)
    sent = flows(made, made.variants[variant])
    return {
        "seed": seed,
        "nodes": compile_nodes(made, network),
        "links": [
            compile_link(name, link, made.folder, network) for name, link in made.links.items()
        ],
        "traffic": [compile_flow(made, network, flow, index) for index, flow in enumerate(sent)],
        "events": list(_events(made, network, sent)),
        "sample_interval_ns": made.sample_interval,
        "capture": None if capture is None else _capture(network, capture),
        "time_limit_ns": time_limit_ns(made, network, sent),
    }


def _capture(network: Network, capture: Capture) -> Plan:
    wanted = [End.parse(text) for text in capture.interfaces] or [
        end for end in network.interfaces if end.node not in network.routers
    ]
    return {
        "folder": str(capture.folder),
        "interfaces": [reference(network, end) for end in wanted],
        "snap_length": capture.snap_length_bytes,
    }


def _events(scenario: Scenario, network: Network, sent: Sequence[Flow]) -> Iterable[Plan]:
    links = {
        name: LinkState.initial(link, scenario.folder) for name, link in scenario.links.items()
    }
    for event in sorted(scenario.events, key=lambda event: event.at):
        if event.link is not None and event.change is not None:
            links[event.link], changes = compile_change(
                event.change, links[event.link], scenario.folder
            )
        else:
            changes = [{"up": event.up}]
        label = event_words(event)
        for action in _actions(scenario, network, event, changes, sent):
            yield {"at_ns": event.at, "action": action, "label": label}


def _actions(
    scenario: Scenario,
    network: Network,
    event: Event,
    changes: list[Plan],
    sent: Sequence[Flow],
) -> Iterable[Plan]:
    """What an event does; `changes` are those of its link."""
    name = event.link or event.carrier
    if name is not None:
        carrier = event.up if event.carrier is not None else None
        index = list(scenario.links).index(name)
        for change in changes:
            yield {"kind": "link", "link": index, "change": change, "carrier": carrier}
    elif event.interface is not None:
        interface = reference(network, End.parse(event.interface))
        if event.backup is not None:
            yield {"kind": "backup", "interface": interface, "backup": event.backup}
        else:
            yield {"kind": "interface", "interface": interface, "up": event.up}
    elif event.subflow is not None:
        yield from compile_subflow(network, event.subflow, event.up is True, sent)
