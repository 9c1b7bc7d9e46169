"""docs/reference.md is that of the commands as they are."""

from tests.docs.reference import PAGE, commands_text, with_commands


def test_the_commands_are_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_commands(page), "run: make docs"


def test_every_option_of_run_is_there() -> None:
    section = commands_text().partition("### `run`")[2].partition("### ")[0]
    options = {"engine", "variant", "repeat", "seed", "duration", "set", "capture", "out", "json"}
    assert {option for option in options if f"`--{option}" in section} == options
    assert "| `--repeat 1…1000` | Repetitions of each variant. |  |" in section
    assert "| `--seed NUMBER` | Seed of all that is random. | `1` |" in section
