"""An error of fitting."""


class FitError(Exception):
    """There is nothing that a scenario can be fitted to; the message says why, in a line."""
