"""Middleboxes of a plan, which stand in its links."""

from typing import Annotated, Literal

from pydantic import Field

from mptcplab.plan.model import Index, IpAddress, Model

SegmentKind = Literal["syn", "syn_ack", "ack", "data", "all"]


class Nat(Model):
    """Translates addresses and ports."""

    kind: Literal["nat"] = "nat"
    inside: Index
    address: IpAddress


class StripOptions(Model):
    """Replaces TCP options by padding."""

    kind: Literal["strip_options"] = "strip_options"
    direction: Index | None
    kinds: tuple[int, ...]
    mptcp_subtypes: tuple[int, ...] = ()
    on: SegmentKind


class Split(Model):
    """Cuts segments with more payload into several."""

    kind: Literal["split"] = "split"
    direction: Index | None
    payload_bytes: int


class Coalesce(Model):
    """Joins consecutive segments of a connection."""

    kind: Literal["coalesce"] = "coalesce"
    direction: Index | None
    payload_bytes: int
    hold_ns: int


class ProxyAck(Model):
    """Acknowledges data in the receiver's name."""

    kind: Literal["proxy_ack"] = "proxy_ack"
    sender: Index


class DropUnknownOptions(Model):
    """Drops segments with a TCP option that an old firewall does not know."""

    kind: Literal["drop_unknown_options"] = "drop_unknown_options"
    direction: Index | None
    on: SegmentKind


class DropSynData(Model):
    """Takes the payload out of SYNs, or drops these."""

    kind: Literal["drop_syn_data"] = "drop_syn_data"
    direction: Index | None
    segment: bool


class ChangePayload(Model):
    """Changes a byte of the payload and corrects the TCP checksum."""

    kind: Literal["change_payload"] = "change_payload"
    direction: Index | None
    probability: float


class Corrupt(Model):
    """Flips a bit of a packet and corrects nothing."""

    kind: Literal["corrupt"] = "corrupt"
    direction: Index | None
    probability: float


Middlebox = Annotated[
    Nat
    | StripOptions
    | Split
    | Coalesce
    | ProxyAck
    | DropUnknownOptions
    | DropSynData
    | ChangePayload
    | Corrupt,
    Field(discriminator="kind"),
]
