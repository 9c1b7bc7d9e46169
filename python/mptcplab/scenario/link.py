"""Settings of a link: rate, delay, impairments, queue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, WithJsonSchema, model_validator

from mptcplab.scenario.fields import (
    PROBABILITY_SCHEMA,
    RATE_SCHEMA,
    TIME_SCHEMA,
    Model,
    PositiveSizeBytes,
    PositiveTimeNs,
    Probability,
    RefusalError,
    Short,
    SizeBytes,
    TimeNs,
    parse_rate_bps,
)
from mptcplab.scenario.middlebox import Middlebox
from mptcplab.scenario.units import UnitError, parse_size
from mptcplab.scenario.varying_rate import VaryingRate

Unlimited = Literal["unlimited"]
_MOST_PACKETS = 2**32 - 1
LARGEST_BURST_BYTES = 10**12
"""Eight seconds of the largest rate of a scenario."""
_COUNTED = re.compile(r"(?P<number>\d{1,12}(\.\d{1,9})?)\s*(?P<unit>packets?|pkts?|p|BDPs?)", re.I)


def _rate(value: object) -> object:
    if value == "unlimited":
        return value
    rate = parse_rate_bps(value)
    if rate == 0:
        raise ValueError("must be above 0; to stop a link use an event with `up: false`")
    return rate


RateLimit = Annotated[
    int | Unlimited,
    BeforeValidator(_rate),
    WithJsonSchema({"anyOf": [RATE_SCHEMA, {"const": "unlimited"}]}),
]


@dataclass(frozen=True)
class QueueLimit:
    """How much may wait: in packets, in bytes, or in bandwidth-delay products of the link."""

    unit: Literal["packets", "bytes", "bdp", "unlimited"]
    amount: Decimal


def parse_queue_limit(value: object) -> QueueLimit:
    """Reads `100 packets`, `64 kB`, `2 BDP` or `unlimited`."""
    words = 'a queue\'s limit is written like "100 packets", "64 kB" or "2 BDP"'
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise UnitError(f'needs a unit: did you mean "{value} packets"?')
    if not isinstance(value, str):
        raise UnitError(words)
    text = value.strip()
    if text == "unlimited":
        return QueueLimit("unlimited", Decimal(0))
    found = _COUNTED.fullmatch(text)
    if found is None:
        if not re.match(r"[-+.\d]", text):
            raise UnitError(words)
        if text.startswith("-"):
            raise UnitError("a queue's limit must not be negative")
        if re.fullmatch(r"[\d.]+", text):
            raise UnitError(f'needs a unit: did you mean "{text} packets"?')
        return QueueLimit("bytes", Decimal(_not_zero(parse_size(text))))
    number, unit = Decimal(found["number"]), found["unit"]
    if unit in ("packet", "packets"):
        if number != number.to_integral_value() or number > _MOST_PACKETS:
            raise UnitError("a queue holds a whole number of packets, below 2^32")
        return QueueLimit("packets", Decimal(_not_zero(int(number))))
    if unit == "BDP":
        if number == 0 or number > 10_000:
            raise UnitError("must be above 0 BDP and at most 10000 BDP")
        return QueueLimit("bdp", number)
    right = "BDP" if unit.upper().startswith("B") else "packets"
    raise UnitError(f'did you mean "{found["number"]} {right}"?')


def _not_zero(amount: int) -> int:
    if amount == 0:
        raise UnitError("must be above 0: a queue of nothing cannot be served")
    return amount


_QUEUE_LIMIT_SCHEMA = {
    "type": "string",
    "description": "such as 100 packets, 64 kB, 2 BDP or unlimited",
}
QueueSize = Annotated[
    QueueLimit, BeforeValidator(parse_queue_limit), WithJsonSchema(_QUEUE_LIMIT_SCHEMA)
]


class Jitter(Model):
    """Variation of the delay; packets keep their order."""

    uniform: TimeNs | None = Field(None, description="Largest deviation, equally likely up to it")
    normal: TimeNs | None = Field(None, description="Standard deviation of a normal distribution")

    @model_validator(mode="after")
    def _one(self) -> Jitter:
        if (self.uniform is None) == (self.normal is None):
            raise ValueError("give one of uniform and normal")
        return self


class Trace(Model):
    """A rate that changes over time."""

    file: StrictStr | None = Field(
        None, description="File in Mahimahi's format, relative to this file"
    )
    varying: VaryingRate | None = Field(None, description="Made by a seed")

    @model_validator(mode="after")
    def _one(self) -> Trace:
        if (self.file is None) == (self.varying is None):
            raise ValueError("give one of file and varying")
        return self


_TRACE_FILE_SCHEMA = {"type": "string", "description": "a file, such as lte.trace"}


class GilbertElliott(Model):
    """Bursts of loss: a two-state Markov chain, a step a packet (Gilbert 1960, Elliott 1963)."""

    p: Probability = Field(description="Probability of the step from good to bad")
    r: Probability = Field(description="Probability of the step from bad to good")
    good: Probability = Field(0.0, description="Probability of loss in the good state")
    bad: Probability = Field(1.0, description="Probability of loss in the bad state")


class Loss(Model):
    """Which packets are lost after they have used the link."""

    random: Probability | None = Field(None, description="Each packet independently")
    gilbert_elliott: GilbertElliott | None = Field(None, alias="gilbert-elliott")

    @model_validator(mode="after")
    def _one(self) -> Loss:
        if (self.random is None) == (self.gilbert_elliott is None):
            raise ValueError("give one of random and gilbert-elliott")
        return self


class Reordering(Model):
    """Packets that are held back, so that others overtake them."""

    probability: Probability = Field(description="Probability that a packet is held back")
    by: PositiveTimeNs = Field(description="For how long")


class Queue(Model):
    """Where packets wait for the link."""

    limit: QueueSize = Field(
        default_factory=lambda: QueueLimit("bdp", Decimal(1)), description="1 BDP unless given"
    )
    discipline: Literal["drop-tail", "codel"] = Field("drop-tail", description="CoDel: RFC 8289")
    target: PositiveTimeNs | None = Field(None, description="CoDel's target, 5 ms unless given")
    interval: PositiveTimeNs | None = Field(
        None, description="CoDel's interval, 100 ms unless given"
    )

    @model_validator(mode="after")
    def _only_codel(self) -> Queue:
        for key in ("target", "interval"):
            if getattr(self, key) is not None and self.discipline != "codel":
                raise RefusalError(key, "is a setting of `discipline: codel`")
        return self


class LinkSettings(Model):
    """Settings of one direction, or both; those that are not given are left to others."""

    rate: RateLimit | None = Field(
        None, description="Of IP packets with framing; not given: unlimited"
    )
    trace: Annotated[Trace, Short("file", _TRACE_FILE_SCHEMA)] | None = Field(
        None, description="Replayed as the rate, again and again"
    )
    burst: PositiveSizeBytes | None = Field(
        None,
        description="Size of the rate's token bucket: what leaves at once after a pause",
        le=LARGEST_BURST_BYTES,
    )
    framing: SizeBytes | None = Field(
        None, description="Added to each IP packet for what the layer below costs", le=10_000
    )
    delay: TimeNs | None = Field(None, description="One way")
    jitter: Annotated[Jitter, Short("uniform", TIME_SCHEMA)] | None = None
    loss: Annotated[Loss, Short("random", PROBABILITY_SCHEMA)] | None = None
    reordering: Reordering | None = None
    duplication: Probability | None = None
    queue: Annotated[Queue, Short("limit", _QUEUE_LIMIT_SCHEMA)] | None = None

    @model_validator(mode="after")
    def _rate_or_trace(self) -> LinkSettings:
        if self.rate is not None and self.trace is not None:
            raise RefusalError("trace", "a link has a rate or a trace, not both")
        if self.burst is not None and self.trace is not None:
            raise RefusalError("burst", "is of a rate; a trace tells itself what leaves when")
        return self


SETTINGS = tuple(LinkSettings.model_fields)


class LinkShape(LinkSettings):
    """Settings of both directions, with what differs in each."""

    up: LinkSettings | None = Field(None, description="From the first end to the second")
    down: LinkSettings | None = Field(None, description="From the second end to the first")


class Profile(LinkShape):
    """Settings to reuse, with the source of their numbers."""

    title: StrictStr
    source: StrictStr
    duplex: Literal["full", "half"] = "full"


class LinkStart(LinkShape):
    """Settings of a link when the run begins."""

    profile: StrictStr | None = Field(None, description="Settings to start from, by name")
    duplex: Literal["full", "half"] | None = Field(
        None, description="half: both directions share the medium"
    )
    offload: StrictBool | None = Field(
        None,
        description="Let hosts hand over large segments; not given: from 500 Mbit/s",
    )


class Link(LinkStart):
    """A link between two interfaces."""

    between: list[StrictStr] = Field(
        min_length=2, max_length=2, description="Its two ends, as node.interface"
    )
    middleboxes: list[Middlebox] = Field(
        [], description="What stands in it, in the order from the first end to the second"
    )


class LinkChange(LinkShape):
    """New settings of a link in an event."""

    @model_validator(mode="after")
    def _possible(self) -> LinkChange:
        for part in (self, self.up, self.down):
            if part is not None and part.framing is not None:
                raise RefusalError("framing", "cannot change while a link works")
            queue = part.queue if part is not None else None
            if queue is not None and queue.model_fields_set - {"limit"}:
                raise RefusalError("queue", "only a queue's limit can change while a link works")
        return self


def merged(*layers: LinkSettings | None) -> LinkSettings:
    """The settings, a later layer's winning; a rate replaces a trace and a trace a rate."""
    values: dict[str, Any] = {}
    for layer in layers:
        if layer is None:
            continue
        if layer.rate is not None or layer.trace is not None:
            values.pop("rate", None)
            values.pop("trace", None)
        for key in SETTINGS:
            value = getattr(layer, key)
            if value is not None:
                values[key] = value
    return LinkSettings.model_construct(**values)
