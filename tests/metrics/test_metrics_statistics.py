import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.metrics.statistics import estimate, jain_index, percentile, student_t, variance


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (9, 2.2622),
        (10, 2.2281),
        (30, 2.0423),
        (99, 1.9842),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(freedom: int, quantile: float) -> None:
    assert student_t(0.975, freedom) == pytest.approx(quantile, abs=5e-5)


def test_the_quantile_of_one_degree_of_freedom_is_a_tangent() -> None:
    assert student_t(0.9, 1) == pytest.approx(math.tan(math.pi * 0.4), rel=1e-9)


def test_the_interval_is_the_mean_and_t_standard_errors() -> None:
    figure = estimate([9.0, 10.0, 11.0])
    assert figure.mean == 10
    assert figure.ci95 is not None
    low, high = figure.ci95
    assert (low, high) == pytest.approx(
        (10 - 4.302653 / math.sqrt(3), 10 + 4.302653 / math.sqrt(3))
    )
    assert figure.half_width == pytest.approx(4.302653 / math.sqrt(3))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.sampled_from([0.0, 1e9]))
def test_the_variance_is_that_of_fractions(values: list[float], far: float) -> None:
    moved = [value + far for value in values]
    # A mean far from zero leaves its rounding alone.
    rounding = (math.ulp(max(map(abs, moved))) * len(moved)) ** 2
    assert variance(moved) == pytest.approx(statistics.variance(moved), rel=1e-9, abs=rounding)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e100, -7.3])
def test_samples_that_are_all_the_same_do_not_vary(value: float) -> None:
    for count in range(2, 12):
        assert variance([value] * count) == pytest.approx(0, abs=(math.ulp(value) * 2) ** 2)


def test_one_sample_has_no_interval_and_unknown_samples_do_not_count() -> None:
    figure = estimate([None, 5.0])
    assert (figure.mean, figure.ci95, figure.known, figure.samples) == (5.0, None, 1, (None, 5.0))
    assert estimate([None]).mean is None
    assert estimate([]).mean is None


def test_percentiles_interpolate_between_the_neighbours() -> None:
    values = [40.0, 10.0, 30.0, 20.0]
    assert percentile(values, 50) == 25
    assert percentile(values, 0) == 10
    assert percentile(values, 100) == 40
    assert percentile(values, 90) == pytest.approx(37)
    assert percentile([], 50) is None


def test_jain_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert jain_index([5, 5, 5]) == 1
    assert jain_index([1, 0, 0, 0]) == 0.25
    assert jain_index([1, 2]) == pytest.approx(0.9)
    assert jain_index([5]) is None
    assert jain_index([0, 0]) is None
