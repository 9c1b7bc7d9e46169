"""Explanations in reports: kept in the result's folder, on its page, in the terminal, as JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.explain.test_explain_runs import scenario

import mptcplab
from mptcplab.explanation.kept import FILE, kept
from mptcplab.explanation.told import Explanation
from mptcplab.recording import RecordingError, Result
from mptcplab.report import report, to_html

PROGRAM = (sys.executable, "-m", "mptcplab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with too small a send buffer, explained as it was run."""
    base = tmp_path_factory.mktemp("explained")
    file = base / "made.yaml"
    file.write_text(scenario({"wmem": "4096 16384 50000"}).text)
    out = base / "out"
    asked = [*PROGRAM, "run", str(file), "--engine", "sim", "--repeat", "1", "--out", str(out)]
    subprocess.run([*asked, "--explain"], check=True, capture_output=True)
    return out


def test_a_run_keeps_its_explanation_as_json(folder: Path) -> None:
    text = json.loads((folder / FILE).read_text())
    assert text.pop("format") == 1
    told = kept(folder)
    assert told is not None
    assert told.causes[0].name == "send_buffer_too_small"
    assert told.to_json() == text


def test_the_page_is_made_from_what_is_kept(folder: Path) -> None:
    page = to_html([report(Result.open(folder))])
    (section,) = page.split('id="result-1-why"')[1:]
    why = section.split("<h2")[0]
    assert "the send buffer is too small" in why
    assert "sysctl -w net.ipv4.tcp_wmem=&#34;4096 1048576 4194304&#34;  # server" in why
    assert "<td>send_buffer_limited</td>" in why


def test_the_terminal_has_three_sentences_and_json_all(folder: Path) -> None:
    asked = [*PROGRAM, "report", str(folder)]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    assert shown.count("The main cause: the send buffer is too small") == 1
    before = (folder / FILE).read_bytes()
    asked += ["--explain", "--json"]
    why = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)["why"]
    assert why["causes"][0]["name"] == "send_buffer_too_small"
    assert (folder / FILE).read_bytes() == before


def test_a_whole_explanation_is_kept_and_shown_again(folder: Path) -> None:
    before = (folder / FILE).read_bytes()
    asked = [*PROGRAM, "explain", str(folder)]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert "The main cause: the send buffer is too small" in done.stdout
    assert done.stderr == f"kept in {folder / FILE}: delete it to explain anew\n"
    done = subprocess.run([*asked, "--account"], check=True, capture_output=True, text=True)
    assert "Nothing was tried: only the account was asked for." in done.stdout
    assert (folder / FILE).read_bytes() == before


def test_a_result_without_an_explanation_has_no_such_section(tmp_path: Path) -> None:
    made = mptcplab.run(scenario(), engine="sim", repeat=1, out=tmp_path / "out", progress=False)
    assert "result-1-why" not in to_html([report(made)])


def test_python_explains_results_recordings_and_folders(folder: Path) -> None:
    result = mptcplab.open(folder)
    of_all = [mptcplab.explain(one, remedies=False) for one in (result, result["mptcp"][0], folder)]
    assert [one.causes[0].name for one in of_all] == ["send_buffer_too_small"] * 3
    assert of_all[0] == of_all[1] == of_all[2]
    assert isinstance(of_all[0], mptcplab.Explanation)
    assert not of_all[0].were_remedies_tried


@pytest.mark.parametrize("text", ['{"format": 1}', "[]", "{", '{"format": 2}'])
def test_a_damaged_explanation_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(
        RecordingError, match=r"explanation\.json: is damaged: delete it"
    ) as refused:
        kept(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


def test_an_explanation_survives_json(folder: Path) -> None:
    told = mptcplab.explain(folder, remedies=False)
    assert Explanation.from_json(told.to_json()).to_json() == told.to_json()
