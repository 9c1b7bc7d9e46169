import pytest

from mptcplab.metrics.benefit import aggregation_benefit, delay_benefit


@pytest.mark.parametrize(
    ("goodput", "single", "benefit"),
    [
        (140.0, [40.0, 100.0], 1.0),
        (100.0, [40.0, 100.0], 0.0),
        (120.0, [40.0, 100.0], 0.5),
        (160.0, [40.0, 100.0], 1.5),
        (50.0, [40.0, 100.0], -0.5),
        (0.0, [40.0, 100.0], -1.0),
        (120.0, [100.0], None),
        (120.0, [100.0, 0.0], None),
        (120.0, [100.0, None], None),
        (None, [40.0, 100.0], None),
    ],
)
def test_aggregation_benefit(
    goodput: float | None, single: list[float | None], benefit: float | None
) -> None:
    assert aggregation_benefit(goodput, single) == benefit


@pytest.mark.parametrize(
    ("time", "single", "benefit"),
    [
        (2.0, [2.0, 2.0], 0.0),
        (1.0, [2.0, 2.0], 1.0),
        (1.5, [2.0, 2.0], 0.5),
        (4.0, [2.0, 6.0], -0.5),
        (1.0, [2.0], None),
        (None, [2.0, 2.0], None),
    ],
)
def test_delay_benefit(
    time: float | None, single: list[float | None], benefit: float | None
) -> None:
    assert delay_benefit(time, single) == benefit


@pytest.mark.parametrize(
    ("goodput", "at_once", "benefit"),
    [
        # Both of 100 alone, 150 together.
        (150.0, 150.0, 1.0),
        (125.0, 150.0, 0.5),
        (50.0, 150.0, -0.5),
        # Never above the sum.
        (150.0, 250.0, 0.5),
        # A common bottleneck: nothing to gain.
        (110.0, 101.0, 0.0),
        (100.0, 95.0, 0.0),
        (50.0, 101.0, -0.5),
    ],
)
def test_what_paths_carry_at_once_bounds_the_aggregation_benefit(
    goodput: float, at_once: float, benefit: float
) -> None:
    assert aggregation_benefit(goodput, [100.0, 100.0], at_once) == pytest.approx(benefit)


@pytest.mark.parametrize(
    ("time", "at_once", "benefit"),
    [
        # Both of 2 s alone: 1 s where they are disjoint.
        (1.5, 1.5, 1.0),
        (1.75, 1.5, 0.5),
        (4.0, 1.5, -0.5),
        (1.0, 0.5, 1.0),
        (1.9, 1.95, 0.0),
        (4.0, 2.0, -0.5),
    ],
)
def test_what_paths_deliver_at_once_bounds_the_delay_benefit(
    time: float, at_once: float, benefit: float
) -> None:
    assert delay_benefit(time, [2.0, 2.0], at_once) == pytest.approx(benefit)
