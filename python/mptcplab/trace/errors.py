"""Errors of analyses."""


class TraceError(Exception):
    """A capture cannot be analysed, or its tables cannot be read: says where, why, and a hint."""
