"""The error of a session."""


class DebugError(Exception):
    """A request that a session cannot carry out; the text says why, and what it takes."""
