"""Abilities of this machine for the kernel engine, found by trying them out.

Nothing here looks at version numbers: a small experiment runs for real, and the kernel's own lists
are read.
"""

from __future__ import annotations

import os
import platform
import sys

from mptcplab.engine.finding import Finding, Verdict
from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.coupled import COUPLED, load_refused
from mptcplab.engine.kernel.lab import Lab
from mptcplab.engine.kernel.machine import (
    INSTALL_OPEN_VSWITCH,
    has_mptcp,
    open_vswitch_missing,
    schedulers,
)
from mptcplab.engine.kernel.sysctl import read_sysctl
from mptcplab.engine.recorder import Row
from mptcplab.engine.self_test import bridge_test, self_test
from mptcplab.plan.traffic import CommandWorkload, Traffic

_SOCKET_PROTOCOL = 38
"""SO_PROTOCOL."""
_IPPROTO_MPTCP = "262"
_ASK_PROTOCOL = f"import socket; print(socket.socket().getsockopt(1, {_SOCKET_PROTOCOL}))"


def examine() -> list[Finding]:
    """Tries out everything; takes about a second."""
    findings = [_machine(), *_kernel_lists(), _coupled()]
    try:
        rows = _trial("two-paths")
    except EngineError as error:
        return [*findings, Finding("namespaces and links", Verdict.BAD, str(error))]
    findings += [_network(rows), _priority(rows), _multipath(rows), _commands(rows)]
    findings.append(_open_vswitch())
    try:
        findings.append(_ndiffports(_trial("one-path")))
    except EngineError as error:
        findings.append(Finding("path manager ndiffports", Verdict.LIMITED, str(error)))
    return findings


def _trial(variant: str) -> list[Row]:
    plan = self_test(variant)
    if variant == "two-paths":
        plan = plan.model_copy(update={"traffic": (*plan.traffic, _command(plan.traffic[0]))})
    lab = Lab(plan)
    try:
        return list(lab.rows())
    finally:
        lab.end()


def _command(item: Traffic) -> Traffic:
    """A program that asks for TCP and tells what it got."""
    argv = (sys.executable, "-c", _ASK_PROTOCOL)
    changes = {
        "name": "command",
        "port": item.port + 1,
        "expected_joins": 0,
        "workload": CommandWorkload(argv=argv, server_argv=None, duration_ns=None),
    }
    return item.model_copy(update=changes)


def _machine() -> Finding:
    cores = os.cpu_count() or 1
    detail = f"Linux {platform.release()}, {platform.machine()}, {cores} cores"
    if cores < 2:
        return Finding(
            "machine",
            Verdict.LIMITED,
            detail,
            "with one core the links and the hosts compete for it: keep the rates low",
        )
    return Finding("machine", Verdict.GOOD, detail)


def _kernel_lists() -> list[Finding]:
    if not has_mptcp():
        mptcp = Finding(
            "MPTCP",
            Verdict.LIMITED,
            "this kernel has none",
            "run a kernel with CONFIG_MPTCP; TCP variants run here",
        )
    else:
        mptcp = Finding("MPTCP", Verdict.GOOD, f"schedulers: {' '.join(schedulers())}")
    controls = read_sysctl("net.ipv4.tcp_available_congestion_control") or ""
    return [mptcp, Finding("congestion controls", Verdict.GOOD, controls)]


def _coupled() -> Finding:
    name = "coupled congestion control by BPF"
    try:
        refused = {control: load_refused(control) for control in COUPLED}
    except EngineError as error:
        return Finding(name, Verdict.LIMITED, str(error))
    reasons = list(dict.fromkeys(reason for reason in refused.values() if reason))
    if not reasons:
        return Finding(name, Verdict.GOOD, " ".join(COUPLED))
    detail, _, hint = reasons[0].rpartition(": ")
    return Finding(name, Verdict.LIMITED, detail or hint, hint if detail else "")


def _network(rows: list[Row]) -> Finding:
    setup_ms = _one(rows, "ready")["setup_ns"] / 1e6
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    detail = f"work for {who}; two hosts and two links stood after {setup_ms:.0f} ms"
    return Finding("namespaces and links", Verdict.GOOD, detail)


def _priority(rows: list[Row]) -> Finding:
    done = _one(rows, "done")
    late = f"99 % of packets left within {done['lateness_p99_ns'] / 1000:.0f} µs of their time"
    if done["realtime"]:
        return Finding("real-time priority of the links", Verdict.GOOD, late)
    return Finding(
        "real-time priority of the links",
        Verdict.LIMITED,
        f"not granted; {late}",
        "run as root, or allow `rtprio 1` in /etc/security/limits.conf, for exact delays on a "
        "busy machine",
    )


def _multipath(rows: list[Row]) -> Finding:
    transfer = _one(rows, "transfers")
    if transfer["error"]:
        return Finding("MPTCP over two paths", Verdict.LIMITED, transfer["error"])
    if not transfer["joins"]:
        reasons = [row["text"] for row in rows if row["record"] == "warning"]
        return Finding("MPTCP over two paths", Verdict.LIMITED, "; ".join(reasons) or "no join")
    return Finding("MPTCP over two paths", Verdict.GOOD, "a second subflow joined")


def _commands(rows: list[Row]) -> Finding:
    said = [row["text"] for row in rows if row["record"] == "outputs"]
    if said[:1] == [_IPPROTO_MPTCP]:
        return Finding("programs over MPTCP", Verdict.GOOD, "their sockets are made MPTCP sockets")
    return Finding(
        "programs over MPTCP",
        Verdict.LIMITED,
        "; ".join(said) or "a program got no MPTCP socket",
        "a kernel with seccomp user notification (CONFIG_SECCOMP_FILTER, Linux 5.14) is needed",
    )


def _open_vswitch() -> Finding:
    """A bridge between two hosts, with this project's controller."""
    name = "Open vSwitch"
    absent = open_vswitch_missing()
    if absent is not None:
        return Finding(name, Verdict.LIMITED, f"there is no {absent}", INSTALL_OPEN_VSWITCH)
    lab = Lab(bridge_test())
    try:
        (transfer,) = [row for row in lab.rows() if row["record"] == "transfers"]
    except EngineError as error:
        return Finding(name, Verdict.LIMITED, str(error))
    finally:
        lab.end()
    if transfer["error"]:
        return Finding(name, Verdict.LIMITED, transfer["error"])
    return Finding(name, Verdict.GOOD, "its bridges work as switches")


def _ndiffports(rows: list[Row]) -> Finding:
    joins = _one(rows, "transfers")["joins"]
    if joins == 2:
        return Finding("path manager ndiffports", Verdict.GOOD, "3 subflows on one address pair")
    return Finding(
        "path manager ndiffports",
        Verdict.LIMITED,
        f"{joins or 'none'} of 2 additional subflows joined",
        "needs the userspace path manager (Linux 5.19)",
    )


def _one(rows: list[Row], record: str) -> Row:
    return next(row for row in rows if row["record"] == record)
