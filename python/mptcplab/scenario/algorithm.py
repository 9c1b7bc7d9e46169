"""Names of congestion controls and MPTCP schedulers, also of those that only some kernel has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mptcplab.scenario.problem import near

LONGEST_NAME = 15
"""TCP_CA_NAME_MAX and MPTCP_SCHED_NAME_MAX of Linux without the terminating zero."""
CONTROLS_FILE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SCHEDULERS_FILE = Path("/proc/sys/net/mptcp/available_schedulers")
_NEARLY = 0.75
"""From here on a name is taken for a known one with a mistake: one letter of four."""
_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


def algorithm_name(known: Sequence[str], offers: Path) -> Callable[[object], object]:
    """A validator of names: of those that the format knows, and of any that a kernel may have.

    A name that is nearly a known one is taken for a mistake, unless it contains that one (`bbr3`),
    or the running kernel has it. The file `offers` is the kernel's list.
    """

    def check(value: object) -> object:
        if not isinstance(value, str) or value in known:
            return value
        if len(value) > LONGEST_NAME:
            raise ValueError(f"a name has at most {LONGEST_NAME} characters in Linux")
        if _FORM.fullmatch(value) is None:
            raise ValueError(
                "a name has letters, digits and _ . + - only and starts with a letter or digit"
            )
        meant = near(value, known, _NEARLY)
        if meant and meant not in value.lower() and value not in _listed(offers):
            raise ValueError(f'did you mean "{meant}"?')
        return value

    return check


def name_schema(known: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a name: the known ones are what an editor offers."""
    own = {"type": "string", "pattern": f"^{_FORM.pattern}$", "maxLength": LONGEST_NAME}
    return {"anyOf": [{"enum": list(known)}, own]}


def _listed(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
