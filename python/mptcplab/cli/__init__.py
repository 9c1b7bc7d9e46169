"""The command line."""

from mptcplab.cli.app import main

__all__ = ["main"]
