"""The JSON output: its keys are those of docs/json.md, its figures those of the metrics."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.sample import sample

from mptcplab.metrics.statistics import Estimate
from mptcplab.recording.result import Change
from mptcplab.report import report, side_by_side, to_json
from mptcplab.report.json import _estimate

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
OPEN_OBJECTS = {"variants[].metrics", "made_with"}
ESTIMATES = {"variants[].goodput_mbps", "variants[].completion_s", "reference[].ours"} | {
    "beside.metrics[].ours",
    "beside.metrics[].theirs",
}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("json")
    reports = [
        report(sample(folder / "kernel")),
        report(sample(folder / "sim", engine="sim", wifi_mbps=80)),
    ]
    (pair,) = side_by_side(reports)
    change = Change(path="links.wifi.delay", own="1 ms", here="20 ms")
    scenario = reports[0].description.scenario.model_copy(update={"changes": (change,)})
    described = reports[0].description.model_copy(update={"scenario": scenario})
    reports[0] = replace(reports[0], description=described)
    return to_json(reports[0]) | {"beside": to_json(reports[1], pair)["beside"]}


def keys(value: object, place: str = "") -> Iterator[str]:
    if isinstance(value, dict) and place not in OPEN_OBJECTS | ESTIMATES:
        for key, inner in value.items():
            here = f"{place}.{key}" if place else key
            yield here
            yield from keys(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{place}[]")


def test_every_key_is_documented_and_every_documented_key_is_there(output: dict[str, Any]) -> None:
    rows = [
        line.split("`")[1]
        for line in DOCUMENT.read_text().partition("## A sweep")[0].splitlines()
        if line[:3] == "| `"
    ]
    lists = ("variants[].commands[].", "variants[].flow_entries[].")
    elsewhere = {row for row in rows if row.startswith(lists)}
    assert set(keys(output)) == set(rows) - {"mean", "ci95", "samples"} - elsewhere
    assert set(output["variants"][0]["goodput_mbps"]) == {"mean", "ci95", "samples"}


def test_the_figures_are_those_of_the_metrics(output: dict[str, Any]) -> None:
    assert output["scenario"] == "test/hand"
    assert output["folder"].endswith("/kernel")
    assert output["changes"] == [{"path": "links.wifi.delay", "own": "1 ms", "here": "20 ms"}]
    assert [(v["name"], v["protocol"]) for v in output["variants"]] == [
        ("tcp-wifi", "tcp"),
        ("tcp-eth", "tcp"),
        ("mptcp", "mptcp"),
    ]
    mptcp = output["variants"][2]
    # 15 of 20 s at 90 Mbit/s are 67.5, WiFi carries 41, 42 and 43.
    assert mptcp["goodput_mbps"]["samples"] == [108.5, 109.5, 110.5]
    assert mptcp["goodput_mbps"]["mean"] == 109.5
    low, high = mptcp["goodput_mbps"]["ci95"]
    assert (low, high) == pytest.approx((109.5 - 2.4841, 109.5 + 2.4841), abs=1e-4)
    assert [path["interface"] for path in mptcp["paths"]] == ["wifi", "eth"]
    assert [path["goodput_mbps"] for path in mptcp["paths"]] == pytest.approx([42.0, 67.5])
    assert sum(path["share"] for path in mptcp["paths"]) == pytest.approx(1)
    assert mptcp["completion_s"] is None
    assert mptcp["metrics"]["aggregation_benefit"]["mean"] == pytest.approx(1)
    assert mptcp["metrics"]["recovery_s.eth"]["mean"] == pytest.approx(1)


def test_findings_are_true_false_or_null(output: dict[str, Any]) -> None:
    assert [verdict["held"] for verdict in output["expectations"]] == [True, False, None]
    assert output["expectations"][0]["sides"] == [
        {"left": 109.5, "sign": ">=", "right": pytest.approx(0.95 * 109.5)}
    ]
    assert output["expectations"][2]["reason"] == "mptcp.completion_s has no value"


def test_the_documents_figures_stand_beside_ours(output: dict[str, Any]) -> None:
    goodput, recovery = output["reference"]
    assert (goodput["theirs"], goodput["unit"], goodput["ours"]["mean"]) == (146, "Mbit/s", 109.5)
    assert (recovery["theirs"], recovery["note"]) == (15, "table 6.4")


def test_what_is_not_a_number_is_null(output: dict[str, Any]) -> None:
    json.dumps(output, allow_nan=False)
    figure = Estimate((math.nan, 1.0), math.inf, (math.nan, math.inf))
    assert _estimate(figure) == {"mean": None, "ci95": [None, None], "samples": [None, 1.0]}
