"""Errors that the user can fix, and the status of the command after them."""


class UserError(Exception):
    """A mistake that the user can fix; the message names the place and a hint."""


FINDING_STATUS = 3
"""Exit status of `--fail` where a finding does not hold."""
