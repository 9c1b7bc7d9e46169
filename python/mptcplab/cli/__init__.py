"""The command line."""

from __future__ import annotations

import sys

from mptcplab.cli.host_program import hand_over

INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line: the commands of `mptcplab-host` by that program, others here.

    Ends the process.
    """
    hand_over(sys.argv[1:])
    import atexit
    import gc
    import os
    import signal

    # Loading makes 130,000 objects at most and no garbage: looking for it takes a tenth of a short
    # command.
    gc.set_threshold(200_000, 20, 20)
    # pydantic looks through every installed package for plugins, of which this program needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    status: object = None
    try:
        from mptcplab.cli.app import main

        main()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            # The interpreter prints it and ends with status 1.
            raise
        status = ended.code
    except KeyboardInterrupt:
        # Ctrl-C before a command has begun, or after its end.
        status = INTERRUPTED_STATUS
    finally:
        # From here on the exit status stands, whatever signal comes.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    # All is written. Taking apart what was loaded would take a fifth of a short command.
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else 0)


__all__ = ["INTERRUPTED_STATUS", "main"]
