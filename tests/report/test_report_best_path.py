"""The first sentence compares with the best path alone."""

from collections.abc import Mapping, Sequence

import pytest

from mptcplab.metrics import VariantMetrics
from mptcplab.metrics.comparison import PathEstimates
from mptcplab.metrics.statistics import estimate
from mptcplab.report.answer import answer


def variant(
    name: str, interface: str | None, figures: Mapping[str, Sequence[float]]
) -> VariantMetrics:
    """A variant of TCP over an interface, or one of MPTCP beside `a`, `b` and `c`."""
    one = estimate([1.0])
    paths = () if interface is None else (PathEstimates("client", interface, one, one, one),)
    return VariantMetrics(
        name=name,
        protocol="mptcp" if name.startswith("mptcp") else "tcp",
        runs=(),
        metrics={metric: estimate(samples) for metric, samples in figures.items()},
        paths=paths,
        plain=("a", "b", "c") if name.startswith("mptcp") else (),
        warnings=(),
    )


def answered(metric: str, ours: Sequence[float], *theirs: Sequence[float]) -> str:
    """The first sentence, with so many variants of TCP."""
    single = [
        variant(name, name, {metric: samples}) for name, samples in zip("abc", theirs, strict=False)
    ]
    mptcp = variant("mptcp", None, {metric: ours, "aggregation_benefit": [0.5]})
    known = tuple(one.name for one in single)
    told = VariantMetrics(**{**vars(mptcp), "plain": known})
    return answer([*single, told], [])[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "sentence"),
    [
        (
            [11.8],
            ([19.0], [3.81]),
            "mptcp was slower than the best path alone (a): 11.8 Mbit/s, 0.621 times 19.0 Mbit/s.",
        ),
        (
            [27.0],
            ([19.0], [9.0], [18.0]),
            "mptcp was faster than the best path alone (a): 27.0 Mbit/s, 1.42 times 19.0 Mbit/s.",
        ),
        ([27.0], ([18.0],), "mptcp was faster than a: 27.0 Mbit/s, 1.50 times 18.0 Mbit/s."),
        (
            [19.01],
            ([3.81], [19.0]),
            "mptcp was as fast as the best path alone (b): 19.0 Mbit/s, 1.00 times 19.0 Mbit/s.",
        ),
        ([27.0], (), "mptcp carried 27.0 Mbit/s."),
        (
            [11.0, 12.6],
            ([18.99, 19.01], [3.8, 3.8]),
            "mptcp is not to be told apart from the best path alone (a), as their intervals "
            "overlap: 11.8 ± 10.2 Mbit/s, 0.621 times 19.0 ± 0.1 Mbit/s.",
        ),
        (
            [11.7, 11.9],
            ([19.0, 19.0],),
            "mptcp was slower than a: 11.8 ± 1.3 Mbit/s, 0.621 times 19.0 ± 0.0 Mbit/s.",
        ),
    ],
)
def test_goodput(ours: Sequence[float], theirs: Sequence[Sequence[float]], sentence: str) -> None:
    assert answered("goodput", ours, *theirs) == sentence


def test_the_sum_of_the_paths_comes_second() -> None:
    single = [variant(name, name, {"goodput": [rate]}) for name, rate in (("a", 19.0), ("b", 3.8))]
    mptcp = variant("mptcp", None, {"goodput": [11.4], "aggregation_benefit": [-0.4]})
    told = VariantMetrics(**{**vars(mptcp), "plain": ("a", "b")})
    assert answer([*single, told], [])[1] == (
        "That is 50.0 % of the sum of the single paths (a 19.0, b 3.80)."
    )


def test_of_times_less_is_better() -> None:
    assert answered("completion_s", [1.29], [1.73], [3.54]) == (
        "mptcp was faster than the best path alone (a): 1.29 s, 0.746 times 1.73 s."
    )
    assert answered("completion_s", [5.2], [2.11]) == (
        "mptcp was slower than a: 5.20 s, 2.46 times 2.11 s."
    )
    assert answered("completion_s", [5.2]) == "A transfer over mptcp took 5.20 s."
    assert answered("latency_s", [0.1745], [0.0734], [0.2]) == (
        "Answers with mptcp came later than with the best path alone (a): 174.5 ms, 2.38 times "
        "73.4 ms."
    )
    assert answered("latency_s", [0.0683], [0.0734]) == (
        "Answers with mptcp came sooner than with a: 68.3 ms, 0.931 times 73.4 ms."
    )


def test_the_latency_is_told_beside_the_goodput() -> None:
    figures = {"goodput": [20.0], "latency_s": [0.02]}
    single = variant("a", "a", {"goodput": [10.0], "latency_s": [0.01]})
    told = VariantMetrics(**{**vars(variant("mptcp", None, figures)), "plain": ("a",)})
    assert answer([single, told], [])[:2] == (
        "mptcp was faster than a: 20.0 Mbit/s, 2.00 times 10.0 Mbit/s.",
        "Answers with mptcp came later than with a: 20.0 ms, 2.00 times 10.0 ms.",
    )


def test_of_many_variants_without_one_of_tcp_beside_them_the_table_tells() -> None:
    several = [variant(f"mptcp-{number}", None, {"goodput": [9.0]}) for number in range(13)]
    told = [VariantMetrics(**{**vars(one), "plain": ()}) for one in several]
    assert answer(told, []) == ()
    assert len(answer(told[:12], [])) == 12
    single = variant("a", "a", {"goodput": [10.0]})
    beside = VariantMetrics(**{**vars(several[0]), "plain": ("a",)})
    assert len(answer([single, beside, *told[1:]], [])) == 1
