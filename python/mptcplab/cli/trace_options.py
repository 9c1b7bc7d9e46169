"""The options of `trace`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mptcplab.cli.errors import UserError
from mptcplab.scenario.units import UnitError, parse_time


@dataclass(frozen=True)
class TraceOptions:
    """The command's options."""

    files: tuple[str, ...]
    interfaces: str | None
    peer: tuple[str, ...]
    matching: str | None
    connections: str | None
    from_time: str | None
    to_time: str | None
    tables: Path | None
    html: Path | None
    events: bool
    list_packets: bool
    explain: bool
    statistics: bool
    write: Path | None
    subflows: str | None
    follow: str | None
    graphs: Path | None
    every: bool
    checksums: bool
    workers: int | None
    as_json: bool
    clock: str | None
    """`same`, `other`, or null: as the files tell."""

    @property
    def needs_packets(self) -> bool:
        """Whether a single capture's table of packets is needed, which costs time and room."""
        files = (self.tables, self.html, self.write, self.follow, self.graphs)
        asked = self.statistics or self.list_packets or self.explain
        return asked or any(one is not None for one in files)


def span(options: TraceOptions) -> tuple[int | None, int | None]:
    """Returns the range of time, relative to the first packet.

    Raises:
        UserError: it cannot be read, or ends before it begins.

    """
    begin, end = _time("--from", options.from_time), _time("--to", options.to_time)
    if begin is not None and end is not None and end < begin:
        raise UserError(
            f"--to {options.to_time} lies before --from {options.from_time}: "
            "both count from the first packet"
        )
    return begin, end


def _time(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text, usual="s")
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error


def numbers(option: str, text: str | None) -> set[int] | None:
    """Returns the numbers of an option such as `0,3`; null where it is not given.

    Raises:
        UserError: they cannot be read.

    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UserError(f"{option}: '{text}': write numbers, such as 0 or 0,3")
    return {int(part) for part in parts}
