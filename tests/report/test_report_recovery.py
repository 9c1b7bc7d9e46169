"""How a report tells of repetitions that never recovered."""

import pytest

from mptcplab.metrics import Estimate, VariantMetrics
from mptcplab.report.answer import answer
from mptcplab.report.numbers import estimate_shown

CASES = [
    ((0.5, None, None), "recovered in 1 of 3", "in only 1 of 3 repetitions"),
    ((None, None), "not recovered", "did not recover"),
]


@pytest.mark.parametrize(("samples", "cell", "sentence"), CASES)
def test_how_many_recovered_is_told_in_place_of_a_mean(
    samples: tuple[float | None, ...], cell: str, sentence: str
) -> None:
    never = Estimate(samples, None, None)
    assert estimate_shown("recovery_s", never) == cell
    mptcp = VariantMetrics("mptcp", "mptcp", (), {"recovery_s": never}, (), (), ())
    assert sentence in " ".join(answer([mptcp], []))
