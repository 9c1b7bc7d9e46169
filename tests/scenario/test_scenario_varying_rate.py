import hashlib
import statistics
from typing import Any

import pytest

from mptcplab.engine.compile import compile_plan
from mptcplab.plan.link import TraceRate
from mptcplab.scenario import ScenarioError, loads
from mptcplab.scenario.mahimahi import mean_rate_bps, parse_trace
from mptcplab.scenario.varying_rate import VaryingRate, opportunities_ms

TEXT = """
hosts: {client: {interfaces: {lte: {}}}, server: {interfaces: {lan: {}}}}
links:
  lte:
    between: [client.lte, server.lan]
    trace: {varying: {mean: 30 Mbit/s, deviation: 10 Mbit/s}}
traffic: [{bulk: {from: client, to: server, duration: 10 s}}]
"""


def made(**values: Any) -> list[int]:
    return opportunities_ms(
        VaryingRate.model_validate({"mean": "30 Mbit/s", "deviation": "10 Mbit/s", **values})
    )


def test_a_trace_has_the_mean_rate_and_length_that_are_asked_for() -> None:
    times = made(length="30 s")
    assert times[-1] == 30_000
    assert mean_rate_bps(times) == pytest.approx(30e6, rel=1e-4)
    assert parse_trace("\n".join(map(str, times)), "made") == times


def test_the_rate_varies_as_asked_and_remembers_for_the_correlation_time() -> None:
    times = made(length="600 s")
    bins = [0] * 6000
    for time_ms in times:
        bins[(time_ms - 1) // 100] += 1
    rates = [count * 12_032 * 10 for count in bins]
    assert statistics.stdev(rates) == pytest.approx(10e6, rel=0.1)
    assert statistics.correlation(rates[:-10], rates[10:]) == pytest.approx(0.39, abs=0.1)
    assert statistics.correlation(rates[:-100], rates[100:]) == pytest.approx(0, abs=0.15)


def test_a_seed_makes_the_same_trace_everywhere_and_another_seed_another() -> None:
    digest = hashlib.sha256(str(made()).encode()).hexdigest()
    assert digest[:16] == "22a96276f3cb56d4"
    assert made(seed=2) != made()


def test_a_link_replays_what_is_made() -> None:
    plan = compile_plan(loads(TEXT), "mptcp", seed=1)
    up = plan.links[0].config.directions[0].rate
    assert isinstance(up, TraceRate)
    assert list(up.opportunities_ms) == made()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("mean: 30 Mbit/s, deviation: 30 Mbit/s", "deviation: must be below the mean"),
        ("mean: 30 Mbit/s", "deviation: missing"),
        (
            "mean: 30 Mbit/s, deviation: 1 Mbit/s, length: 1050 ms",
            "length: is a multiple of 100 ms",
        ),
        (
            "mean: 1 Gbit/s, deviation: 1 Mbit/s, length: 600 s",
            "length: 49867021 packets in all: a trace has 1 to 2000000",
        ),
    ],
)
def test_what_makes_no_trace_is_refused(values: str, message: str) -> None:
    text = TEXT.replace("mean: 30 Mbit/s, deviation: 10 Mbit/s", values)
    with pytest.raises(ScenarioError) as caught:
        loads(text)
    assert f"trace.varying.{message}" in str(caught.value)


def test_a_file_and_a_rate_that_varies_are_not_both_given() -> None:
    text = TEXT.replace("trace: {varying", "trace: {file: lte.trace, varying")
    with pytest.raises(ScenarioError, match="give one of file and varying"):
        loads(text)
