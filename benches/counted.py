"""Runs the plan on standard input and tells, in seconds, how long its network came and went.

The kernel drops network namespaces after the process that held them has ended. To see when, this
process counts them: it makes a user namespace, runs the lab inside, and afterwards sets the limit
of network namespaces there to one. A new one is allowed as soon as none of the lab's is left.

Only a process with one thread may make a user namespace: what starts threads is imported after it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from pathlib import Path

_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWNET = 0x4000_0000
_LIMIT = Path("/proc/sys/user/max_net_namespaces")
_LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Prints a JSON object of spans in seconds."""
    described = json.load(sys.stdin)
    uid, gid = os.getuid(), os.getgid()
    _unshare(_CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    from mptcplab.engine.kernel.lab import Lab
    from mptcplab.plan import Plan

    plan = Plan.model_validate(described)
    begun = time.perf_counter()
    lab = Lab(plan)
    rows = {row["record"]: row for row in lab.rows()}
    os.waitid(os.P_PID, lab.pid, os.WEXITED | os.WNOWAIT)
    ended = time.perf_counter()
    _LIMIT.write_text("1")
    while not _may_have_one():
        time.sleep(0.001)
    gone = time.perf_counter()
    lab.end()
    spans = {
        "setup_s": rows["ready"]["setup_ns"] / 1e9,
        "teardown_s": rows["done"]["teardown_ns"] / 1e9,
        "process_s": ended - begun,
        "gone_s": gone - ended,
        "total_s": gone - begun,
    }
    print(json.dumps(spans))


def _may_have_one() -> bool:
    try:
        _unshare(_CLONE_NEWNET)
    except OSError:
        return False
    return True


def _unshare(flags: int) -> None:
    if _LIBC.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
