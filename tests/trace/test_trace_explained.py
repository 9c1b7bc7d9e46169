"""`trace --explain`: accounts that sum up, and causes that were put into simulated runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mptcplab import trace
from mptcplab.cli.app import app
from mptcplab.engine import run
from mptcplab.scenario import loads
from mptcplab.trace.accounts import Account, accounts
from mptcplab.trace.causes import causes

RUNNER = CliRunner()
ROOMY = {"net.ipv4.tcp_rmem": "4096 4194304 67108864"}
CASES: Mapping[str, tuple[Mapping[str, Any], list[tuple[str, int | None]]]] = {
    "healthy": ({}, []),
    "window": (
        {"hosts.client.sysctls": {"net.ipv4.tcp_rmem": "4096 90000 90000"}},
        [("receive_buffer_too_small", None)],
    ),
    "join-stripped": (
        {"links.b.middleboxes": [{"strip-options": {"options": ["mp-join"]}}]},
        [("join_refused", 1)],
    ),
    "fallback": (
        {"links.a.middleboxes": [{"strip-options": {"options": ["mptcp"], "on": "syn"}}]},
        [("fallback", None)],
    ),
    "limits": ({"hosts.client.mptcp": {"limits": {"subflows": 0}}}, [("no_join", None)]),
    "loss": ({"links.b.loss": "5 %"}, [("loss", 1)]),
    "backup": ({"hosts.client.interfaces.b.backup": True}, [("backup", 1)]),
    "late": (
        {
            "hosts.client.interfaces.b": {"address_delay": "1 s"},
            "events": [
                {"at": "0 s", "interface": "client.b", "up": False},
                {"at": "1 ms", "interface": "client.b", "up": True},
            ],
        },
        [("late_subflow", 1)],
    ),
    "bufferbloat": ({"links.a.queue": "20 BDP"}, [("bufferbloat", 0)]),
}


_AT_THE_CLIENT = ("join-stripped", "fallback")
"""Beyond the middlebox there is nothing but TCP."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Captures of the server, the sender; where it is stripped of options, those of the client."""
    ends = ("client", "server")
    tree = {
        "hosts": {name: {"interfaces": {"a": {}, "b": {}}, "sysctls": {}} for name in ends},
        "links": {
            "a": {"between": ["client.a", "server.a"], "rate": "20 Mbit/s", "delay": "10 ms"},
            "b": {"between": ["client.b", "server.b"], "rate": "10 Mbit/s", "delay": "12 ms"},
        },
        "traffic": [{"bulk": {"from": "client", "to": "server", "duration": "2 s"}}],
        "variants": {
            name: {"set": {"hosts.client.sysctls": ROOMY, **values}}
            for name, (values, _) in CASES.items()
        },
    }
    tree["variants"]["bufferbloat"]["set"]["traffic.0.bulk.duration"] = "12 s"  # type: ignore[index]
    made = loads(json.dumps(tree))
    found = {}
    for name in CASES:
        folder = tmp_path_factory.mktemp(name) / "run"
        run(made, name, folder, engine="sim", captures=True)
        end = "client" if name in _AT_THE_CLIENT else "server"
        found[name] = sorted(str(file) for file in folder.glob(f"{end}-*.pcapng"))
    return found


def explained(files: list[str]) -> tuple[Account, list[tuple[str, int | None]]]:
    view = trace.view(trace.read(files, packets=False))
    (account,) = accounts(view)
    return account, [(one.name, one.subflow) for one in causes(account, view)]


@pytest.mark.parametrize("case", CASES)
def test_the_cause_is_told_and_the_time_sums_up(
    case: str, captures: Mapping[str, list[str]]
) -> None:
    account, found = explained(captures[case])
    assert found[:1] == CASES[case][1][:1]
    for times in (account.account_s, *(one.account_s for one in account.subflows)):
        assert sum(times.values()) == pytest.approx(account.duration_s)
    assert account.sender == "server"
    assert account.is_near_receiver == (case in _AT_THE_CLIENT)


def test_a_capture_at_the_receiver_says_what_it_does_not_see(
    captures: Mapping[str, list[str]],
) -> None:
    files = [file.replace("server-", "client-") for file in captures["window"]]
    account, found = explained(files)
    assert account.is_near_receiver
    assert "loss" not in [name for name, _ in found]
    shown = RUNNER.invoke(app, ["trace", "--explain", *files]).stdout
    assert "captured where its data arrives" in shown
    assert "Packets do not tell" in shown


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("path", ["a", "b"])
def test_an_interface_that_was_not_captured_is_no_join_that_was_not_made(
    end: str, path: str, captures: Mapping[str, list[str]]
) -> None:
    (one,) = [
        file.replace("server-", f"{end}-") for file in captures["healthy"] if f"-{path}." in file
    ]
    told = json.loads(RUNNER.invoke(app, ["trace", "--explain", "--json", one]).stdout)
    (cause, *_) = told["connections"][0]["causes"]
    assert cause["name"] == "not_captured"
    assert "went over subflows that the capture does not hold" in cause["evidence"][0]
    for more in ([], ["--account"]):
        told = json.loads(RUNNER.invoke(app, ["explain", one, "--json", *more]).stdout)
        assert told["connections"][0]["causes"][0]["name"] == "not_captured"
    told = json.loads(RUNNER.invoke(app, ["explain", one, "--json"]).stdout)
    assert told["fit"] is None
    assert told["untried"].endswith("give the captures of all interfaces of the host together")


def test_captures_of_all_interfaces_lack_nothing(
    captures: Mapping[str, list[str]],
) -> None:
    for case in CASES:
        shown = RUNNER.invoke(app, ["trace", "--explain", *captures[case]]).stdout
        assert "not_captured" not in shown, case


def test_a_long_round_trip_makes_no_loss_by_chance_of_full_queues(tmp_path: Path) -> None:
    interfaces: Mapping[str, Any] = {"interfaces": {"a": {}}}
    # Nothing is lost but by the queue; for a moment the path is long.
    tree = {
        "hosts": {"client": interfaces, "server": interfaces},
        "links": {"a": {"between": ["client.a", "server.a"], "rate": "12 Mbit/s", "delay": "3 ms"}},
        "traffic": [{"bulk": {"from": "client", "to": "server", "duration": "10 s"}}],
        "events": [
            {"at": at, "link": "a", "change": {"delay": delay}}
            for at, delay in (("5 s", "60 ms"), ("5.02 s", "3 ms"))
        ],
        "variants": {"mptcp": {}},
    }
    run(loads(json.dumps(tree)), "mptcp", tmp_path / "run", engine="sim", captures=True)
    account, found = explained([str(tmp_path / "run" / "server-a.pcapng")])
    (subflow,) = account.subflows
    assert subflow.recoveries > 10
    assert ("loss", 0) not in found


def test_explain_takes_a_capture(captures: Mapping[str, list[str]]) -> None:
    (one,) = [file for file in captures["fallback"] if file.endswith("client-a.pcapng")]
    asked = RUNNER.invoke(app, ["explain", one, "--json"])
    told = json.loads(asked.stdout)
    (connection,) = told["connections"]
    (cause,) = connection["causes"]
    assert cause["name"] == "fallback"
    assert cause["evidence"][0] == "fell back to TCP: syn_ack_without_mptcp"
    assert told["cannot_tell"]
    assert RUNNER.invoke(app, ["explain", one, "--prove"]).exit_code == 2


def test_a_range_of_time_and_another_output_are_refused(
    captures: Mapping[str, list[str]],
) -> None:
    for more, word in ((["--from", "1s"], "whole connections"), (["--events"], "in the place of")):
        refused = RUNNER.invoke(app, ["trace", "--explain", *captures["healthy"], *more])
        assert refused.exit_code == 1
        assert word in str(refused.exception or refused.stderr)


def test_causes_are_of_the_chosen_connection(
    captures: Mapping[str, list[str]], tmp_path: Path
) -> None:
    asked = ["trace", "--explain", *captures["loss"], "--connection", "1"]
    refused = RUNNER.invoke(app, asked)
    assert refused.exit_code == 1
    kept = tmp_path / "tables"
    RUNNER.invoke(app, ["trace", *captures["loss"], "--tables", str(kept)])
    shown = RUNNER.invoke(app, ["trace", "--explain", str(kept)])
    assert "loss (subflow 1)" in shown.stdout
