"""Field types of the scenario: quantities with units, names, addresses, one-or-many lists."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictStr,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, core_schema

from mptcplab.scenario.problem import quoted
from mptcplab.scenario.units import (
    TIME,
    TooLargeError,
    UnitError,
    format_rate,
    parse_probability,
    parse_rate,
    parse_size,
    parse_time,
)

LONGEST_INTERFACE_NAME_BYTES = 15
"""IFNAMSIZ of Linux without the terminating zero."""
LONGEST_NS = 7 * 24 * 3600 * 10**9
"""No time of a scenario and no run is longer, so that sums stay far from 64 bits."""
LARGEST_RATE_BPS = 1_000 * 10**9
"""No rate of a scenario is larger. A packet of 1500 bytes then takes 12 ns, which a clock of 1 ns
still resolves; a second of TCP takes the simulator most of a minute, and ten times the rate ten
times as long. The fastest Ethernet of IEEE 802.3 has 800 Gbit/s."""
_LONGEST_NAME = 40
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def _add_older_keys(made: dict[str, Any], model: type[BaseModel]) -> None:
    """Adds to a model's JSON Schema the keys that were replaced and go on being read."""
    for info in model.model_fields.values():
        if isinstance(info.validation_alias, AliasChoices):
            key, older = info.validation_alias.choices
            own = {"type", "enum"} & made["properties"][key].keys()
            same = {part: made["properties"][key][part] for part in sorted(own)}
            made["properties"][older] = {
                "deprecated": True,
                "description": f"The same as {key}",
                **same,
            }
            made["not"] = {"required": [key, older]}


class Model(BaseModel):
    """Base of every part of a scenario: immutable, no unknown keys, filled by the file's keys."""

    # A validator is built for what is read as a whole only; those of its parts are parts of that.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        defer_build=True,
        json_schema_extra=_add_older_keys,
    )


class RefusalError(PydanticCustomError):
    """A problem of one key of a model, raised by a validator of the model."""

    def __new__(cls, key: str, text: str) -> RefusalError:
        """The key, empty for the model as a whole, and what is wrong with it."""
        # The template language of pydantic must not see braces of user text.
        return super().__new__(cls, "refused", "{text}", {"key": key, "text": text})


def _above_zero(value: int) -> int:
    if value == 0:
        raise ValueError("must be above 0")
    return value


def _time(value: object, usual: str = TIME.usual) -> int:
    time_ns = parse_time(value, usual=usual)
    if time_ns > LONGEST_NS:
        raise ValueError("nothing lasts longer than a week (10080 min)")
    return time_ns


def _course(value: object) -> int:
    """A time in the course of a run, which takes seconds, where those of links are below one."""
    return _time(value, "s")


def parse_rate_bps(value: object) -> int:
    """Bits a second of `48 Mbit/s`, not more than the largest rate of a scenario."""
    words = f"the largest rate is {format_rate(LARGEST_RATE_BPS)}"
    try:
        rate = parse_rate(value)
    except TooLargeError:
        raise UnitError(words) from None
    if rate > LARGEST_RATE_BPS:
        raise UnitError(words)
    return rate


def _parsed(parse: Any, schema: dict[str, Any], *, positive: bool = False) -> Any:
    def validate(value: object) -> Any:
        return _above_zero(parse(value)) if positive else parse(value)

    return BeforeValidator(validate), WithJsonSchema(schema)


TIME_SCHEMA = {
    "type": "string",
    "pattern": "^\\s*[+]?[0-9.eE+-]+\\s*(ns|us|\u00b5s|\u03bcs|ms|s|min)\\s*$",
    "description": "a time, such as 10 ms",
}
_SIZE_SCHEMA = {
    "type": "string",
    "pattern": r"^\s*[+]?[0-9.eE+-]+\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$",
    "description": "a size, such as 500 kB",
}
RATE_SCHEMA = {
    "type": "string",
    "pattern": r"^\s*[+]?[0-9.eE+-]+\s*[kMG]?bit/s\s*$",
    "description": "a rate, such as 48 Mbit/s; at most 1000 Gbit/s",
}
PROBABILITY_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^\s*[+]?[0-9.eE+-]+\s*%\s*$"},
        {"type": "number", "minimum": 0, "maximum": 1},
    ],
    "description": "a percentage, such as 0.1 %, or a fraction of 1",
}

TimeNs = Annotated[int, *_parsed(_time, TIME_SCHEMA)]
PositiveTimeNs = Annotated[int, *_parsed(_time, TIME_SCHEMA, positive=True)]
MomentNs = Annotated[int, *_parsed(_course, TIME_SCHEMA)]
"""Since the start of the run."""
DurationNs = Annotated[int, *_parsed(_course, TIME_SCHEMA, positive=True)]
"""Of traffic."""
RateBps = Annotated[int, *_parsed(parse_rate_bps, RATE_SCHEMA, positive=True)]
SizeBytes = Annotated[int, *_parsed(parse_size, _SIZE_SCHEMA)]
PositiveSizeBytes = Annotated[int, *_parsed(parse_size, _SIZE_SCHEMA, positive=True)]
Probability = Annotated[float, *_parsed(parse_probability, PROBABILITY_SCHEMA)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


def check_name(name: str) -> str:
    """A name of a node, link, variant or flow: it is part of paths and of file names."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            "a name has letters, digits, - and _ only and starts with neither of these"
        )
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a name has at most {_LONGEST_NAME} characters")
    return name


def check_interface_name(name: str) -> str:
    """A name that Linux takes for an interface."""
    if len(name.encode()) > LONGEST_INTERFACE_NAME_BYTES:
        raise ValueError(f"an interface's name has at most {LONGEST_INTERFACE_NAME_BYTES} bytes")
    if name == "lo":
        raise ValueError("lo is the loopback interface, which every node has")
    return check_name(name)


_NAME_SCHEMA = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_-]*$", "maxLength": 40}


def _named(value: object) -> object:
    return check_name(value) if isinstance(value, str) else value


def _interface_named(value: object) -> object:
    return check_interface_name(value) if isinstance(value, str) else value


Name = Annotated[str, BeforeValidator(_named), WithJsonSchema(_NAME_SCHEMA)]
InterfaceName = Annotated[
    str, BeforeValidator(_interface_named), WithJsonSchema(_NAME_SCHEMA | {"maxLength": 15})
]


def _parse_interface_address(value: object) -> object:
    if not isinstance(value, str):
        return value
    address, _, length = value.partition("/")
    try:
        plain = ipaddress.ip_address(address)
    except ValueError:
        raise ValueError('is no address: write it like "10.0.1.2/24" or "fd00:1::2/64"') from None
    if not length:
        usual = 24 if plain.version == 4 else 64
        raise ValueError(f'needs the length of its prefix: did you mean "{value}/{usual}"?')
    try:
        parsed = ipaddress.ip_interface(value)
    except ValueError:
        raise ValueError(f"{quoted(length)} is no prefix length") from None
    net = parsed.network
    if plain.is_multicast or plain.is_loopback or plain.is_unspecified or plain.is_link_local:
        raise ValueError("must be an ordinary unicast address")
    spare = plain.max_prefixlen - net.prefixlen
    if spare >= 2 and (
        plain == net.network_address or (plain.version == 4 and plain == net.broadcast_address)
    ):
        raise ValueError(f"is the network's own address; a host of {net} is another")
    return parsed


InterfaceAddress = Annotated[
    ipaddress.IPv4Interface | ipaddress.IPv6Interface,
    BeforeValidator(_parse_interface_address),
    WithJsonSchema({"type": "string", "description": "address with prefix length"}),
]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


OneOrMore = Annotated[
    list[StrictStr],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]


def _different(names: list[str]) -> list[str]:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{quoted(name)} is given twice")
    return names


DifferentNames = Annotated[OneOrMore, AfterValidator(_different)]


@dataclass(frozen=True, eq=False)
class Short:
    """A mapping that may be written as the value of its one key: `jitter: 1 ms`."""

    key: str
    scalar_schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Wrap what is no mapping before the model sees it."""

        def validate(value: object) -> object:
            return value if isinstance(value, dict) else {self.key: value}

        return core_schema.no_info_before_validator_function(validate, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Allow both forms."""
        return {"anyOf": [dict(self.scalar_schema), handler(schema)]}


@dataclass(frozen=True)
class Empty:
    """A mapping that may be left out after its key: `ap:` means `ap: {}`."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Replace null by an empty mapping."""

        def validate(value: object) -> object:
            return {} if value is None else value

        return core_schema.no_info_before_validator_function(validate, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Allow null."""
        return {"anyOf": [handler(schema), {"type": "null"}]}
