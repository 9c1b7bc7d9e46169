"""The command line."""

from __future__ import annotations

import sys

from mptcplab.cli.host_program import hand_over

INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line: the commands of `mptcplab-host` by that program, others here."""
    hand_over(sys.argv[1:])
    import gc
    import os
    import signal

    # Loading makes many objects and no garbage: looking for it takes a tenth of a short command.
    gc.set_threshold(50_000, 20, 20)
    # pydantic looks through every installed package for plugins, of which this program needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from mptcplab.cli.app import main

        main()
    except KeyboardInterrupt:
        # Ctrl-C before a command has begun, or after its end.
        sys.exit(INTERRUPTED_STATUS)
    finally:
        # From here on the exit status stands. The interpreter takes a while to end, and without
        # this a signal would end it first.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


__all__ = ["INTERRUPTED_STATUS", "main"]
