"""The commands of the documentation work, and print what it shows."""

import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, Command, blocks, commands, name
from tests.docs.session import EXEMPT, SHELL, Outcome, carry_out, difference, normal, steps

from mptcplab.engine.finding import Verdict
from mptcplab.engine.kernel.examine import examine
from mptcplab.scenario import loads

TO_DO = [page for page in PAGES if steps(page)]
PROGRAMS = {
    "docs/controller.md": ("ovs-vswitchd", "ethtool", "openssl"),
    "docs/howto/agents.md": ("curl",),
    "docs/howto/capture.md": ("tshark",),
    "docs/howto/cluster.md": ("openssl",),
    "docs/howto/subflows.md": ("cargo", "cc", "pkg-config"),
}
"""Programs that pages need beside this project's own."""
KERNEL = ("namespaces and links", "MPTCP over two paths", "programs over MPTCP")


@pytest.fixture(scope="session")
def kernel() -> str | None:
    """The thing that this machine lacks to carry out the pages; `None` where it lacks nothing."""
    found = {finding.name: finding for finding in examine()}
    for needed in KERNEL:
        finding = found.get(needed)
        if finding is None or finding.verdict is not Verdict.GOOD:
            return f"{needed}: {finding.detail if finding else 'not there'}"
    return None


@pytest.fixture(scope="session")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, kernel: str | None
) -> Iterator[dict[Path, Future[list[Outcome]]]]:
    """The pages that are asked for, two at a time: they wait for traffic most of the time."""
    if kernel is not None:
        pytest.skip(kernel)
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    asked = {call.params.get("to_do") for call in calls if call is not None}
    with ThreadPoolExecutor(2) as pool:
        yield {
            page: pool.submit(carry_out, page, tmp_path_factory.mktemp(page.stem))
            for page in TO_DO
            if page in asked
        }


@pytest.mark.parametrize("to_do", TO_DO, ids=name)
def test_a_page_can_be_carried_out(
    to_do: Path, outcomes: dict[Path, Future[list[Outcome]]]
) -> None:
    for program in PROGRAMS.get(name(to_do), ()):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    for outcome in outcomes[to_do].result():
        line = difference(outcome)
        assert line is None, f"{outcome.command.text}: {line!r} differs:\n{outcome.printed}"


def test_every_scenario_that_is_only_shown_is_good() -> None:
    shown = [
        (page, block)
        for page in PAGES
        for block in blocks(page)
        if block.language == "yaml" and block.title is None and "\nlinks:" in block.body
    ]
    assert shown
    for page, block in shown:
        loads(block.body, f"{name(page)}:{block.line}")


def test_the_program_in_rust_is_the_example_of_the_crate() -> None:
    page = ROOT / "docs/howto/subflows.md"
    (shown,) = [block.body for block in blocks(page) if block.language == "rust"]
    example = ROOT / "crates/host/subflow/examples/subflows.rs"
    assert shown == example.read_text(encoding="utf-8")


def test_an_exemption_is_used() -> None:
    shell = (block for page in PAGES for block in blocks(page) if block.language in SHELL)
    told = {command.text for block in shell for command in commands(block)}
    assert told >= set(EXEMPT)


def test_figures_and_spaces_do_not_count() -> None:
    assert normal("  mptcp   134.3 ± 2.5") == normal("mptcp 99 ± 1")
    assert normal("tcp 1") != normal("mptcp 1")


def test_progress_of_a_slow_machine_does_not_count() -> None:
    command = Command("mptcplab run mine.yaml", ("mine — Two paths",))
    printed = "mine mptcp 3 (9/9): 89 % done, about 1 s left\nmine — Two paths\n"
    assert difference(Outcome(1, command, printed)) is None
    assert difference(Outcome(1, command, printed.replace("done", "gone"))) == "mine — Two paths"


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ("one\ntwo\nthree", None),
        ("one\n…\nthree", None),
        ("…\nthree", None),
        ("one\n…", None),
        ("one\n…\nthree\none", "one"),
        ("one\nthree", "three"),
        ("one\ntwo", "three"),
        ("…\ntwo", "three"),
    ],
)
def test_a_page_shows_all_lines_in_their_order_but_where_it_leaves_some_out(
    shown: str, line: str | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"```console\n$ printf 'one\\ntwo\\nthree\\n'\n{shown}\n```\n", encoding="utf-8"
    )
    (outcome,) = carry_out(page, tmp_path)
    assert isinstance(outcome, Outcome)
    assert difference(outcome) == line
