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
