"""Explanations of runs in virtual time, each with one cause that was put in."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mptcplab.engine import run
from mptcplab.explanation import explain_recording
from mptcplab.explanation.account import account
from mptcplab.explanation.changes import Changes, changed
from mptcplab.explanation.observed import Observed
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, for_variant, loads

ROOMY = "4096 4194304 67108864"


def scenario(
    hosts: Mapping[str, Any] | None = None, links: Mapping[str, Any] | None = None
) -> Scenario:
    """Two paths and buffers that limit nothing, but for what is given."""
    own, more = hosts or {}, links or {}
    tree = {
        "hosts": {
            "client": {
                "interfaces": {"a": {}, "b": own.get("b", {})},
                "sysctls": {"net.ipv4.tcp_rmem": own.get("rmem", ROOMY)},
            },
            "server": {
                "interfaces": {"a": {}, "b": {}},
                "sysctls": {"net.ipv4.tcp_wmem": own.get("wmem", ROOMY)},
            },
        },
        "links": {
            "a": {"between": ["client.a", "server.a"], "rate": "20 Mbit/s", "delay": "20 ms"},
            "b": {"between": ["client.b", "server.b"], "rate": "10 Mbit/s", "delay": "25 ms"}
            | dict(more),
        },
        "traffic": [
            {"bulk": {"from": "client", "to": "server", "duration": "3 s", **own.get("bulk", {})}}
        ],
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }
    return loads(json.dumps(tree))


def recorded(made: Scenario, folder: Path) -> Recording:
    return run(made, "mptcp", folder, engine="sim")


CASES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], tuple[str, str | None] | None]] = {
    "healthy": ({}, {}, None),
    "send-buffer": ({"wmem": "4096 16384 50000"}, {}, ("send_buffer_too_small", None)),
    "receive-buffer": ({"rmem": "4096 90000 90000"}, {}, ("receive_buffer_too_small", None)),
    "backup": ({"b": {"backup": True}}, {}, ("backup", "b")),
    "application": ({"bulk": {"rate": "5 Mbit/s"}}, {}, ("application_limited", None)),
    "stripped": (
        {},
        {"middleboxes": [{"strip-options": {"options": ["mptcp"], "on": "syn"}}]},
        ("join_refused", "b"),
    ),
    "loss": ({}, {"loss": "3 %"}, ("loss", "b")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_first_cause_is_the_one_that_was_put_in(case: str, tmp_path: Path) -> None:
    hosts, links, expected = CASES[case]
    made = scenario(hosts, links)
    told = explain_recording(recorded(made, tmp_path / "run"), made, remedies=False)
    found = [(cause.name, cause.path) for cause in told.causes]
    assert found[:1] == ([] if expected is None else [expected])
    for one in told.connections:
        for times in (one.account_s, *one.paths.values()):
            assert sum(times.values()) == pytest.approx(one.duration_s)


def test_a_scenario_that_names_no_variants_is_tried_too(tmp_path: Path) -> None:
    tree = json.loads(scenario({"wmem": "4096 16384 50000"}).text)
    del tree["variants"]
    made = loads(json.dumps(tree))
    told = explain_recording(recorded(made, tmp_path / "run"), made)
    assert told.refused == []
    assert told.causes[0].name == "send_buffer_too_small"
    assert told.causes[0].cost_mbps
    assert told.remedies


def test_waiting_that_no_recording_shows_is_told_by_trials_alone(tmp_path: Path) -> None:
    tree = json.loads(scenario().text)
    # A passive path manager takes no backups, so that the change cannot be tried.
    tree["hosts"]["client"]["mptcp"] = {"path_manager": "application"}
    tree["traffic"][0]["bulk"]["subflows"] = "client.b"
    tree["links"]["b"]["delay"] = "60 ms"
    made = loads(json.dumps(tree))
    told = explain_recording(recorded(made, tmp_path / "run"), made, remedies=False)
    assert any("backup" in path for one in told.refused for path in one.change.values)
    assert "head_of_line_blocking" not in [one.name for one in told.causes]


def test_a_remedy_is_a_change_that_the_scenario_takes(tmp_path: Path) -> None:
    made = scenario({"wmem": "4096 16384 50000"})
    observed = Observed(recorded(made, tmp_path / "run"))
    found = list(Changes(made, "mptcp", observed.plan, observed.connections[0]).remedies())
    assert len(found) > 10
    for change in found:
        variant = for_variant(changed(made, "mptcp", change), "mptcp")
        assert variant.provenance.tree != made.provenance.tree


def test_what_limits_is_in_the_account(tmp_path: Path) -> None:
    shares = {}
    for case in ("send-buffer", "receive-buffer", "application"):
        observed = Observed(recorded(scenario(CASES[case][0]), tmp_path / case))
        times = account(observed, observed.connections[0])
        shares[case] = times
    assert shares["send-buffer"].share("send_buffer_limited", "waiting_for_path") > 0.5
    assert shares["receive-buffer"].share("receive_window_limited") > 0.3
    assert shares["application"].share("application_limited") > 0.5


def test_the_command_tells_the_cause_and_what_helps_as_json(tmp_path: Path) -> None:
    made = scenario({"wmem": "4096 16384 50000"})
    file = tmp_path / "made.yaml"
    file.write_text(made.text)
    folder = tmp_path / "out"
    program = [sys.executable, "-m", "mptcplab"]
    asked = [*program, "run", str(file), "--engine", "sim", "--repeat", "1", "--out", str(folder)]
    subprocess.run(asked, check=True, capture_output=True)
    asked = [*program, "explain", str(folder), "--json"]
    told = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    assert told["causes"][0]["name"] == "send_buffer_too_small"
    best = told["remedies"][0]
    assert "net.ipv4.tcp_wmem" in best["change"]["hosts.server.sysctls"]
    assert best["settings"] == ['sysctl -w net.ipv4.tcp_wmem="4096 1048576 4194304"  # server']
    assert best["stock_kernel"] is True
    assert best["gain"] > 0
    (connection,) = told["connections"]
    assert sum(connection["account_s"].values()) == pytest.approx(connection["duration_s"])


def test_a_folder_without_mptcp_is_refused_in_one_line(tmp_path: Path) -> None:
    tree = json.loads(scenario().text)
    tree["traffic"][0]["bulk"]["duration"] = "0.2 s"
    tree["variants"] = {"tcp": {"protocol": "tcp", "via": "a"}}
    file = tmp_path / "made.yaml"
    file.write_text(json.dumps(tree))
    folder = tmp_path / "out"
    program = [sys.executable, "-m", "mptcplab"]
    asked = [*program, "run", str(file), "--engine", "sim", "--repeat", "1", "--out", str(folder)]
    subprocess.run(asked, check=True, capture_output=True)
    asked = [*program, "explain", str(folder)]
    refused = subprocess.run(asked, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert "has no recording of a variant over MPTCP" in line
