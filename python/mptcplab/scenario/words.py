"""Links, traffic and events of a scenario in words: for drawings, and the labels of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mptcplab.scenario.link import Link, LinkSettings
from mptcplab.scenario.model import Event, Scenario
from mptcplab.scenario.profiles import is_half_duplex, settings_of
from mptcplab.scenario.traffic import (
    Body,
    Bulk,
    Command,
    Datagrams,
    Ftp,
    Http,
    Ping,
    RequestResponse,
    Stream,
)
from mptcplab.scenario.units import format_rate, format_size, format_time

_MOST_NAMED = 8


def link_words(link: Link) -> list[str]:
    """Say a link's rate, delay and impairments, where they are not those of a perfect wire."""
    up, down = settings_of(link)
    words = [_both(_rate(up), _rate(down)), _both(_delay(up), _delay(down))]
    if is_half_duplex(link):
        words.append("half duplex")
    words += [_both(a, b) for a, b in zip(_impairments(up), _impairments(down), strict=True)]
    words += [box.kind for box in link.middleboxes]
    return [word for word in words if word]


def traffic_words(scenario: Scenario) -> Iterator[str]:
    """Say each flow in a line."""
    for item in scenario.traffic:
        body = item.body
        ends = _several(body.clients)
        if body.servers:
            arrow = {"up": "→", "down": "←", "both": "↔"}[getattr(body, "direction", "down")]
            ends += f" {arrow} {_several(body.servers)}"
        words = [f"{body.name or item.kind}: {ends}", _what(body)]
        if body.start:
            words.append(f"from {format_time(body.start)}")
        if body.protocol is not None:
            words.append(f"always {body.protocol}")
        if body.via is not None:
            words.append(f"via {via_words(body.via)}")
        yield ", ".join(word for word in words if word)


def via_words(via: Sequence[str]) -> str:
    """Say the interfaces of `via`."""
    return " and ".join(via)


def event_words(event: Event) -> str:
    """Say an event."""
    if event.carrier is not None:
        return f"{event.carrier} {'plugged in' if event.up else 'unplugged'}"
    if event.subflow is not None:
        ends = f"{event.subflow.source} → {event.subflow.target}"
        return f"subflow {ends} of {event.subflow.of} {'opened' if event.up else 'closed'}"
    if event.interface is not None and event.backup is not None:
        return f"{event.interface} {'becomes' if event.backup else 'is no longer'} backup"
    if event.interface is not None:
        return f"{event.interface} {'up' if event.up else 'down'}"
    if event.change is None:
        return f"{event.link} {'works again' if event.up else 'fails silently'}"
    parts = [("", event.change), ("up", event.change.up), ("down", event.change.down)]
    words = [f"{way} {_change(part)}".strip() for way, part in parts if part is not None]
    return f"{event.link}: {', '.join(word for word in words if word)}"


def _change(settings: LinkSettings) -> str:
    """Say only what is given."""
    words = [_rate(settings) if settings.rate or settings.trace else _burst(settings)]
    words += [_delay(settings), *_impairments(settings)]
    if settings.queue is not None:
        words.append("new queue")
    return ", ".join(word for word in words if word)


def _several(hosts: list[str]) -> str:
    """The hosts; of many their number."""
    return f"{len(hosts)} hosts" if len(hosts) > _MOST_NAMED else ", ".join(hosts)


def _both(up: str, down: str) -> str:
    """One word where both directions are alike."""
    return up if up == down else f"↑ {up or '–'} ↓ {down or '–'}"


def _rate(settings: LinkSettings) -> str:
    if settings.trace is not None:
        varying = settings.trace.varying
        return (
            f"trace {settings.trace.file}" if varying is None else f"≈ {format_rate(varying.mean)}"
        )
    if not isinstance(settings.rate, int):
        return "unlimited"
    return format_rate(settings.rate) + (f" with {_burst(settings)}" if settings.burst else "")


def _burst(settings: LinkSettings) -> str:
    return f"bursts of {format_size(settings.burst)}" if settings.burst else ""


def _delay(settings: LinkSettings) -> str:
    return format_time(settings.delay) if settings.delay else ""


def _impairments(settings: LinkSettings) -> list[str]:
    jitter, loss, queue = settings.jitter, settings.loss, settings.queue
    words = ["", "", "", "", ""]
    if jitter is not None:
        words[0] = f"jitter {format_time(jitter.uniform or jitter.normal or 0)}"
    if loss is not None and loss.random is not None:
        words[1] = f"loss {loss.random * 100:g} %"
    elif loss is not None:
        words[1] = "bursts of loss"
    if settings.reordering is not None:
        words[2] = f"reordering {settings.reordering.probability * 100:g} %"
    if settings.duplication:
        words[3] = f"duplication {settings.duplication * 100:g} %"
    if queue is not None and queue.discipline == "codel":
        words[4] = "CoDel"
    return words


def _what(body: Body) -> str:
    match body:
        case Bulk():
            amount = format_time(body.duration) if body.duration else format_size(body.size or 0)
            words = [amount]
            words += [f"{body.streams} streams"] if body.streams > 1 else []
            words += [f"at most {format_rate(body.rate)}"] if body.rate else []
            return ", ".join(words)
        case Http() | Ftp():
            return f"{body.count} × {format_size(body.size)}"
        case Ping():
            return f"{body.count} × every {format_time(body.interval)}"
        case RequestResponse():
            return f"{body.count} × {format_size(body.request)} / {format_size(body.response)}"
        case Stream():
            made = f"{format_rate(body.rate)} in frames of {format_size(body.frame)}"
            return f"{format_time(body.duration)}, {made} due within {format_time(body.deadline)}"
        case Datagrams():
            words = [format_time(body.duration), f"{format_rate(body.rate)} of datagrams"]
            if body.on_off is not None:
                burst, pause = body.on_off.burst, body.on_off.pause
                words.append(f"bursts of {format_time(burst)}, pauses of {format_time(pause)}")
            return ", ".join(words)
        case Command():
            return " ".join(body.run)
