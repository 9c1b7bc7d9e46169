"""Explanations in reports: kept in the result's folder, on its page, in the terminal, as JSON."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.explain.test_explain_runs import scenario

import mptcplab
from mptcplab.explanation.kept import FILE, kept
from mptcplab.explanation.told import Cause, Change, ConnectionAccount, Explanation, Remedy
from mptcplab.explanation.words import best_words, commands, sentences
from mptcplab.metrics.statistics import Estimate
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


def test_a_recording_in_a_result_explains_itself(folder: Path) -> None:
    before = (folder / FILE).read_bytes()
    asked = [*PROGRAM, "explain", str(folder / "mptcp/1"), "--no-remedies"]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert "The main cause: the send buffer is too small" in done.stdout
    assert (folder / FILE).read_bytes() == before
    assert not (folder / "mptcp/1" / FILE).exists()
    asked = [*PROGRAM, "explain", str(folder / "mptcp/1"), "--account", "--against", "mptcp"]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("mptcp carried ")


def remedy(name: str, settings: list[str], *, stock: bool) -> Remedy:
    change = Change({f"hosts.server.{name}": 1}, settings, stock)
    return Remedy(change, Estimate((), 36.0, (35.0, 37.0)), Estimate((), 20.0, (19.0, 21.0)))


def test_commands_of_patched_kernels_are_told_as_such() -> None:
    patched = remedy("scheduler", ["sysctl -w net.mptcp.scheduler=ecf  # server"], stock=False)
    able = remedy("buffer", ['sysctl -w net.ipv4.tcp_wmem="1 2 3"  # server'], stock=True)
    assert commands([able, patched]) == able.change.settings
    assert commands([patched, able]) == [
        "# the best; no stock kernel can do it:",
        "sysctl -w net.mptcp.scheduler=ecf  # server",
        "# the best that a stock kernel can do:",
        'sysctl -w net.ipv4.tcp_wmem="1 2 3"  # server',
    ]
    assert commands([patched])[0] == "# the best; no stock kernel can do it:"


def test_the_best_change_is_told_beside_the_same_seeds_without_it() -> None:
    told = best_words(remedy("buffer", [], stock=True))
    assert "where it carries 16 Mbit/s on average" in told
    assert told.endswith("makes that 36.")


def test_a_cause_that_was_not_tried_is_not_told_as_the_main_one() -> None:
    untried = Cause("loss", "b", ["8 of 13613 packets lost by chance (0.06%)"], None, None, 1.0)
    told = sentences(Explanation("mptcp", 1, 26.5, (), [untried]))
    assert told[1].startswith("A cause that could not be tried: packets are lost by chance")
    weighed = replace(untried, cost_mbps=21.7)
    told = sentences(Explanation("mptcp", 1, 26.5, (), [weighed]))
    assert told[1].startswith("The main cause: packets are lost by chance")


def test_links_that_were_down_are_told_where_nothing_else_is() -> None:
    paths = {"w": {"link_down": 3.0, "link_full": 1.0}, "l": {"link_full": 4.0}}
    of = ConnectionAccount("bulk", 0, 4.0, {"link_down": 3.0, "link_full": 1.0}, paths)
    told = sentences(Explanation("mptcp", 1, 16.6, [of]))
    assert told[1] == (
        "Nothing that was looked for costs it 5 % or more; but links were down, that of path w "
        "for 3.00 s."
    )


def test_one_of_several_repetitions_is_told_as_such() -> None:
    told = Explanation("mptcp", 1, 10.6, ())
    assert sentences(told)[0] == "mptcp carried 10.6 Mbit/s."
    assert sentences(told, is_one_of_many=True)[0] == "mptcp carried 10.6 Mbit/s in repetition 1."


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
