"""What goes wrong by a user's hand."""


class UserError(Exception):
    """A mistake that the user can mend; the message names the place and the mend."""
