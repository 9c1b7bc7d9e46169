"""Scenarios fitted to captures of runs whose network is known."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mptcplab.engine import run
from mptcplab.fit import Fit, FitError, fitted
from mptcplab.scenario import loads
from mptcplab.trace import read, view

PROGRAM = (sys.executable, "-m", "mptcplab")
RATES_MBPS, DELAYS_MS = (24.0, 9.0), (8.0, 30.0)


def tree(**changes: Any) -> dict[str, Any]:
    """Two unequal paths and a download over both."""
    interfaces: dict[str, Any] = {"a": {}, "b": {}}
    made = {
        "name": "known",
        "hosts": {
            "client": {"interfaces": interfaces},
            "server": {"interfaces": {"a": {}, "b": {}}},
        },
        "links": {
            name: {
                "between": [f"client.{name}", f"server.{name}"],
                "rate": f"{rate} Mbit/s",
                "delay": f"{delay} ms",
            }
            for name, rate, delay in zip("ab", RATES_MBPS, DELAYS_MS, strict=True)
        },
        "traffic": [
            {"bulk": {"from": "client", "to": "server", "direction": "down", "duration": "5 s"}}
        ],
        "variants": {"mptcp": {"protocol": "mptcp"}, "tcp": {"protocol": "tcp", "via": "a"}},
    }
    return made | changes


def captured(made: dict[str, Any], folder: Path, variant: str = "mptcp") -> Path:
    run(loads(json.dumps(made), "known"), variant, folder, seed=3, engine="sim", captures=True)
    return folder


def files(folder: Path, host: str) -> Sequence[str]:
    return sorted(str(file) for file in folder.glob(f"{host}-*.pcapng"))


def fit(folder: Path, host: str, *, remedies: bool = False) -> Fit:
    with read(files(folder, host)) as trace:
        return fitted(view(trace), remedies=remedies)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tree(), tmp_path_factory.mktemp("known") / "run")


@pytest.mark.parametrize("host", ["server", "client"])
def test_the_paths_of_a_capture_are_those_of_its_network(folder: Path, host: str) -> None:
    found = fit(folder, host)
    for path, rate, delay in zip(found.paths, RATES_MBPS, DELAYS_MS, strict=True):
        assert path.rate_mbps == pytest.approx(rate, rel=0.05)
        assert path.delay_ms == pytest.approx(delay, rel=0.05)
        assert path.loss < 0.001
        assert not path.backup
        assert path.joined_after_s is None
    assert abs(found.goodput.part) < 0.15
    compared = {(one.figure, one.path) for one in found.deviations}
    of_paths = {(figure, path) for figure in ("carried_mbps", "rtt_ms") for path in ("p0", "p1")}
    assert compared == {("goodput_mbps", None), *of_paths}


def test_loss_by_chance_a_late_address_and_a_backup_are_fitted(tmp_path: Path) -> None:
    made = tree()
    made["links"]["a"]["loss"] = "0.5 %"
    made["hosts"]["client"]["interfaces"]["b"] = {"address_delay": "1500 ms"}
    made["events"] = [
        {"at": "0 s", "interface": "client.b", "up": False},
        {"at": "1 ms", "interface": "client.b", "up": True},
    ]
    first, second = fit(captured(made, tmp_path / "late"), "server").paths
    assert 0.0025 < first.loss < 0.01
    assert second.joined_after_s == pytest.approx(1.5, abs=0.2)
    made = tree()
    made["hosts"]["client"]["interfaces"]["b"] = {"backup": True}
    found = fit(captured(made, tmp_path / "backup"), "server")
    # A backup that carried nothing has no rate that could be told.
    assert [path.name for path in found.paths] == ["p0"]
    assert abs(found.goodput.part) < 0.1


def test_the_fitted_scenario_can_be_read_and_run(folder: Path, tmp_path: Path) -> None:
    text = fit(folder, "server").to_json()["scenario"]
    recording = run(loads(text, "again"), "mptcp", tmp_path / "again", engine="sim")
    (transfer,) = recording.rows("transfers", ("bytes", "error", "joins"))
    assert transfer["error"] is None
    assert transfer["joins"] == 1


def test_a_window_that_is_too_small_is_fitted_and_more_of_it_helps(tmp_path: Path) -> None:
    made = tree()
    made["hosts"]["client"]["sysctls"] = {"net.ipv4.tcp_rmem": "4096 60000 60000"}
    made["traffic"][0]["bulk"]["duration"] = "3 s"
    captured(made, tmp_path / "run")
    found = fit(tmp_path / "run", "server", remedies=True)
    assert abs(found.goodput.part) < 0.25
    best = found.remedies[0]
    assert "net.ipv4.tcp_rmem" in json.dumps(dict(best.change.values))
    assert best.gain.ci95 is not None
    assert best.gain.ci95[0] > 0
    assert best.change.stock_kernel


def test_a_connection_of_tcp_cannot_be_fitted(tmp_path: Path) -> None:
    captured(tree(), tmp_path / "tcp", "tcp")
    with pytest.raises(FitError, match="no connection was over MPTCP to its end"):
        fit(tmp_path / "tcp", "server")


def test_the_command_tells_fit_and_changes_as_json(folder: Path) -> None:
    asked = [*PROGRAM, "explain", *files(folder, "server"), "--json"]
    told = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    assert told["connections"][0]["sender"] == "server"
    assert [path["path"] for path in told["fit"]["paths"]] == ["p0", "p1"]
    assert told["fit"]["deviations"][0]["figure"] == "goodput_mbps"
    assert told["remedies_tried"]
    assert told["untried"] is None
    gains = [one["gain"] for one in told["remedies"]]
    assert gains == sorted(gains, reverse=True)
    assert not any("changes would gain" in one for one in told["cannot_tell"])


def test_the_command_without_changes_and_without_a_fit(folder: Path, tmp_path: Path) -> None:
    asked = [*PROGRAM, "explain", *files(folder, "server")]
    shown = subprocess.run([*asked, "--no-remedies"], check=True, capture_output=True, text=True)
    words = " ".join(shown.stdout.split())
    assert "A scenario fitted to connection 0 fits: it carries " in words
    assert "helps" not in words
    shown = subprocess.run([*asked, "--account"], check=True, capture_output=True, text=True)
    assert "fitted" not in shown.stdout
    captured(tree(), tmp_path / "tcp", "tcp")
    asked = [*PROGRAM, "explain", *files(tmp_path / "tcp", "server")]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert "Nothing was tried: no connection was over MPTCP to its end" in shown.stdout


def test_what_does_not_go_with_captures_is_told_in_a_line(folder: Path) -> None:
    own = files(folder, "server")
    for words, why in (
        ([own[0], "--prove"], "--prove and --against are of results: take them out"),
        ([own[0], "--against", "tcp"], "--prove and --against are of results"),
        ([own[0], str(folder)], "is a folder: give one RUN, or captures alone"),
        ([__file__], "test_fit_captures.py"),
    ):
        asked = [*PROGRAM, "explain", *words]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert told.returncode != 0
        assert why in " ".join(told.stderr.replace("│", " ").split()), told.stderr
        assert "Traceback" not in told.stderr
