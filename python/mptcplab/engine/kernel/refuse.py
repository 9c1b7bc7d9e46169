"""Refusals of the kernel engine: for what no kernel has, and for what this machine lacks."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.engine.kernel.coupled import COUPLED, load_refused
from mptcplab.engine.kernel.machine import (
    INSTALL_OPEN_VSWITCH,
    has_congestion_control,
    has_mptcp,
    namespaces_refused,
    open_vswitch_missing,
    schedulers,
)
from mptcplab.engine.kernel.sysctl import read_sysctl
from mptcplab.engine.refusal import Refusal
from mptcplab.scenario.flows import flows
from mptcplab.scenario.host import CONGESTION_CONTROLS, Mptcp
from mptcplab.scenario.link import Link
from mptcplab.scenario.middlebox import OneWay
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.path_manager import path_manager
from mptcplab.scenario.problem import near
from mptcplab.scenario.scheduler import SCHEDULERS
from mptcplab.scenario.tree import Path

_FLOW_SEED = "net.ipv4.fib_multipath_hash_seed"
"""The key of a namespace's hash of flows, since Linux 6.11."""
_LOAD = "Or load it into the kernel: as a module, or by BPF (`mptcplab cc load FILE`)"


def unsupported(scenario: Scenario) -> Iterator[Refusal]:
    """Settings that this engine can honour on no machine; `scenario` is as a variant makes it."""
    for name, link in scenario.links.items():
        for index, middlebox in enumerate(link.middleboxes):
            box = middlebox.coalesce
            if box is not None and _leads_to_router(scenario, link, box):
                path: Path = ("links", name, "middleboxes", index)
                reason = "the kernel engine joins segments in front of hosts only, as the kernel of"
                yield Refusal(f"{reason} a router cuts them again", path, scenario)
    every = [flow for variant in scenario.variants.values() for flow in flows(scenario, variant)]
    ftp = {flow.name for flow in every if flow.kind == "ftp"}
    for index, event in enumerate(scenario.events):
        if event.subflow is not None and event.subflow.of in ftp:
            path = ("events", index, "subflow")
            reason = "the kernel engine's FTP is a program that opens no subflows itself"
            yield Refusal(reason, path, scenario)
        elif event.subflow is not None:
            client = event.subflow.source.partition(".")[0]
            if path_manager(scenario, client).kind != "application":
                path = ("hosts", client)
                reason = "the kernel leaves subflows to applications with the path manager"
                yield Refusal(f"{reason} `application` only", path, scenario)
    for name, host in scenario.hosts.items():
        if host.mptcp.scheduler is not None and host.mptcp.scheduler.has_options:
            path = ("hosts", name, "mptcp", "scheduler")
            yield Refusal("the kernel's schedulers have no options", path, scenario)
        if host.clock_granularity > 1:
            path = ("hosts", name, "clock_granularity")
            yield Refusal("the kernel engine has the machine's clock", path, scenario)
        if host.pacing:
            path = ("hosts", name, "pacing")
            yield Refusal("the kernel engine paces as the congestion control asks", path, scenario)


def _leads_to_router(scenario: Scenario, link: Link, box: OneWay) -> bool:
    """Whether what leaves a box of this link may come to a router."""
    ends = {"up": link.between[1:], "down": link.between[:1], None: link.between}
    return any(end.partition(".")[0] in scenario.routers for end in ends[box.direction])


def unsupported_here(scenario: Scenario, variant: str) -> Iterator[Refusal]:
    """Settings for which this machine lacks something, found by trying.

    `scenario` is as `variant` makes it.
    """
    refused = namespaces_refused()
    if refused is not None:
        reason, _, advice = refused.partition(". ")
        yield Refusal(reason, advice=advice)
        return
    if _speaks_mptcp(scenario, variant) and not has_mptcp():
        yield Refusal("this kernel has no MPTCP")
    for name, router in scenario.routers.items():
        if router.ecmp and read_sysctl(_FLOW_SEED) is None:
            reason = f"this kernel's routers would divide flows all alike (it lacks {_FLOW_SEED})"
            yield Refusal(reason, ("routers", name, "ecmp"), scenario)
    absent = open_vswitch_missing()
    for name, switch in scenario.switches.items():
        if switch.kind == "openvswitch" and absent is not None:
            reason = f"Open vSwitch is not installed here (there is no {absent})"
            path: Path = ("switches", name, "kind")
            yield Refusal(reason, path, scenario, f"Or {INSTALL_OPEN_VSWITCH}")
    yield from missing(scenario)


def missing(scenario: Scenario) -> Iterator[Refusal]:
    """The schedulers and congestion controls that this machine's kernel lacks."""
    for name, host in scenario.hosts.items():
        yield from _scheduler(scenario, name, host.mptcp)
        yield from _congestion_control(scenario, name, host.congestion_control)


def _scheduler(scenario: Scenario, host: str, mptcp: Mptcp) -> Iterator[Refusal]:
    scheduler = mptcp.scheduler
    if scheduler is None or not has_mptcp() or scheduler.name in schedulers():
        return
    known = " ".join(schedulers())
    reason = f"this kernel has no MPTCP scheduler {scheduler.name} (it has: {known})"
    advice = ""
    if scheduler.name not in SCHEDULERS:
        advice = _advice(scheduler.name, [*SCHEDULERS, *schedulers()])
    yield Refusal(reason, ("hosts", host, "mptcp", "scheduler"), scenario, advice)


def _congestion_control(scenario: Scenario, host: str, control: str) -> Iterator[Refusal]:
    if has_congestion_control(control):
        return
    reason = f"this kernel has no congestion control {control} (it has: {_known()})"
    advice = ""
    if control in COUPLED:
        refused = load_refused(control)
        if refused is None:
            return
        reason += f", and it cannot be loaded: {refused}"
    elif control in CONGESTION_CONTROLS:
        advice = _LOAD
    else:
        advice = _advice(control, [*CONGESTION_CONTROLS, *_known().split()])
    yield Refusal(reason, ("hosts", host, "congestion_control"), scenario, advice)


def _advice(name: str, known: list[str]) -> str:
    """A hint about a name that this project does not know."""
    meant = near(name, known)
    return _LOAD if meant is None else f'Did you mean "{meant}"? {_LOAD}'


def _known() -> str:
    return read_sysctl("net.ipv4.tcp_available_congestion_control") or "none"


def _speaks_mptcp(scenario: Scenario, variant: str) -> bool:
    protocol = scenario.variants[variant].protocol
    return any((item.body.protocol or protocol) == "mptcp" for item in scenario.traffic)
