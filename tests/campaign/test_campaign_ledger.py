"""Kept records of a campaign's runs, and which runs are done again."""

import json
from pathlib import Path

import pytest

from mptcplab.campaign.grid import Grid
from mptcplab.campaign.ledger import SYNC_EVERY_S, Ledger
from mptcplab.campaign.record import MOST_ATTEMPTS, Record, failed
from mptcplab.campaign.store import Store

GRID = Grid(points=3, repetitions=1, variants=("tcp", "mptcp"))


def record(run: int) -> Record:
    point, repetition, variant = GRID.place(run)
    known = {"run": run, "point": point, "repetition": repetition, "variant": variant, "seed": 1}
    return known | {
        "protocol": variant,
        "status": "complete",
        "error": None,
        "interface": None,
        "task": "",
        "at_once": None,
        "program_bytes": 0,
        "transfers": [],
        "totals": {"goodput": float(run)},
    }


def add(ledger: Ledger, *records: Record) -> None:
    for one in records:
        ledger.add(one["run"], json.dumps(one).encode())


def opened(folder: Path) -> Ledger:
    return Ledger(Store(folder, GRID))


def journal(folder: Path) -> Path:
    (path,) = (folder / "journal").glob("*.jsonl")
    return path


def tables(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}


def test_a_run_that_failed_by_the_machine_is_tried_three_times(tmp_path: Path) -> None:
    well = [record(run) for run in (0, 1, 2, 4, 5)]
    for attempt in range(1, MOST_ATTEMPTS + 1):
        ledger = opened(tmp_path)
        assert 3 in list(ledger.missing())
        add(ledger, *(well if attempt == 1 else []), failed(record(3), "No space left on device"))
        assert (ledger.found, ledger.done_again) == ((0, 0) if attempt == 1 else (5, 1))
        assert ledger.to_be_tried_again == (0 if attempt == MOST_ATTEMPTS else 1)
        ledger.close()
    ledger = opened(tmp_path)
    assert list(ledger.missing()) == []
    assert Store(tmp_path, GRID).scan("runs").filter(status="failed").collect().height == 1
    ledger.close()


def test_after_another_attempt_the_tables_are_those_of_a_run_that_did_not_fail(
    tmp_path: Path,
) -> None:
    for name, attempts in (("once", 1), ("twice", 2)):
        for attempt in range(1, attempts + 1):
            ledger = opened(tmp_path / name)
            for run in ledger.missing():
                has_failed = run == 3 and attempt < attempts
                add(ledger, failed(record(run), "killed") if has_failed else record(run))
            ledger.close()
    assert tables(tmp_path / "once") == tables(tmp_path / "twice") != {}


def test_a_run_that_fails_by_its_plan_is_not_tried_again(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    add(ledger, failed(record(3), "a queue wants a rate", by_plan=True))
    ledger.close()
    ledger = opened(tmp_path)
    assert (ledger.found, list(ledger.missing())) == (1, [0, 1, 2, 4, 5])
    ledger.close()


@pytest.mark.parametrize("new", [b"x", b"7"])
def test_a_damaged_line_is_named_and_its_run_is_done_again(tmp_path: Path, new: bytes) -> None:
    ledger = opened(tmp_path)
    add(ledger, record(0), record(1), record(2))
    ledger.close()
    lines = journal(tmp_path).read_bytes().split(b"\n")
    place = lines[1].index(b'"goodput": 1') + len(b'"goodput": ')
    lines[1] = lines[1][:place] + new + lines[1][place + 1 :]
    journal(tmp_path).write_bytes(b"\n".join(lines))
    store = Store(tmp_path, GRID)
    assert store.scan("runs").collect()["run"].to_list() == [0, 2]
    line = f"{journal(tmp_path)}:2: the line is damaged"
    assert store.damage() == [f"{line}: its run is missing until the same sweep goes on"]
    ledger = opened(tmp_path)
    assert ledger.damaged == [f"{line}: its run is done again"]
    assert list(ledger.missing()) == [1, 3, 4, 5]
    ledger.close()
    assert opened(tmp_path).damaged == []


def test_a_torn_line_is_no_damage(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    add(ledger, record(0), record(1))
    ledger.close()
    journal(tmp_path).write_bytes(journal(tmp_path).read_bytes()[:-9])
    ledger = opened(tmp_path)
    assert (ledger.damaged, list(ledger.missing())) == ([], [1, 2, 3, 4, 5])
    add(ledger, *(record(run) for run in (1, 2, 3, 4, 5)))
    ledger.close()
    assert len(tables(tmp_path)) == 3


def test_a_record_reaches_the_disk_although_no_other_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s, synced = 100.0, list[int]()
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    monkeypatch.setattr("os.fsync", synced.append)
    ledger = opened(tmp_path)
    add(ledger, record(0))
    synced.clear()
    ledger.sync_when_due()
    assert synced == []
    now_s += SYNC_EVERY_S + 0.1
    ledger.sync_when_due()
    # The journal and its folder, once.
    assert len(synced) == 2
    ledger.sync_when_due()
    assert len(synced) == 2
    ledger.close()
