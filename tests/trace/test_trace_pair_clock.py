"""The other capture's clock, found from delays of which all is known."""

import numpy as np
import pytest
from tests.trace.clocks import AHEAD_NS, DRIFT
from tests.trace.world import MS, SECOND

from mptcplab.trace.pairs.clock import Clock, Cloud, estimate


def _points(count: int, seconds: int, seed: int) -> Cloud:
    """Packets both ways with least delays of 10 ms, queueing, and a clock that drifts."""
    random = np.random.default_rng(seed)
    at = np.sort(random.integers(0, seconds * SECOND, count))
    queue = random.exponential(3 * MS, (2, count))
    line = AHEAD_NS + DRIFT * at
    forward = np.rint(line + 10 * MS + queue[0]).astype(np.int64)
    backward = np.rint(line - 10 * MS - queue[1]).astype(np.int64)
    return Cloud(at, forward, at, backward)


@pytest.mark.parametrize("seconds", [10, 100, 1000])
def test_drift_is_found_the_better_the_longer_it_is_watched(seconds: int) -> None:
    clock = estimate([_points(20_000, seconds, 7)])
    assert clock is not None
    assert abs(clock.drift - DRIFT) < 0.1 * MS / (seconds * SECOND) * 4
    assert abs(clock.drift - DRIFT) <= clock.drift_uncertainty
    assert abs(clock.offset_ns - AHEAD_NS) < 0.1 * MS
    assert clock.offset_uncertainty_ns == pytest.approx(10 * MS, rel=0.02)


def test_unequal_delays_are_within_the_uncertainty() -> None:
    at = np.arange(0, 10 * SECOND, 10 * MS)
    cloud = Cloud(at, np.full(at.size, 30 * MS), at, np.full(at.size, -10 * MS))
    clock = estimate([cloud])
    assert clock is not None
    assert clock.offset_ns == 10 * MS
    assert clock.offset_uncertainty_ns == 20 * MS
    assert clock.drift == pytest.approx(0, abs=1e-9)


def test_a_shorter_path_bounds_the_offset() -> None:
    at = np.arange(0, 10 * SECOND, 10 * MS)
    long = Cloud(at, np.full(at.size, 50 * MS), at, np.full(at.size, -10 * MS))
    short = Cloud(at, np.full(at.size, 5 * MS), at, np.full(at.size, -5 * MS))
    clock = estimate([long, short])
    assert clock is not None
    assert (clock.offset_ns, clock.offset_uncertainty_ns) == (0, 5 * MS)


def test_one_direction_tells_no_offset() -> None:
    at = np.arange(3, dtype=np.int64)
    assert estimate([Cloud(at, at, at[:0], at[:0])]) is None


def _growing(at: np.ndarray, away_ns: float, back_ns: float, slope: float) -> Cloud:
    """Packets whose delays grow one way and shrink the other way, by clocks that agree."""
    growth = np.rint(slope * (at - at[0])).astype(np.int64)
    return Cloud(at, round(away_ns) + growth, at, growth - round(back_ns))


def _delays(cloud: Cloud, clock: Clock) -> tuple[float, float]:
    """The least delay of each direction that is left when the clocks are taken out."""
    away, back = (
        sign * (apart - clock.offset_ns - clock.drift * (at - clock.zero_ns))
        for sign, at, apart in (
            (1, cloud.forward_at_ns, cloud.forward_ns),
            (-1, cloud.backward_at_ns, cloud.backward_ns),
        )
    )
    return float(away.min()), float(back.min())


def test_no_delay_is_negative_where_one_subflow_seems_to_drift() -> None:
    """Queues of one subflow imitate 36 ppm, closely; the other, later one does not allow that."""
    first = np.arange(0, 10 * SECOND, 10 * MS)
    drifting = _growing(first, 0.1 * MS, 0.5 * MS, 36e-6)
    random = np.random.default_rng(5)
    later = np.arange(10 * SECOND, 40 * SECOND, 10 * MS)
    queue = random.exponential(5 * MS, (2, later.size)).astype(np.int64)
    steady = Cloud(later, MS // 10 + queue[0], later, -MS // 10 - queue[1])
    clock = estimate([drifting, steady])
    assert clock is not None
    assert (clock.drift, clock.consistent) == (0, True)
    assert abs(clock.offset_ns) <= clock.offset_uncertainty_ns
    assert clock.offset_uncertainty_ns > 1_000
    assert min(*_delays(drifting, clock), *_delays(steady, clock)) >= -1


def test_a_queue_that_grows_is_no_drift() -> None:
    at = np.arange(0, 100 * SECOND, 10 * MS)
    flat = np.full(at.size, -MS // 2)
    cloud = Cloud(at, MS // 2 + (36e-6 * at).astype(np.int64), at, flat)
    clock = estimate([cloud])
    assert clock is not None
    assert (clock.drift, clock.offset_ns) == (0, 0)
    # The interval that is told holds the truth.
    assert clock.drift_uncertainty >= 10e-6


def test_every_packet_bounds_the_line_and_not_the_least_of_its_neighbours() -> None:
    """A drift lifts the one that bounds it above earlier ones: it may not be left out for that."""
    at = np.arange(0, 4000 * SECOND, 100 * MS)
    line = np.rint(400e-6 * at).astype(np.int64)
    away = np.full(at.size, 10_000)
    away[20_005] = 0
    cloud = Cloud(at, line + away, at, line)
    clock = estimate([cloud])
    assert clock is not None
    assert clock.consistent
    assert min(_delays(cloud, clock)) >= -2
