"""OpenFlow switches, and the controller that tells them where packets go."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from mptcplab.policy.source import FORM, PolicyError, PolicyName
from mptcplab.scenario.fields import RATE_SCHEMA, TIME_SCHEMA, Model, RefusalError, TimeNs
from mptcplab.scenario.link import RateLimit
from mptcplab.scenario.problem import did_you_mean, quoted
from mptcplab.scenario.traffic import COMMAND_LINE_SCHEMA, CommandLine

POLICIES = ("shortest", "disjoint", "mpsshetn", "ecmp", "least-used", "earliest-completion")
"""Those of `crates/lab/controller`."""
FALLS_BACK = "earliest-completion"
"""The policy that may choose TCP in place of MPTCP."""


class Switch(Model):
    """An OpenFlow 1.3 switch; its ports follow from the links that name it, numbered from 1."""

    kind: Literal["mptcplab", "openvswitch"] = Field(
        "mptcplab", description="This project's, or a bridge of Open vSwitch (kernel engine)"
    )


PROGRAM = "controller"
"""The flow, node and side of a controller's program in recordings."""
_LEAST_LINK_PROBE_NS = 500_000_000
_MOST_LINK_PROBE_NS = 60_000_000_000
_KINDS = ("policy", "command", "address")
_ADDRESS = "tcp:127.0.0.1:6653 or tcp:[::1]:6653"


def parse_address(text: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """Host and port of `tcp:127.0.0.1:6653`; a ValueError says what is wrong."""
    protocol, _, place = text.partition(":")
    host, _, port = place.rpartition(":")
    if protocol in ("ssl", "tls"):
        raise ValueError(f"the lab speaks plain TCP with a controller: write {_ADDRESS}")
    if protocol != "tcp" or not host or not port.isascii() or not port.isdecimal():
        raise ValueError(f"write it like {_ADDRESS}")
    if not 0 < int(port) < 1 << 16:
        raise ValueError(f"{quoted(port)} is no port: there are 1 to 65535")
    if "%" in host:
        raise ValueError(f"{quoted(host)} names an interface: give an address that needs none")
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        raise ValueError(f"{quoted(host)} is no IP address: write it like {_ADDRESS}") from None
    return address, int(port)


def _check_address(text: str) -> str:
    parse_address(text)
    return text


def check_link_probe(interval_ns: int) -> int:
    """The time as it is; a ValueError where frames of discovery cannot be so far apart."""
    if not _LEAST_LINK_PROBE_NS <= interval_ns <= _MOST_LINK_PROBE_NS:
        raise ValueError("frames by which links are found are 500 ms to 60 s apart")
    return interval_ns


def no_such_policy(name: str) -> str:
    """The message about the name of a policy that there is not."""
    hint = did_you_mean(name, POLICIES)
    return f"there is no such policy: {hint} (in Python: FILE.py:FUNCTION)"


def check_policy(name: str) -> str:
    """The name of a policy as it is; a ValueError says what is wrong with it."""
    try:
        if name in POLICIES or PolicyName.parse(name) is not None:
            return name
    except PolicyError as error:
        raise ValueError(str(error)) from None
    raise ValueError(no_such_policy(name))


class Controller(Model):
    """The controller of all switches, and the channels to them.

    It is this project's, with a policy, or another one, by its command or its address.
    """

    policy: Annotated[StrictStr, AfterValidator(check_policy)] | None = Field(
        None, description="Which path each subflow takes: a name, or FILE.py:FUNCTION"
    )
    command: CommandLine | None = Field(
        None, description="Program of another controller, which listens on TCP port 6653"
    )
    address: Annotated[StrictStr, AfterValidator(_check_address)] | None = Field(
        None, description="Where another controller listens already: tcp:HOST:PORT"
    )
    discovery: TimeNs = Field(
        1_000_000_000,
        description="Time that another controller has to find the network before the run",
    )
    link_probe: Annotated[TimeNs, AfterValidator(check_link_probe)] = Field(
        1_000_000_000,
        description="Time between two frames by which a policy's controller finds and misses links",
    )
    delay: TimeNs = Field(0, description="One way of the channel between a switch and it")
    rate: RateLimit = Field("unlimited", description="Of each such channel, each way")
    sizes: Literal["told", "learned", "unknown"] = Field(
        "told",
        description="Whether it is told what each server sends, or learns it from finished flows",
    )
    tcp_fallback: StrictBool = Field(
        False,
        description="Whether earliest-completion may take MPTCP from a connection for which TCP is "
        "faster: its SYN goes on without MP_CAPABLE",
    )

    @property
    def policy_file(self) -> PolicyName | None:
        """The file and the function of a policy in Python."""
        return None if self.policy is None else PolicyName.parse(self.policy)

    @model_validator(mode="after")
    def _one_kind(self) -> Controller:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError("a controller has exactly one of policy, command and address")
        if self.policy is None and "sizes" in self.model_fields_set:
            raise RefusalError("sizes", "is of a policy: another controller asks for no sizes")
        if self.policy is None and "link_probe" in self.model_fields_set:
            raise RefusalError("link_probe", "is of a policy: another controller has its own")
        if self.tcp_fallback and self.policy != FALLS_BACK:
            raise RefusalError("tcp_fallback", f"is of the policy {FALLS_BACK} alone")
        if self.tcp_fallback and self.sizes != "told":
            raise RefusalError("tcp_fallback", "needs sizes that are told: what is learned may err")
        if self.policy is not None and "discovery" in self.model_fields_set:
            text = (
                "is of another controller: with a policy, the run waits until it knows the network"
            )
            raise RefusalError("discovery", text)
        return self


def _parse_controller(value: object) -> object:
    return {"policy": check_policy(value)} if isinstance(value, str) else value


def _schema() -> dict[str, Any]:
    of_file = {"type": "string", "pattern": FORM, "description": "FILE.py:FUNCTION"}
    policy = {"anyOf": [{"enum": list(POLICIES)}, of_file]}
    return {
        "anyOf": [
            policy,
            {
                "type": "object",
                "properties": {
                    "policy": policy,
                    "command": COMMAND_LINE_SCHEMA,
                    "address": {
                        "type": "string",
                        "pattern": "^tcp:.+:[0-9]+$",
                        "description": "tcp:HOST:PORT",
                    },
                    "discovery": TIME_SCHEMA,
                    "link_probe": TIME_SCHEMA,
                    "delay": TIME_SCHEMA,
                    "rate": {"anyOf": [RATE_SCHEMA, {"const": "unlimited"}]},
                    "sizes": {"enum": ["told", "learned", "unknown"]},
                    "tcp_fallback": {"type": "boolean"},
                },
                "oneOf": [{"required": [kind]} for kind in _KINDS],
                "additionalProperties": False,
            },
        ],
        "description": "The controller of the switches, or its policy alone",
    }


ControllerField = Annotated[
    Controller, BeforeValidator(_parse_controller), WithJsonSchema(_schema())
]
