"""A laboratory for Multipath TCP (RFC 8684)."""

from importlib.metadata import version

__version__ = version("mptcplab")
