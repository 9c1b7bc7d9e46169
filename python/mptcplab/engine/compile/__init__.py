"""From a scenario and a variant to the plan that an engine reads.

Every name is resolved to an index or an address (`mptcplab.plan`). Compiling is pure; what the
machine can do is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab import plan
from mptcplab.engine.compile.links import LinkState, compile_change, compile_link, reference
from mptcplab.engine.compile.network import compile_nodes
from mptcplab.engine.compile.traffic import compile_flow, compile_subflow, time_limit_ns
from mptcplab.engine.vary import start_delay_ns
from mptcplab.plan.link import LinkChange
from mptcplab.plan.traffic import Traffic
from mptcplab.policy.source import read_policy
from mptcplab.scenario.flows import Flow, flows
from mptcplab.scenario.loading import for_variant
from mptcplab.scenario.model import Event, Scenario
from mptcplab.scenario.network import End, Network, build
from mptcplab.scenario.switch import parse_address
from mptcplab.scenario.words import event_words


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
) -> plan.Plan:
    """The plan of one repetition of a variant; `seed` is the repetition's own.

    Raises `ScenarioError` for a variant that the scenario does not have.
    """
    made = for_variant(scenario, variant)
    network = build(made)
    sent = flows(made, made.variants[variant])
    return plan.Plan(
        seed=seed,
        nodes=compile_nodes(made, network),
        links=tuple(
            compile_link(name, link, made.folder, network) for name, link in made.links.items()
        ),
        traffic=tuple(
            _started(compile_flow(made, network, flow, index), flow, made, seed)
            for index, flow in enumerate(sent)
        ),
        events=tuple(_events(made, network, sent)),
        sample_interval_ns=made.sample_interval,
        capture=None if capture is None else _capture(network, capture),
        time_limit_ns=time_limit_ns(made, network, sent),
        controller=None if made.controller is None else _controller(made),
    )


def _controller(scenario: Scenario) -> plan.Controller:
    controller = scenario.controller
    assert controller is not None
    address, source = None, None
    if controller.address is not None:
        host, port = parse_address(controller.address)
        address = plan.Address(host=host, port=port)
    if (policy := controller.policy_file) is not None:
        source = read_policy(policy, scenario.folder)
    return plan.Controller(
        policy=controller.policy,
        policy_source=source,
        argv=None if controller.command is None else tuple(controller.command),
        address=address,
        discovery_ns=0 if controller.policy is not None else controller.discovery,
        link_probe_ns=controller.link_probe,
        channel_delay_ns=controller.delay,
        channel_rate_bps=None if controller.rate == "unlimited" else controller.rate,
        sizes=controller.sizes,
        tcp_fallback=controller.tcp_fallback,
    )


def _started(compiled: Traffic, flow: Flow, scenario: Scenario, seed: int) -> Traffic:
    """The flow with its start as the repetition draws it, where the scenario says so."""
    if scenario.vary is None:
        return compiled
    delay_ns = start_delay_ns(seed, flow.common_name, scenario.vary.start)
    return compiled.model_copy(update={"start_ns": compiled.start_ns + delay_ns})


def _capture(network: Network, capture: Capture) -> plan.Capture:
    wanted = [End.parse(text) for text in capture.interfaces] or [
        end for end in network.interfaces if end.node not in network.routers | network.switches
    ]
    return plan.Capture(
        folder=str(capture.folder),
        interfaces=tuple(reference(network, end) for end in wanted),
        snap_length=capture.snap_length_bytes,
    )


def _events(scenario: Scenario, network: Network, sent: Sequence[Flow]) -> Iterable[plan.Event]:
    if not scenario.events:
        return
    links = {
        name: LinkState.initial(link, scenario.folder) for name, link in scenario.links.items()
    }
    for event in sorted(scenario.events, key=lambda event: event.at):
        if event.link is not None and event.change is not None:
            links[event.link], changes = compile_change(
                event.change, links[event.link], scenario.folder
            )
        else:
            changes = [LinkChange(up=event.up)]
        label = event_words(event)
        for action in _actions(scenario, network, event, changes, sent):
            yield plan.Event(at_ns=event.at, action=action, label=label)


def _actions(
    scenario: Scenario,
    network: Network,
    event: Event,
    changes: list[LinkChange],
    sent: Sequence[Flow],
) -> Iterable[plan.Action]:
    """Actions of an event; `changes` are those of its link."""
    name = event.link or event.carrier
    if name is not None:
        carrier = event.up if event.carrier is not None else None
        index = list(scenario.links).index(name)
        for change in changes:
            yield plan.LinkAction(link=index, change=change, carrier=carrier)
    elif event.interface is not None:
        interface = reference(network, End.parse(event.interface))
        if event.backup is not None:
            yield plan.BackupAction(interface=interface, backup=event.backup)
        elif event.up is not None:
            yield plan.InterfaceAction(interface=interface, up=event.up)
    elif event.subflow is not None:
        yield from compile_subflow(network, event.subflow, event.up is True, sent)
