"""Captures made by hand: what the analysis tells of them is what was made."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.trace.handmade import captures
from tests.trace.handmade.expected import CONNECTIONS, SUBFLOWS
from tests.trace.handmade.expected_events import EVENTS
from tests.trace.handmade.flow import Talk
from tests.trace.handmade.talks import TALKS
from tests.trace.ours import Tables, analyse

_RAW_ONLY = {"middle", "reset-alone"}
"""Captures in which the initial numbers are not."""
_KINDS = {kind for story in EVENTS.values() for _, kind, _ in story}


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Talk, Tables]]:
    made: dict[str, tuple[Talk, Tables]] = {}

    def of(name: str) -> tuple[Talk, Tables]:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            talk = TALKS[name]()
            file = captures.write(folder / "talk.pcap", captures.pcap(talk.frames))
            made[name] = talk, analyse([file], folder / "tables", checksums=True)
        return made[name]

    return of


def _shown(row: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return {column: row[column] for column in wanted}


@pytest.mark.parametrize("name", TALKS)
def test_every_packet_is_what_it_was_made_to_be(
    name: str, analysed: Callable[[str], tuple[Talk, Tables]]
) -> None:
    talk, tables = analysed(name)
    rows = tables.packets()
    assert len(rows) == len(talk.truths)
    for row, truth in zip(rows, talk.truths, strict=True):
        wanted = {column: value for column, value in truth.items() if column in row}
        if name in _RAW_ONLY:
            for column in ("sequence", "acknowledgement", "data_sequence", "data_acknowledgement"):
                wanted.pop(column, None)
        wanted["frame"] -= talk.truths[0]["frame"] - 1
        assert _shown(row, wanted) == wanted


@pytest.mark.parametrize("name", CONNECTIONS)
def test_the_connection_is_what_it_was_made_to_be(
    name: str, analysed: Callable[[str], tuple[Talk, Tables]]
) -> None:
    talk, tables = analysed(name)
    row = tables.rows("connections")[0]
    wanted = CONNECTIONS[name]
    if wanted.get("version") is not None and not wanted.get("inferred"):
        wanted = wanted | {
            f"{side}_{what}": value
            for side in ("client", "server")
            for what, value in (
                ("key", talk.key(side)),
                ("token", talk.token(side)),
                ("idsn", talk.initial(side)),
            )
        }
    assert _shown(row, wanted) == wanted


@pytest.mark.parametrize("name", SUBFLOWS)
def test_the_subflows_are_what_they_were_made_to_be(
    name: str, analysed: Callable[[str], tuple[Talk, Tables]]
) -> None:
    _, tables = analysed(name)
    rows = [row for row in tables.rows("subflows") if row["connection"] == 0]
    assert len(rows) == len(SUBFLOWS[name])
    for row, wanted in zip(rows, SUBFLOWS[name], strict=True):
        assert _shown(row, wanted) == wanted


@pytest.mark.parametrize("name", EVENTS)
def test_the_story_is_told_in_its_order(
    name: str, analysed: Callable[[str], tuple[Talk, Tables]]
) -> None:
    _, tables = analysed(name)
    events = tables["events"].sort("t_ns", maintain_order=True).to_dicts()
    told = [(row["frame"], row["kind"], row["from"]) for row in events]
    assert [event for event in told if event[1] in _KINDS] == EVENTS[name]
