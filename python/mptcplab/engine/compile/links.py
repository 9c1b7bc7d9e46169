"""Links of the plan: the settings of both directions as the link model takes them.

Where a scenario gives no limit a queue holds 1 BDP: rate × (delay there + delay back) of the link
itself. It holds at least 16 packets of 1500 bytes: on a link with a short delay 1 BDP is less than
the bursts of ordinary senders, and a queue that cannot take them leaves the link idle. A link of
unlimited rate has no queue, so its limit does not matter and none is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine.compile.middleboxes import compile_middleboxes
from mptcplab.plan import link as plan
from mptcplab.plan.model import InterfaceRef
from mptcplab.scenario.link import Jitter, Link, LinkChange, LinkSettings, Loss, Queue, merged
from mptcplab.scenario.mahimahi import mean_rate_bps
from mptcplab.scenario.network import End, Network
from mptcplab.scenario.profiles import changes_of, is_half_duplex, settings_of
from mptcplab.scenario.replayed import opportunities_ms

SMALLEST_QUEUE_BYTES = 16 * 1500
OFFLOAD_FROM_BPS = 500_000_000
_CODEL_TARGET_NS, _CODEL_INTERVAL_NS = 5_000_000, 100_000_000  # RFC 8289, section 4.3


def compile_link(name: str, link: Link, folder: Path, network: Network) -> plan.Link:
    """A link of the plan."""
    up, down = settings_of(link)
    rates = [rate_bps(settings, folder) for settings in (up, down)]
    fast = any(rate is None or rate >= OFFLOAD_FROM_BPS for rate in rates)
    first, second = network.links[name]
    return plan.Link(
        name=name,
        ends=(reference(network, first), reference(network, second)),
        config=plan.LinkConfig(
            duplex="half" if is_half_duplex(link) else "full",
            directions=(_direction(up, down, folder), _direction(down, up, folder)),
        ),
        offload=fast if link.offload is None else link.offload,
        middleboxes=compile_middleboxes(name, link, network),
    )


def reference(network: Network, end: End) -> InterfaceRef:
    """An interface as the plan refers to it."""
    return InterfaceRef(
        node=network.nodes.index(end.node), interface=network.ends_of(end.node).index(end)
    )


@dataclass(frozen=True)
class LinkState:
    """State of a link after the events until now: its settings up and down, and its queues'."""

    settings: tuple[LinkSettings, LinkSettings]
    limits: tuple[plan.QueueLimits, plan.QueueLimits]

    @classmethod
    def initial(cls, link: Link, folder: Path) -> LinkState:
        """The link as the run begins."""
        up, down = settings_of(link)
        return cls((up, down), (_limits(up, down, folder), _limits(down, up, folder)))


def compile_change(
    change: LinkChange, before: LinkState, folder: Path
) -> tuple[LinkState, list[plan.LinkChange]]:
    """The link after an event, and the plan's changes: one, or one for each direction concerned.

    A queue keeps its limit when the rate changes, as a device's buffer does; a new limit in BDP is
    of the rate and the delays after the event. A link that had no rate yet had no queue either: its
    limit in BDP is of the first rate.
    """
    told = changes_of(change)
    up, down = (merged(before.settings[index], told[index]) for index in (0, 1))
    fresh = (_limits(up, down, folder), _limits(down, up, folder))
    is_new = [told[index].queue is not None or _is_undecided(before, index) for index in (0, 1)]
    limits = tuple(fresh[index] if is_new[index] else before.limits[index] for index in (0, 1))
    made = [_told(settings, folder) for settings in told]
    for index in (0, 1):
        if told[index].queue is not None or limits[index] != before.limits[index]:
            made[index] = made[index].model_copy(update={"limits": limits[index]})
    after = LinkState((up, down), (limits[0], limits[1]))
    if made[0] == made[1]:
        return after, [made[0]]
    return after, [
        change.model_copy(update={"direction": index})
        for index, change in enumerate(made)
        if change != plan.LinkChange()
    ]


def rate_bps(settings: LinkSettings, folder: Path) -> int | None:
    """Bits a second, a trace's in the mean; None where unlimited."""
    if settings.trace is not None:
        return mean_rate_bps(opportunities_ms(settings.trace, folder))
    return settings.rate if isinstance(settings.rate, int) else None


def _direction(settings: LinkSettings, back: LinkSettings, folder: Path) -> plan.DirectionConfig:
    limits = _limits(settings, back, folder)
    return plan.DirectionConfig(
        rate=_rate(settings, folder),
        burst_bytes=settings.burst or 0,
        framing_bytes=settings.framing or 0,
        delay_ns=settings.delay or 0,
        jitter=_jitter(settings.jitter),
        loss=_loss(settings.loss),
        reordering=_reordering(settings),
        duplication=settings.duplication or 0.0,
        queue=plan.QueueConfig(
            limit_packets=limits.limit_packets,
            limit_bytes=limits.limit_bytes,
            discipline=_discipline(_queue(settings)),
        ),
        up=True,
    )


def _told(told: LinkSettings, folder: Path) -> plan.LinkChange:
    """Changes of a direction by an event, without its queue."""
    has_rate = told.rate is not None or told.trace is not None
    return plan.LinkChange(
        rate=_rate(told, folder) if has_rate else None,
        burst_bytes=told.burst,
        delay_ns=told.delay,
        jitter=None if told.jitter is None else _jitter(told.jitter),
        loss=None if told.loss is None else _loss(told.loss),
        reordering=_reordering(told),
        duplication=told.duplication,
    )


def _is_undecided(state: LinkState, index: int) -> bool:
    """Whether the queue's limit is in BDP and there has been no rate to compute it from."""
    in_bdp = _queue(state.settings[index]).limit.unit == "bdp"
    return in_bdp and state.limits[index].limit_bytes is None


def _rate(settings: LinkSettings, folder: Path) -> plan.Rate:
    if settings.trace is not None:
        return plan.TraceRate(opportunities_ms=tuple(opportunities_ms(settings.trace, folder)))
    if isinstance(settings.rate, int):
        return plan.FixedRate(bits_per_second=settings.rate)
    return plan.UnlimitedRate()


def _jitter(jitter: Jitter | None) -> plan.Jitter:
    if jitter is None:
        return plan.NoJitter()
    if jitter.uniform is not None:
        return plan.UniformJitter(range_ns=jitter.uniform)
    assert jitter.normal is not None
    return plan.NormalJitter(sd_ns=jitter.normal)


def _loss(loss: Loss | None) -> plan.Loss:
    if loss is None:
        return plan.NoLoss()
    bursts = loss.gilbert_elliott
    if bursts is not None:
        return plan.GilbertElliottLoss(
            p=bursts.p, r=bursts.r, loss_good=bursts.good, loss_bad=bursts.bad
        )
    assert loss.random is not None
    return plan.RandomLoss(probability=loss.random)


def _reordering(settings: LinkSettings) -> plan.Reordering | None:
    reordering = settings.reordering
    if reordering is None:
        return None
    return plan.Reordering(probability=reordering.probability, extra_ns=reordering.by)


def _discipline(queue: Queue) -> plan.Discipline:
    if queue.discipline == "drop-tail":
        return plan.DropTail()
    return plan.CoDel(
        target_ns=queue.target or _CODEL_TARGET_NS,
        interval_ns=queue.interval or _CODEL_INTERVAL_NS,
    )


def _queue(settings: LinkSettings) -> Queue:
    return settings.queue or Queue()


def _limits(settings: LinkSettings, back: LinkSettings, folder: Path) -> plan.QueueLimits:
    """Limits of a direction's queue; `back` is the other direction."""
    limit = _queue(settings).limit
    packets = size = None
    if limit.unit == "packets":
        packets = int(limit.amount)
    elif limit.unit == "bytes":
        size = int(limit.amount)
    elif limit.unit == "bdp":
        rate = rate_bps(settings, folder)
        if rate is not None:
            round_trip_ns = (settings.delay or 0) + (back.delay or 0)
            product = int(limit.amount * rate * round_trip_ns) // (8 * 10**9)
            size = max(product, SMALLEST_QUEUE_BYTES)
    return plan.QueueLimits(limit_packets=packets, limit_bytes=size)
