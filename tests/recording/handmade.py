"""Small recordings made by hand, whose metrics can be computed on paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from mptcplab.recording.manifest import Json, Manifest, Status
from mptcplab.recording.reader import Recording
from mptcplab.recording.result import (
    Description,
    Reference,
    Result,
    ScenarioEntry,
    VariantEntry,
)
from mptcplab.recording.writer import Writer

Rows = Mapping[str, Sequence[Mapping[str, object]]]
Protocol = Literal["tcp", "mptcp"]

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


def manifest(
    variant: str = "mptcp",
    protocol: Protocol = "mptcp",
    repetition: int = 1,
    plan: Json | None = None,
    warnings: tuple[str, ...] = (),
) -> Manifest:
    return Manifest(
        status=Status.RUNNING,
        scenario="test/hand",
        variant=variant,
        protocol=protocol,
        repetition=repetition,
        seed=7,
        engine="kernel",
        started="2026-11-21T15:43:00Z",
        mptcplab="0.1.0",
        kernel="6.18.0",
        host={"machine": "x86_64", "cores": 2},
        plan=plan or {},
        warnings=warnings,
    )


def record(
    folder: Path, rows: Rows, header: Manifest | None = None, status: Status = Status.COMPLETE
) -> Recording:
    writer = Writer(folder, header or manifest())
    for table, values in rows.items():
        for row in values:
            writer.row(table, row)
    writer.finish(status, 20.0)
    return Recording.open(folder)


def description(
    variants: Sequence[tuple[str, Protocol]],
    repetitions: int = 1,
    expect: tuple[str, ...] = (),
    reference: tuple[Reference, ...] = (),
    engine: str = "kernel",
) -> Description:
    return Description(
        scenario=ScenarioEntry(
            name="test/hand",
            title="Made by hand",
            source="a sheet of paper",
            text="name: test/hand\n",
            variants=tuple(VariantEntry(name=n, protocol=p) for n, p in variants),
            expect=expect,
            reference=reference,
        ),
        engine=engine,
        seed=7,
        repetitions=repetitions,
        command=("mptcplab", "run", "test/hand"),
        created="2026-11-21T15:43:00Z",
    )


def result(folder: Path, content: Description) -> Result:
    return Result.create(folder, content)


def transfer(**values: object) -> dict[str, object]:
    """A bulk download of 10 s that delivers 125 MB: 100 Mbit/s."""
    return {
        "traffic": "bulk",
        "kind": "bulk",
        "index": 0,
        "client": "client",
        "server": "server",
        "way": "down",
        "protocol": "mptcp",
        "fallback": False,
        "token": 1,
        "start_ns": 0,
        "connected_ns": MILLISECOND,
        "first_byte_ns": 2 * MILLISECOND,
        "end_ns": 10 * SECOND,
        "bytes": 125_000_000,
        "joins": 1,
        "longest_silence_ns": 3 * MILLISECOND,
        "longest_silence_at_ns": SECOND,
    } | values
