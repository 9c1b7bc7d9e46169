"""Errors of recordings."""


class RecordingError(Exception):
    """A folder cannot be read or written as a recording: says where, why and the hint."""
