"""How the command line ends: what a user can fix is one message, not a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from mptcplab.cli.errors import UserError
from mptcplab.cli.output import ReaderGoneError
from mptcplab.shortage import shortage_of

FAILED_STATUS = 1
"""Exit status after a user's mistake, and where the machine does not grant what is needed."""


@contextlib.contextmanager
def ended_well() -> Iterator[None]:
    """Ends the process with a message and exit status 1 where that is enough."""
    try:
        try:
            yield
        finally:
            # Else the interpreter writes what is left, and fails, where nothing can be told.
            _flush()
    except UserError as error:
        _give_up(str(error))
    except ReaderGoneError:
        # It has read all that it wanted.
        _forget_output()
        sys.exit(0)
    except BaseException as error:
        # Also a panic of a library in Rust, which is no `Exception`.
        reason = shortage_of(error)
        if reason is None:
            raise
        _give_up(reason)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _give_up(message: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(UserError, ReaderGoneError):
            sys.stderr.write(f"{message}\n")
            sys.stderr.flush()
    _forget_output()
    sys.exit(FAILED_STATUS)


def _forget_output() -> None:
    """Drops output that could not be written: the interpreter would try again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (UserError, ReaderGoneError):
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
