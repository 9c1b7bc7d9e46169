"""The command line."""

from __future__ import annotations

import sys

from mptcplab.cli.host_program import hand_over


def main() -> None:
    """Run the command line: the commands of `mptcplab-host` by that program, others here."""
    hand_over(sys.argv[1:])
    import gc
    import os

    # Loading makes many objects and no garbage: looking for it takes a tenth of a short command.
    gc.set_threshold(50_000, 20, 20)
    # pydantic looks through every installed package for plugins, of which this program needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from mptcplab.cli.app import main

    main()


__all__ = ["main"]
