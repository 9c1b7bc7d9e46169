"""A laboratory for Multipath TCP (RFC 8684)."""

from typing import TYPE_CHECKING

__version__: str
"""Version of the installed package."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Loaded when asked for: it is half of the time that the command line takes to start.
        from importlib.metadata import version

        return version("mptcplab")
