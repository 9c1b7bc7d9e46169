"""Remedies on the kernel engine, and what is left when an explanation is interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.explain.test_explain_runs import scenario

import mptcplab
from mptcplab.engine.choice import KERNEL, refusals
from mptcplab.explanation.kept import FILE, keep
from mptcplab.explanation.told import Change, Proof
from mptcplab.metrics.statistics import Estimate
from mptcplab.recording import Result
from mptcplab.report import report, to_html
from mptcplab.scenario import Scenario

PROGRAM = (sys.executable, "-m", "mptcplab")


def recorded(made: Scenario, folder: Path) -> Path:
    mptcplab.run(made, engine="sim", repeat=1, duration="1 s", out=folder, progress=False)
    return folder


def test_the_best_change_is_run_in_turn_with_none(tmp_path: Path) -> None:
    made = scenario({"wmem": "4096 16384 50000"})
    reasons = refusals(KERNEL, made, ["mptcp"])
    if reasons:
        pytest.skip(reasons[0].reason)
    folder = recorded(made, tmp_path / "out")
    asked = [*PROGRAM, "explain", str(folder), "--prove", "--json"]
    told = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    assert len(told["proofs"]) <= 2
    proof = told["proofs"][0]
    assert proof["change"] == told["remedies"][0]["change"]
    assert proof["after_mbps"]["mean"] - proof["before_mbps"]["mean"] == pytest.approx(
        proof["gain"]
    )
    assert proof["gain_ci95"][0] > 0
    assert told["unproven"] is None
    again = subprocess.run(asked, check=True, capture_output=True)
    assert json.loads(again.stdout) == told


PROOF = Proof(
    Change({"hosts.server.sysctl.net.ipv4.tcp_wmem": "4096 1048576 4194304"}, ()),
    Estimate((), 7.5, (7.0, 8.0)),
    Estimate((), 16.25, (16.0, 16.5)),
    Estimate((), 8.75, (8.0, 9.5)),
)
PROOF_WORDS = "makes 7.5 ± 0.5 Mbit/s 16.2 ± 0.2: a gain of 8.8 ± 0.8."


def test_proofs_that_are_kept_are_shown_again_everywhere(tmp_path: Path) -> None:
    folder = recorded(scenario({"wmem": "4096 16384 50000"}), tmp_path / "out")
    keep(folder, replace(mptcplab.explain(folder, remedies=False), proofs=[PROOF]))
    before = (folder / FILE).read_bytes()
    for words in (["explain", "--prove"], ["explain"], ["report"]):
        asked = [*PROGRAM, words[0], str(folder), *words[1:]]
        shown = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        assert PROOF_WORDS in " ".join(shown.split()), words
    assert PROOF_WORDS in to_html([report(Result.open(folder))])
    asked = [*PROGRAM, "report", str(folder), "--json"]
    why = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)["why"]
    assert why["proofs"][0]["after_mbps"] == {"mean": 16.25, "ci95": [16.0, 16.5]}
    assert (folder / FILE).read_bytes() == before


def test_an_explanation_that_cannot_be_kept_is_shown(tmp_path: Path) -> None:
    folder = recorded(scenario({"wmem": "4096 16384 50000"}), tmp_path / "out")
    # A folder has the name under which the file is prepared.
    (folder / f"{FILE}.part").mkdir()
    asked = [*PROGRAM, "explain", str(folder)]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert "The main cause: the send buffer is too small" in done.stdout
    assert done.stderr.startswith("not kept: ")
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / FILE).exists()


def test_what_the_kernel_engine_cannot_run_is_said_in_a_line(tmp_path: Path) -> None:
    tree = json.loads(scenario({"wmem": "4096 16384 50000"}).text)
    tree["hosts"]["server"]["mptcp"] = {"scheduler": "blest"}
    file = tmp_path / "made.yaml"
    file.write_text(json.dumps(tree))
    folder = recorded(mptcplab.load(file), tmp_path / "out")
    asked = [*PROGRAM, "explain", str(folder), "--prove"]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    assert "Nothing was run on the kernel engine: " in shown


def test_a_signal_leaves_nothing_of_the_trials(tmp_path: Path) -> None:
    folder = recorded(scenario({"wmem": "4096 16384 50000"}), tmp_path / "out")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    asked = [*PROGRAM, "explain", str(folder)]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        asked, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not any(temporary.glob("*/*")):
            time.sleep(0.02)
        running.send_signal(signal.SIGTERM)
        out, error = running.communicate()
    assert (out, error) == ("", "interrupted: nothing was explained\n")
    assert running.returncode == 130
    assert list(temporary.rglob("*")) == []
