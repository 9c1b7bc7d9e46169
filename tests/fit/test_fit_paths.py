"""Estimates of paths: rates of trains, losses by chance beside those of a full queue."""

import numpy as np
import pytest

from mptcplab.fit.course import Course, Numbers
from mptcplab.fit.paths import losses, train_rate

MS = 1e6
PACKET = 1500.0


def ticks(count: int, every_ms: float) -> Numbers:
    """So many times, in ns."""
    return np.array([place * every_ms * MS for place in range(count)], dtype=np.float64)


def test_a_train_tells_the_rate_whatever_the_pauses_between_trains() -> None:
    # Forty packets a train at 10 Mbit/s, 1.2 ms each, and 30 ms of silence.
    one = ticks(40, 1.2)
    times = np.concatenate([one + start * 80 * MS for start in range(10)])
    rate = train_rate(times, np.full(times.size, PACKET))
    assert rate is not None
    assert 1e3 * rate == pytest.approx(10, rel=0.01)


def test_an_acknowledgement_at_the_end_of_a_recovery_is_no_rate() -> None:
    times = ticks(200, 2.4)
    sizes = np.full(200, 2 * PACKET)
    sizes[::40] = 60 * PACKET
    rate = train_rate(times, sizes)
    assert rate is not None
    assert 1e3 * rate == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("packets", [0, 1, 10])
def test_too_little_data_tells_no_rate(packets: int) -> None:
    assert train_rate(ticks(packets, 1), np.full(packets, PACKET)) is None


def course(trips_ms: Numbers, again_ms: list[float]) -> Course:
    """A second of trips, one a millisecond, each with a packet that was sent."""
    times, nothing = ticks(trips_ms.size, 1), ticks(0, 1)
    again_ns = np.array([one * MS for one in again_ms], dtype=np.float64)
    return Course(nothing, nothing, times, trips_ms * MS, times, again_ns)


def test_losses_while_round_trips_were_short_are_by_chance() -> None:
    # A queue that fills from 20 to 40 ms in half a second, and is full then.
    trips = np.concatenate((np.linspace(20, 40, 500), np.full(100, 20), np.linspace(20, 40, 400)))
    by_chance = [250.0, 400.0 - 190, 620.0, 700.0]
    found = losses(course(trips, sorted([*by_chance, 501.0])), 20 * MS, near_receiver=False)
    assert found.full_ns == pytest.approx(40 * MS, rel=0.02)
    # Counted where no queue was full alone.
    assert 4 / 1000 < found.by_chance < 4 / 400


def test_a_burst_is_no_loss_by_chance() -> None:
    trips = np.full(1000, 20.0)
    burst = [500.0 + packet for packet in range(30)]
    found = losses(course(trips, burst), 20 * MS, near_receiver=False)
    assert found.by_chance == 0
    assert found.full_ns == 20 * MS


def test_nothing_lost_is_no_queue() -> None:
    found = losses(course(np.full(100, 20.0), []), 20 * MS, near_receiver=True)
    assert (found.by_chance, found.full_ns) == (0, None)
