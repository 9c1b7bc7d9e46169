"""`rate-trace`: a bandwidth log as a rate trace for links."""

from __future__ import annotations

from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.scenario.mahimahi import LARGEST_FILE_BYTES, mean_rate_bps
from mptcplab.scenario.rate_log import Columns, LogError, trace_of_log
from mptcplab.user_file import FileError, read_text


def write_trace(log: Path, out: Path, columns: Columns) -> None:
    """Reads a log and writes its trace; says how long it is and its mean rate."""
    try:
        times = trace_of_log(read_text(log, LARGEST_FILE_BYTES), columns, str(log))
    except FileError as error:
        raise UserError(f"{log}: {error}") from None
    except LogError as error:
        raise UserError(str(error)) from None
    lines = "".join(f"{time_ms}\n" for time_ms in times).encode("ascii")
    if len(lines) > LARGEST_FILE_BYTES:
        raise UserError(f"{log}: its trace has {len(lines)} bytes, more than a link reads: cut it")
    if out.exists() and not out.is_file():
        raise UserError(f"{out}: is no regular file")
    try:
        out.write_bytes(lines)
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror}") from None
    length, rate = times[-1] / 1000, mean_rate_bps(times) / 1e6
    typer.echo(
        f"{out}: {length:g} s, {rate:.3g} Mbit/s in the mean; write `trace: {out}` in a link"
    )
