"""Events of the plan."""

from typing import Any

import pytest
from tests.scenario.compiled import plan


@pytest.mark.parametrize(
    ("event", "action", "label"),
    [
        (
            "link: eth, change: {rate: 10 Mbit/s, loss: 1 %}",
            {
                "kind": "link",
                "link": 2,
                "change": {
                    "rate": {"kind": "fixed", "bits_per_second": 10_000_000},
                    "loss": {"kind": "random", "probability": 0.01},
                },
                "carrier": None,
            },
            "eth: 10 Mbit/s, loss 1 %",
        ),
        (
            "link: eth, change: {queue: 2 BDP}",
            {
                "kind": "link",
                "link": 2,
                # 2 × 100 Mbit/s × 20 ms.
                "change": {"limits": {"limit_packets": None, "limit_bytes": 500_000}},
                "carrier": None,
            },
            "eth: new queue",
        ),
        (
            "link: eth, up: false",
            {"kind": "link", "link": 2, "change": {"up": False}, "carrier": None},
            "eth fails silently",
        ),
        (
            "carrier: eth, up: true",
            {"kind": "link", "link": 2, "change": {"up": True}, "carrier": True},
            "eth plugged in",
        ),
        (
            "interface: client.eth, up: false",
            {"kind": "interface", "interface": {"node": 0, "interface": 1}, "up": False},
            "client.eth down",
        ),
        (
            "interface: client.eth, backup: true",
            {"kind": "backup", "interface": {"node": 0, "interface": 1}, "backup": True},
            "client.eth becomes backup",
        ),
    ],
)
def test_events(event: str, action: object, label: str) -> None:
    (made,) = plan(more=f"events: [{{at: 2 s, {event}}}]")["events"]
    assert made == {"at_ns": 2_000_000_000, "action": action, "label": label}


def test_a_change_of_the_bucket_leaves_the_rate() -> None:
    more = "events: [{at: 2 s, link: eth, change: {burst: 20 kB, down: {burst: 5 kB}}}]"
    changes = [event["action"]["change"] for event in plan(more=more)["events"]]
    assert changes == [
        {"direction": 0, "burst_bytes": 20_000},
        {"direction": 1, "burst_bytes": 5_000},
    ]


def test_a_change_of_one_direction_names_it() -> None:
    more = "events: [{at: 2 s, link: eth, change: {down: {delay: 5 ms}}}]"
    (made,) = plan(more=more)["events"]
    assert made["action"]["change"] == {"direction": 1, "delay_ns": 5_000_000}
    assert made["label"] == "eth: down 5 ms"


def limits(wifi: str, *changes: str) -> list[tuple[Any, Any, Any]]:
    """Time, direction and bytes of each new limit of wifi's queues; a change a second."""
    events = ", ".join(
        f"{{at: {at} s, link: wifi, change: {{{change}}}}}" for at, change in enumerate(changes, 1)
    )
    return [
        (event["at_ns"] // 10**9, change.get("direction"), change["limits"]["limit_bytes"])
        for event in plan(wifi, more=f"events: [{events}]")["events"]
        if "limits" in (change := event["action"]["change"])
    ]


def test_a_new_limit_in_bdp_is_of_each_directions_own_rate() -> None:
    wifi = "rate: 10 Mbit/s, up: {rate: 1 Mbit/s}, delay: 100 ms"
    # 2 × 1 Mbit/s × 200 ms, and 2 × 10 Mbit/s × 200 ms.
    assert limits(wifi, "queue: 2 BDP") == [(1, 0, 50_000), (1, 1, 500_000)]
    assert limits(wifi, "down: {queue: 2 BDP}") == [(1, 1, 500_000)]


def test_a_new_limit_in_bdp_is_of_both_delays_after_the_event() -> None:
    wifi = "rate: 10 Mbit/s, delay: 10 ms"
    # 10 Mbit/s × (100 + 100) ms; × (100 + 10) ms, in either direction.
    assert limits(wifi, "delay: 100 ms, queue: 1 BDP") == [(1, None, 250_000)]
    one = limits(wifi, "up: {delay: 100 ms}, queue: 1 BDP")
    assert one == [(1, 0, 137_500), (1, 1, 137_500)]


def test_a_new_limit_in_bdp_knows_of_earlier_events() -> None:
    wifi = "rate: 10 Mbit/s, delay: 10 ms"
    # 20 Mbit/s × (10 + 100) ms.
    found = limits(wifi, "rate: 20 Mbit/s", "down: {delay: 100 ms}", "queue: 1 BDP")
    assert found == [(3, None, 275_000)]
    # 20 Mbit/s × (100 + 100) ms, whatever the order in the file.
    late = "{at: 3 s, link: wifi, change: {queue: 1 BDP}}"
    early = "{at: 1 s, link: wifi, change: {rate: 20 Mbit/s, delay: 100 ms}}"
    *_, last = plan(wifi, more=f"events: [{late}, {early}]")["events"]
    assert last["action"]["change"]["limits"]["limit_bytes"] == 500_000


def test_a_queue_keeps_its_limit_until_it_is_told_another() -> None:
    assert limits("rate: 10 Mbit/s, delay: 10 ms", "rate: 20 Mbit/s", "delay: 50 ms") == []


def test_a_link_that_gets_its_first_rate_gets_the_queue_of_it() -> None:
    # 10 Mbit/s × 200 ms once; then as a device's memory.
    found = limits("delay: 100 ms", "delay: 100 ms", "rate: 10 Mbit/s", "rate: 20 Mbit/s")
    assert found == [(2, None, 250_000)]


def test_events_are_in_order_of_time() -> None:
    more = "events: [{at: 3 s, link: eth, up: true}, {at: 1 s, link: eth, up: false}]"
    assert [event["at_ns"] for event in plan(more=more)["events"]] == [10**9, 3 * 10**9]
