"""Links of the plan: the settings of both directions as the link model takes them.

Where a scenario gives no limit a queue holds 1 BDP: rate × (delay there + delay back) of the link
itself. It holds at least 16 packets of 1500 bytes: on a link with a short delay 1 BDP is less than
the bursts of ordinary senders, and a queue that cannot take them leaves the link idle. A link of
unlimited rate has no queue, so its limit does not matter and none is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.engine.compile_middleboxes import compile_middleboxes
from mptcplab.scenario.link import Jitter, Link, LinkChange, LinkSettings, Loss, Queue, merged
from mptcplab.scenario.mahimahi import mean_rate_bps, read_trace
from mptcplab.scenario.network import End, Network
from mptcplab.scenario.profiles import changes_of, is_half_duplex, settings_of

SMALLEST_QUEUE_BYTES = 16 * 1500
OFFLOAD_FROM_BPS = 500_000_000
_CODEL_TARGET_NS, _CODEL_INTERVAL_NS = 5_000_000, 100_000_000  # RFC 8289, section 4.3

Json = dict[str, Any]


def compile_link(name: str, link: Link, folder: Path, network: Network) -> Json:
    """A link of the plan."""
    up, down = settings_of(link)
    rates = [rate_bps(settings, folder) for settings in (up, down)]
    fast = any(rate is None or rate >= OFFLOAD_FROM_BPS for rate in rates)
    return {
        "name": name,
        "ends": [reference(network, end) for end in network.links[name]],
        "config": {
            "duplex": "half" if is_half_duplex(link) else "full",
            "directions": [_direction(up, down, folder), _direction(down, up, folder)],
        },
        "offload": fast if link.offload is None else link.offload,
        "middleboxes": compile_middleboxes(name, link, network),
    }


def reference(network: Network, end: End) -> dict[str, int]:
    """An interface as the plan refers to it."""
    return {
        "node": network.nodes.index(end.node),
        "interface": network.ends_of(end.node).index(end),
    }


@dataclass(frozen=True)
class LinkState:
    """What the events until now have made of a link: its settings up and down, and its queues'."""

    settings: tuple[LinkSettings, LinkSettings]
    limits: tuple[Json, Json]

    @classmethod
    def initial(cls, link: Link, folder: Path) -> LinkState:
        """The link as the run begins."""
        up, down = settings_of(link)
        return cls((up, down), (_limits(up, down, folder), _limits(down, up, folder)))


def compile_change(
    change: LinkChange, before: LinkState, folder: Path
) -> tuple[LinkState, list[Json]]:
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
            made[index]["limits"] = limits[index]
    after = LinkState((up, down), (limits[0], limits[1]))
    if made[0] == made[1]:
        return after, [made[0]]
    return after, [{"direction": index, **made[index]} for index in (0, 1) if made[index]]


def rate_bps(settings: LinkSettings, folder: Path) -> int | None:
    """Bits a second, a trace's in the mean; None where unlimited."""
    if settings.trace is not None:
        return mean_rate_bps(read_trace(folder / settings.trace, settings.trace))
    return settings.rate if isinstance(settings.rate, int) else None


def _direction(settings: LinkSettings, back: LinkSettings, folder: Path) -> Json:
    return {
        "rate": _rate(settings, folder),
        "framing_bytes": settings.framing or 0,
        "delay_ns": settings.delay or 0,
        "jitter": _jitter(settings.jitter),
        "loss": _loss(settings.loss),
        "reordering": _reordering(settings),
        "duplication": settings.duplication or 0.0,
        "queue": {**_limits(settings, back, folder), "discipline": _discipline(_queue(settings))},
        "up": True,
    }


def _told(told: LinkSettings, folder: Path) -> Json:
    """What an event says of a direction, without its queue."""
    made: Json = {}
    if told.rate is not None or told.trace is not None:
        made["rate"] = _rate(told, folder)
    if told.delay is not None:
        made["delay_ns"] = told.delay
    if told.jitter is not None:
        made["jitter"] = _jitter(told.jitter)
    if told.loss is not None:
        made["loss"] = _loss(told.loss)
    if told.reordering is not None:
        made["reordering"] = _reordering(told)
    if told.duplication is not None:
        made["duplication"] = told.duplication
    return made


def _is_undecided(state: LinkState, index: int) -> bool:
    """Whether the queue's limit is in BDP and there has been no rate to compute it from."""
    in_bdp = _queue(state.settings[index]).limit.unit == "bdp"
    return in_bdp and state.limits[index]["limit_bytes"] is None


def _rate(settings: LinkSettings, folder: Path) -> Json:
    if settings.trace is not None:
        times = read_trace(folder / settings.trace, settings.trace)
        return {"kind": "trace", "opportunities_ms": times}
    if isinstance(settings.rate, int):
        return {"kind": "fixed", "bits_per_second": settings.rate}
    return {"kind": "unlimited"}


def _jitter(jitter: Jitter | None) -> Json:
    if jitter is None:
        return {"kind": "none"}
    if jitter.uniform is not None:
        return {"kind": "uniform", "range_ns": jitter.uniform}
    return {"kind": "normal", "sd_ns": jitter.normal}


def _loss(loss: Loss | None) -> Json:
    if loss is None:
        return {"kind": "none"}
    bursts = loss.gilbert_elliott
    if bursts is None:
        return {"kind": "random", "probability": loss.random}
    return {
        "kind": "gilbert_elliott",
        "p": bursts.p,
        "r": bursts.r,
        "loss_good": bursts.good,
        "loss_bad": bursts.bad,
    }


def _reordering(settings: LinkSettings) -> Json | None:
    reordering = settings.reordering
    if reordering is None:
        return None
    return {"probability": reordering.probability, "extra_ns": reordering.by}


def _discipline(queue: Queue) -> Json:
    if queue.discipline == "drop-tail":
        return {"kind": "drop_tail"}
    return {
        "kind": "codel",
        "target_ns": queue.target or _CODEL_TARGET_NS,
        "interval_ns": queue.interval or _CODEL_INTERVAL_NS,
    }


def _queue(settings: LinkSettings) -> Queue:
    return settings.queue or Queue()


def _limits(settings: LinkSettings, back: LinkSettings, folder: Path) -> dict[str, int | None]:
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
    return {"limit_packets": packets, "limit_bytes": size}
