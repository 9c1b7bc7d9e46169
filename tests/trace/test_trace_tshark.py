"""Each field of each packet beside what tshark shows of it."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.trace import reckoned_data, reckoned_tcp, shark
from tests.trace.differences import DIFFERENCES, Pair, mismatches, name_of
from tests.trace.handmade import captures
from tests.trace.handmade.talks import TALKS
from tests.trace.ours import Tables, analyse
from tests.trace.runs import CASES, Runs

pytestmark = pytest.mark.skipif(
    shark.tshark_missing() is not None, reason=str(shark.tshark_missing())
)
_RECKONED = (
    "new_bytes",
    "newly_acknowledged_bytes",
    "in_flight_bytes",
    "from",
    "data_sequence",
    "data_acknowledgement",
    "new_data_bytes",
    "reinjected_bytes",
)
_SENT_AGAIN = {"fast_retransmission", "timeout_retransmission", "keep_alive", "window_probe"}
_PAGE = Path(__file__).parents[2] / "docs/trace-and-tshark.md"
Rows = list[dict[str, Any]]


def _compare(ours: Rows, theirs: list[shark.Row]) -> Counter[str]:
    """How often each known difference is met; fails where there are others."""
    assert [row["frame"] for row in ours] == [row["frame"] for row in theirs]
    reckoned = [
        tcp | data
        for tcp, data in zip(reckoned_tcp.reckon(theirs), reckoned_data.reckon(theirs), strict=True)
    ]
    unexplained, met = [], Counter[str]()
    for pair in map(Pair, ours, theirs, reckoned):
        for mismatch in mismatches(pair):
            name = name_of(pair, mismatch)
            if name is None:
                unexplained.append(mismatch)
            else:
                met[name] += 1
    shown = "\n".join(map(str, unexplained[:20]))
    assert not unexplained, f"{len(unexplained)} values differ:\n{shown}"
    _compare_reckoned(ours, reckoned)
    return met


def _compare_reckoned(ours: Rows, reckoned: Rows) -> None:
    """Compares the columns that are exact with those that are reckoned plainly."""
    wrong = []
    for row, known in zip(ours, reckoned, strict=True):
        columns = [column for column in _RECKONED if column in known]
        wrong += [
            (row["frame"], column, row[column], known[column])
            for column in columns
            if row[column] != known[column]
        ]
        if known["again"] and row["kind"] not in _SENT_AGAIN:
            wrong.append((row["frame"], "kind", row["kind"], "a retransmission"))
    shown = "\n".join(map(str, wrong[:20]))
    assert not wrong, f"{len(wrong)} values (frame, column, ours, reckoned):\n{shown}"


def _compare_numbering(tables: Tables, ours: Rows, theirs: list[shark.Row]) -> None:
    """Subflows are tshark's TCP streams, connections its MPTCP streams, tokens its tokens."""
    streams: dict[int, tuple[int, int]] = {}
    connections: dict[int, int] = {}
    for row, shown in zip(ours, theirs, strict=True):
        place = row["connection"], row["subflow"]
        assert streams.setdefault(shown["stream"], place) == place
        if shown["mptcp_stream"] is not None:
            connection = connections.setdefault(shown["mptcp_stream"], row["connection"])
            assert connection == row["connection"]
    assert len(set(streams.values())) == len(streams)
    rows = {row["connection"]: row for row in tables.rows("connections")}
    for row, shown in zip(ours, theirs, strict=True):
        if shown["expected_token"] is not None:
            known = rows[row["connection"]]
            assert shown["expected_token"] in {known["client_token"], known["server_token"]}


@pytest.mark.parametrize("name", TALKS)
def test_captures_made_by_hand(name: str, tmp_path: Path) -> None:
    file = captures.write(tmp_path / "talk.pcapng", captures.pcapng(TALKS[name]().frames))
    tables, theirs = analyse([file], tmp_path / "tables"), shark.read(file)
    ours = tables.packets()
    _compare(ours, theirs)
    _compare_numbering(tables, ours, theirs)


@pytest.mark.parametrize("case", CASES)
def test_captures_of_the_engines(case: str, runs: Runs, tmp_path: Path) -> None:
    tables = analyse([runs.merged(case)], tmp_path / "tables")
    ours, theirs = tables.packets(), runs.shown(case)
    _compare(ours, theirs)
    _compare_numbering(tables, ours, theirs)


def test_the_page_names_each_difference_and_a_capture_that_shows_it(tmp_path: Path) -> None:
    section = _PAGE.read_text().split("## Differences")[1].split("\n## ")[0]
    row = re.compile(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| `([^`]+)` \|$", re.MULTILINE)
    told = set(row.findall(section))
    assert {name for name, _ in told} == {difference.name for difference in DIFFERENCES}
    met = set()
    for talk in sorted({talk for _, talk in told}):
        file = captures.write(tmp_path / f"{talk}.pcapng", captures.pcapng(TALKS[talk]().frames))
        ours, theirs = analyse([file], tmp_path / talk).packets(), shark.read(file)
        met |= {(name, talk) for name in _compare(ours, theirs)}
    assert told <= met
