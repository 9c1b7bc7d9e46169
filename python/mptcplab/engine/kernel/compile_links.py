"""Links of the plan: the settings of both directions as the link model takes them.

Where a scenario gives no limit a queue holds 1 BDP: rate × (delay there + delay back) of the link
itself. It holds at least 16 packets of 1500 bytes: on a link with a short delay 1 BDP is less than
the bursts of ordinary senders, and a queue that cannot take them leaves the link idle. A link of
unlimited rate has no queue, so its limit does not matter and none is set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mptcplab.scenario.link import Jitter, Link, LinkChange, LinkSettings, Loss, Queue, QueueLimit
from mptcplab.scenario.mahimahi import mean_rate_bps, read_trace
from mptcplab.scenario.profiles import changes_of, is_half_duplex, settings_of

SMALLEST_QUEUE_BYTES = 16 * 1500
OFFLOAD_FROM_BPS = 500_000_000
_CODEL_TARGET_NS, _CODEL_INTERVAL_NS = 5_000_000, 100_000_000  # RFC 8289, section 4.3

Json = dict[str, Any]


def compile_link(name: str, link: Link, folder: Path, ends: list[Json]) -> Json:
    """A link of the plan."""
    up, down = settings_of(link)
    rates = [rate_bps(settings, folder) for settings in (up, down)]
    fast = any(rate is None or rate >= OFFLOAD_FROM_BPS for rate in rates)
    return {
        "name": name,
        "ends": ends,
        "config": {
            "duplex": "half" if is_half_duplex(link) else "full",
            "directions": [_direction(up, down, folder), _direction(down, up, folder)],
        },
        "offload": fast if link.offload is None else link.offload,
    }


def compile_change(change: LinkChange, link: Link, folder: Path) -> list[Json]:
    """Changes of the plan: one for each direction that is told something.

    A queue keeps its limit when the rate changes, as a device's buffer does; a new limit in BDP is
    of the new rate.
    """
    base = settings_of(link)
    told = changes_of(change)
    if change.up is None and change.down is None:
        return [_change(told[0], base[0], base[1], folder)]
    return [
        {"direction": index, **made}
        for index in (0, 1)
        if (made := _change(told[index], base[index], base[1 - index], folder))
    ]


def rate_bps(settings: LinkSettings, folder: Path) -> int | None:
    """Bits a second, a trace's in the mean; None where unlimited."""
    if settings.trace is not None:
        return mean_rate_bps(read_trace(folder / settings.trace, settings.trace))
    return settings.rate if isinstance(settings.rate, int) else None


def _direction(settings: LinkSettings, back: LinkSettings, folder: Path) -> Json:
    queue = settings.queue or Queue()
    limits = _limits(queue.limit, settings, back, folder)
    return {
        "rate": _rate(settings, folder),
        "framing_bytes": settings.framing or 0,
        "delay_ns": settings.delay or 0,
        "jitter": _jitter(settings.jitter),
        "loss": _loss(settings.loss),
        "reordering": _reordering(settings),
        "duplication": settings.duplication or 0.0,
        "queue": {**limits, "discipline": _discipline(queue)},
        "up": True,
    }


def _change(told: LinkSettings, base: LinkSettings, back: LinkSettings, folder: Path) -> Json:
    made: Json = {}
    after = base.model_copy(update={k: getattr(told, k) for k in told.model_fields_set})
    if told.rate is not None or told.trace is not None:
        made["rate"] = _rate(told, folder)
        after = after.model_copy(update={"rate": told.rate, "trace": told.trace})
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
    if told.queue is not None:
        made["limits"] = _limits(told.queue.limit, after, back, folder)
    return made


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


def _limits(
    limit: QueueLimit, settings: LinkSettings, back: LinkSettings, folder: Path
) -> dict[str, int | None]:
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
