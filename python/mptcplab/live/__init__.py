"""Runs shown while they last: in a terminal, as lines, and on a page at the loopback."""
