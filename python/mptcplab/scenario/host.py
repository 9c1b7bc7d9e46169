"""Hosts and routers: interfaces, MPTCP settings, sysctls."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, WithJsonSchema, model_validator

from mptcplab.scenario.algorithm import CONTROLS_FILE, algorithm_name, name_schema
from mptcplab.scenario.fields import (
    Empty,
    InterfaceAddress,
    InterfaceName,
    Model,
    PositiveTimeNs,
    RefusalError,
    SizeBytes,
    TimeNs,
)
from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.scheduler import SchedulerField

PATH_MANAGERS = ("default", "fullmesh", "signal", "subflow-signal", "application")
"""Those without a number; `ndiffports` has one."""
CONGESTION_CONTROLS = (
    "cubic", "reno", "bbr", "vegas", "westwood", "illinois", "htcp", "bic", "veno", "yeah", "dctcp",
    "hybla", "scalable", "highspeed", "nv", "cdg", "lp", "lia", "olia", "balia", "wvegas",
)  # fmt: skip
"""Names that the format knows; an engine refuses those that it does not have."""

FEWEST_SUBFLOWS_PER_PAIR, MOST_SUBFLOWS_PER_PAIR = 2, 8
_SMALLEST_MTU_BYTES = {4: 576, 6: 1280}
_FAMILIES: dict[str, tuple[int, ...]] = {"ipv4": (4,), "ipv6": (6,), "both": (4, 6)}
_SYSCTL = re.compile(r"net\.[a-z0-9_]+(\.[A-Za-z0-9_-]+)+")


class Interface(Model):
    """One end of a link."""

    family: Literal["ipv4", "ipv6", "both"] | None = Field(
        None, description="Addresses to assign; ipv4 unless given"
    )
    addresses: list[InterfaceAddress] = Field(
        [], description="Addresses with prefix length; assigned where not given"
    )
    address_delay: TimeNs = Field(
        0, description="From coming up to usable addresses: association, authentication"
    )
    backup: StrictBool = Field(False, description="Its subflows are backups")
    mtu: SizeBytes = Field(1500, ge=576, le=65535, description="Largest IP packet")

    @model_validator(mode="after")
    def _consistent(self) -> Interface:
        for address in self.addresses:
            if address.version not in self.families:
                raise RefusalError("family", f"is {self.family}, but {address} is not: write both")
        if 6 in self.families and self.mtu < _SMALLEST_MTU_BYTES[6]:
            raise RefusalError("mtu", "IPv6 needs at least 1280 B (RFC 8200, section 5)")
        return self

    @property
    def families(self) -> tuple[int, ...]:
        """IP versions of its addresses, given or to be assigned."""
        if self.family is not None:
            return _FAMILIES[self.family]
        return tuple(sorted({address.version for address in self.addresses})) or _FAMILIES["ipv4"]


class PathManager(Model):
    """The path manager of a host: whether it opens subflows, and from where."""

    kind: Literal["default", "fullmesh", "signal", "subflow-signal", "application", "ndiffports"]
    subflows_per_pair: int = 1


def _parse_path_manager(value: object) -> object:
    names = (*PATH_MANAGERS, "ndiffports")
    if isinstance(value, str):
        if value == "ndiffports":
            raise ValueError("needs a number: write `path_manager: {ndiffports: 3}`")
        if value not in PATH_MANAGERS:
            raise ValueError(f"unknown path manager: {did_you_mean(value, names)}")
        return PathManager(kind=value)  # type: ignore[arg-type]
    if isinstance(value, dict) and list(value) == ["ndiffports"]:
        number = value["ndiffports"]
        if type(number) is not int:
            raise ValueError("ndiffports is a whole number of subflows, such as 3")
        if not FEWEST_SUBFLOWS_PER_PAIR <= number <= MOST_SUBFLOWS_PER_PAIR:
            raise ValueError(
                f"ndiffports is from {FEWEST_SUBFLOWS_PER_PAIR} to {MOST_SUBFLOWS_PER_PAIR}"
            )
        return PathManager(kind="ndiffports", subflows_per_pair=number)
    raise ValueError(f"write one of {', '.join(PATH_MANAGERS)} or {{ndiffports: 3}}")


PathManagerField = Annotated[
    PathManager,
    BeforeValidator(_parse_path_manager),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(PATH_MANAGERS)},
                {
                    "type": "object",
                    "properties": {
                        "ndiffports": {
                            "type": "integer",
                            "minimum": FEWEST_SUBFLOWS_PER_PAIR,
                            "maximum": MOST_SUBFLOWS_PER_PAIR,
                        }
                    },
                    "required": ["ndiffports"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


class Limits(Model):
    """Limits of the kernel's path manager for each connection."""

    subflows: int = Field(8, ge=0, le=8, description="Additional subflows")
    add_addr_accepted: int | None = Field(
        None,
        ge=0,
        le=8,
        description="Announced addresses to use; 8, or 0 with `default` and `application`",
    )


class Mptcp(Model):
    """MPTCP settings of a host."""

    enabled: StrictBool = True
    path_manager: PathManagerField | None = Field(
        None, description="fullmesh for clients of traffic and signal for servers unless given"
    )
    limits: Limits = Limits()
    checksum: StrictBool = Field(False, description="Checksum of the data (RFC 8684, section 3.3)")
    syn_retries: int | None = Field(
        None, ge=0, le=128, description="SYNs with MP_CAPABLE before falling back to TCP"
    )
    scheduler: SchedulerField | None = Field(
        None, description="The engine refuses one that it does not have"
    )


_MANAGED_SYSCTLS = {
    "net.mptcp.": "is set through the host's `mptcp` key",
    "net.ipv4.tcp_congestion_control": "is set through the host's `congestion_control` key",
    "net.ipv4.ip_forward": "follows from being a host or a router",
    "net.ipv6.conf.all.forwarding": "follows from being a host or a router",
}


def _parse_sysctls(value: object) -> object:
    if not isinstance(value, dict):
        return value
    texts = {}
    for name, setting in value.items():
        if _SYSCTL.fullmatch(name) is None:
            raise ValueError(
                f"{name} is no sysctl of a network namespace, such as net.ipv4.tcp_rmem"
            )
        for start, reason in _MANAGED_SYSCTLS.items():
            if name.startswith(start):
                raise ValueError(f"{name} {reason}")
        if isinstance(setting, bool) or not isinstance(setting, str | int):
            raise ValueError(f"{name} needs a number or text")
        texts[name] = str(setting)
        if "\n" in texts[name]:
            raise ValueError(f"{name} must be on one line")
    return texts


Sysctls = Annotated[dict[str, StrictStr], BeforeValidator(_parse_sysctls)]


class HostSettings(Model):
    """How a machine with applications behaves."""

    mptcp: Mptcp = Mptcp()
    congestion_control: Annotated[
        str,
        BeforeValidator(algorithm_name(CONGESTION_CONTROLS, CONTROLS_FILE)),
        WithJsonSchema(name_schema(CONGESTION_CONTROLS)),
    ] = "cubic"
    clock_granularity: PositiveTimeNs = Field(
        1, le=10**9, description="Its stack's clock shows multiples of this; sim engine only"
    )
    pacing: StrictBool = Field(
        False, description="Spread segments over the round trip; sim engine only"
    )
    sysctls: Sysctls = Field({}, description="Other settings of its network namespace")


class Host(HostSettings):
    """A machine with applications."""

    interfaces: dict[InterfaceName, Annotated[Interface, Empty()]] = Field(min_length=1)


class Router(Model):
    """A machine that forwards packets."""

    interfaces: dict[InterfaceName, Annotated[Interface, Empty()]] = Field(
        {}, description="Those with settings; others come from the links that name them"
    )
    ecmp: StrictBool = Field(
        False, description="Use all equally short ways, a connection each by its flow hash"
    )
    sysctls: Sysctls = Field({}, description="Settings of its network namespace")
