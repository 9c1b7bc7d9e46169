"""Links of a plan: what `crates/lab/link` takes."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from mptcplab.plan.middlebox import Middlebox
from mptcplab.plan.model import Index, InterfaceRef, Model


class UnlimitedRate(Model):
    """Serialisation takes no time."""

    kind: Literal["unlimited"] = "unlimited"


class FixedRate(Model):
    """A constant rate."""

    kind: Literal["fixed"] = "fixed"
    bits_per_second: int


class TraceRate(Model):
    """Delivery opportunities as Mahimahi replays them."""

    kind: Literal["trace"] = "trace"
    opportunities_ms: tuple[int, ...]


Rate = Annotated[UnlimitedRate | FixedRate | TraceRate, Field(discriminator="kind")]


class NoJitter(Model):
    """The delay is constant."""

    kind: Literal["none"] = "none"


class UniformJitter(Model):
    """Every whole nanosecond within the range is equally likely."""

    kind: Literal["uniform"] = "uniform"
    range_ns: int


class NormalJitter(Model):
    """The delay is normally distributed."""

    kind: Literal["normal"] = "normal"
    sd_ns: int


Jitter = Annotated[NoJitter | UniformJitter | NormalJitter, Field(discriminator="kind")]


class NoLoss(Model):
    """All packets arrive."""

    kind: Literal["none"] = "none"


class RandomLoss(Model):
    """Each packet is lost independently."""

    kind: Literal["random"] = "random"
    probability: float


class GilbertElliottLoss(Model):
    """Bursts: a two-state Markov chain."""

    kind: Literal["gilbert_elliott"] = "gilbert_elliott"
    p: float
    r: float
    loss_good: float
    loss_bad: float


Loss = Annotated[NoLoss | RandomLoss | GilbertElliottLoss, Field(discriminator="kind")]


class Reordering(Model):
    """Packets that are held back after their delay."""

    probability: float
    extra_ns: int


class DropTail(Model):
    """A queue that drops only what is beyond its limits."""

    kind: Literal["drop_tail"] = "drop_tail"


class CoDel(Model):
    """A queue that also drops at the head what waited too long (RFC 8289)."""

    kind: Literal["codel"] = "codel"
    target_ns: int
    interval_ns: int


Discipline = Annotated[DropTail | CoDel, Field(discriminator="kind")]


class QueueLimits(Model):
    """Limits of a queue; unlimited where null."""

    limit_packets: int | None
    limit_bytes: int | None


class QueueConfig(QueueLimits):
    """Where packets wait for the serialiser."""

    discipline: Discipline


class DirectionConfig(Model):
    """Treatment of packets in one direction of a link."""

    rate: Rate
    burst_bytes: int = 0
    framing_bytes: int
    delay_ns: int
    jitter: Jitter
    loss: Loss
    reordering: Reordering | None
    duplication: float
    queue: QueueConfig
    up: bool


class LinkConfig(Model):
    """A link's two directions, and whether they share the medium."""

    duplex: Literal["full", "half"]
    directions: tuple[DirectionConfig, DirectionConfig]


class LinkChange(Model):
    """New parameters of a link; what is null stays as it is and is not written."""

    direction: Index | None = None
    rate: Rate | None = None
    burst_bytes: int | None = None
    delay_ns: int | None = None
    jitter: Jitter | None = None
    loss: Loss | None = None
    reordering: Reordering | None = None
    duplication: float | None = None
    limits: QueueLimits | None = None
    up: bool | None = None

    @model_serializer(mode="wrap")
    def _only_changes(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if value is not None}


class Link(Model):
    """A link between two interfaces."""

    name: str
    ends: tuple[InterfaceRef, InterfaceRef]
    config: LinkConfig
    offload: bool
    middleboxes: tuple[Middlebox, ...] = ()
