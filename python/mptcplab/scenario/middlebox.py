"""Middleboxes, which stand in a link and do more to packets than a link may."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from mptcplab.scenario.fields import Model, PositiveTimeNs, Probability, RefusalError, SizeBytes
from mptcplab.scenario.problem import did_you_mean

Direction = Literal["up", "down"]
Segments = Literal["syn", "syn-ack", "ack", "data", "all"]

OPTION_KINDS = {
    "mss": 2,
    "window-scale": 3,
    "sack-permitted": 4,
    "sack": 5,
    "timestamps": 8,
    "mptcp": 30,
}
"""TCP options by name (IANA, TCP option kind numbers)."""
MPTCP_SUBTYPES = {
    "mp-capable": 0,
    "mp-join": 1,
    "dss": 2,
    "add-addr": 3,
    "remove-addr": 4,
    "mp-prio": 5,
    "mp-fail": 6,
    "mp-fastclose": 7,
    "mp-tcprst": 8,
}
"""MPTCP options by name (RFC 8684, section 8)."""
_LARGEST_KIND = 255
_NOT_OPTIONS = (0, 1)
"""End of the list, and padding."""
_SMALLEST_SPLIT_BYTES = 64


def _option(value: object) -> object:
    if isinstance(value, str):
        if value in OPTION_KINDS:
            return OPTION_KINDS[value]
        if value in MPTCP_SUBTYPES:
            return value
        raise ValueError(
            f"unknown TCP option: {did_you_mean(value, [*OPTION_KINDS, *MPTCP_SUBTYPES])}"
        )
    if type(value) is int and value not in _NOT_OPTIONS and 0 < value <= _LARGEST_KIND:
        return value
    raise ValueError("a TCP option is a name, such as mptcp or dss, or its kind from 2 to 255")


Option = Annotated[
    int | str,
    BeforeValidator(_option),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": [*OPTION_KINDS, *MPTCP_SUBTYPES]},
                {"type": "integer", "minimum": 2, "maximum": _LARGEST_KIND},
            ]
        }
    ),
]


def _address(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("write an address, such as 10.0.1.9")
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        raise ValueError("is no address: write it like 10.0.1.9") from None


OuterAddress = Annotated[
    ipaddress.IPv4Address | ipaddress.IPv6Address,
    BeforeValidator(_address),
    WithJsonSchema({"type": "string", "description": "address without prefix length"}),
]


class Nat(Model):
    """Translates addresses and ports (RFC 4787)."""

    inside: StrictStr = Field(description="The end of the link behind it, as node.interface")
    address: OuterAddress | None = Field(
        None, description="Its outer address, of the link's network; assigned unless given"
    )


class OneWay(Model):
    """A box that may look at one direction alone."""

    direction: Direction | None = Field(None, description="Both unless given")


class StripOptions(OneWay):
    """Replaces TCP options by padding."""

    options: list[Option] = Field(min_length=1, description="By name or kind")
    on: Segments = Field("all", description="From which segments")

    @model_validator(mode="after")
    def _mptcp_once(self) -> StripOptions:
        if OPTION_KINDS["mptcp"] in self.options and self.subtypes:
            raise RefusalError("options", "mptcp is all of its options: remove the others of it")
        return self

    @property
    def kinds(self) -> list[int]:
        """Kinds to strip."""
        kinds = {option for option in self.options if isinstance(option, int)}
        return sorted(kinds | ({OPTION_KINDS["mptcp"]} if self.subtypes else set()))

    @property
    def subtypes(self) -> list[int]:
        """Subtypes of MPTCP to strip; empty for all, where its kind is among them."""
        return sorted({MPTCP_SUBTYPES[o] for o in self.options if isinstance(o, str)})


class Split(OneWay):
    """Cuts large segments into several, with the options copied to each."""

    payload: SizeBytes = Field(ge=_SMALLEST_SPLIT_BYTES, le=65_535, description="Largest payload")


class Coalesce(OneWay):
    """Joins consecutive segments, with the options of the first."""

    payload: SizeBytes = Field(ge=_SMALLEST_SPLIT_BYTES, le=65_535, description="Largest payload")
    hold: PositiveTimeNs = Field(1_000_000, description="Longest wait for the next segment")


class ProxyAck(Model):
    """Acknowledges data in the receiver's name."""

    sender: StrictStr = Field(description="The end of the link whose data it acknowledges")


class DropUnknownOptions(OneWay):
    """Drops segments with TCP options that a firewall of 1999 does not know."""

    on: Segments = Field("all", description="Of which segments")


class DropSynData(OneWay):
    """Takes the payload out of SYNs (TCP Fast Open)."""

    segment: StrictBool = Field(False, description="Drop such a SYN as a whole")


class Chance(OneWay):
    """A box that does something to some packets."""

    probability: Probability

    @model_validator(mode="after")
    def _effective(self) -> Chance:
        if self.probability == 0:
            raise RefusalError("probability", "is 0: the box would do nothing: remove it")
        return self


Box = Nat | StripOptions | Split | Coalesce | ProxyAck | DropUnknownOptions | DropSynData | Chance


class Middlebox(Model):
    """One thing that stands in a link: exactly one of its kinds."""

    nat: Nat | None = None
    strip_options: StripOptions | None = Field(None, alias="strip-options")
    split: Split | None = None
    coalesce: Coalesce | None = None
    proxy_ack: ProxyAck | None = Field(None, alias="proxy-ack")
    drop_unknown_options: DropUnknownOptions | None = Field(None, alias="drop-unknown-options")
    drop_syn_data: DropSynData | None = Field(None, alias="drop-syn-data")
    change_payload: Chance | None = Field(None, alias="change-payload")
    corrupt: Chance | None = None

    @model_validator(mode="after")
    def _one(self) -> Middlebox:
        if len(self.model_fields_set) != 1 or getattr(self, self.field) is None:
            kinds = ", ".join(kind.replace("_", "-") for kind in Middlebox.model_fields)
            raise ValueError(f"a middlebox is exactly one of: {kinds}")
        return self

    @property
    def field(self) -> str:
        """Its kind as a field's name: `strip_options`."""
        (field,) = self.model_fields_set
        return field

    @property
    def kind(self) -> str:
        """Its key in the file: `strip-options`."""
        return self.field.replace("_", "-")

    @property
    def box(self) -> Box:
        """The value of that key."""
        box: Box = getattr(self, self.field)
        return box
