"""The scenario that `mptcplab new` writes: good as it is, and with all that it leaves out."""

import re
from pathlib import Path

import pytest

from mptcplab.cli.errors import UserError
from mptcplab.cli.scenarios import write_new_scenario
from mptcplab.scenario import loads
from mptcplab.scenario.loading import new_text


def with_all_settings() -> str:
    """The text with every setting that it leaves out."""
    head, title, body = new_text().partition("title:")
    return head + title + re.sub(r"^# ", "", body, flags=re.MULTILINE)


def test_it_compares_mptcp_with_each_path() -> None:
    scenario = loads(new_text(), "new.yaml")
    assert list(scenario.variants) == ["tcp-wifi", "tcp-lte", "mptcp"]
    assert len(scenario.traffic) == 1
    assert not scenario.events


def test_each_setting_that_it_leaves_out_can_be_used_as_it_is() -> None:
    scenario = loads(with_all_settings(), "new.yaml")
    assert len(scenario.traffic) == 3
    assert len(scenario.events) == 3
    assert scenario.hosts["laptop"].congestion_control == "reno"
    assert "mptcp-ecf" in scenario.variants


def test_a_new_file_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    write_new_scenario(file)
    assert file.read_text(encoding="utf-8") == new_text()
    assert capsys.readouterr().out == f"{file}: written; next: mptcplab run {file}\n"


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("title: mine\n")
    with pytest.raises(UserError, match="is there already; give another name"):
        write_new_scenario(file)
    assert file.read_text() == "title: mine\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [("mine", "ends in .yaml or .yml"), ("no/mine.yaml", "No such file or directory")],
)
def test_a_name_that_will_not_do_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        write_new_scenario(tmp_path / name)
    assert not list(tmp_path.iterdir())
