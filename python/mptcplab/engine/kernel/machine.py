"""Parts of this machine that the kernel engine needs: asked for, not inferred from versions."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from functools import cache

from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.failure import NotGrantedError
from mptcplab.engine.kernel.sysctl import read_sysctl

_OPEN_VSWITCH = ("ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-vswitchd")

INSTALL_OPEN_VSWITCH = "install it: the package openvswitch-switch"


@cache
def open_vswitch_missing() -> str | None:
    """The programs of Open vSwitch that are not there, null where all are."""
    # As the lab process looks for them: ordinary users may lack the folders of system programs.
    folders = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    absent = [one for one in _OPEN_VSWITCH if shutil.which(one, path=folders) is None]
    return ", ".join(absent) or None


def has_mptcp() -> bool:
    """Whether the kernel has MPTCP."""
    return read_sysctl("net.mptcp.enabled") is not None


def schedulers() -> list[str]:
    """The kernel's MPTCP schedulers."""
    listed = read_sysctl("net.mptcp.available_schedulers") or read_sysctl("net.mptcp.scheduler")
    return (listed or "default").split()


@cache
def has_congestion_control(name: str) -> bool:
    """Whether a socket may have it; asking makes the kernel load its module where it may."""
    with socket.socket() as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            # EPERM: the kernel has it, and allows it to root of a namespace.
            return error.errno != errno.ENOENT
    return True


@cache
def namespaces_refused() -> str | None:
    """Why no lab can be built here, null where one can: two hosts and two links are built.

    Raises:
        NotGrantedError: a limit of the caller's is in the way, not what this machine is.

    """
    from mptcplab.engine.kernel.lab import Lab
    from mptcplab.engine.self_test import self_test

    lab = Lab(self_test())
    try:
        next(lab.rows())
    except NotGrantedError:
        raise
    except EngineError as error:
        return str(error)
    finally:
        lab.end()
    return None
