"""Text that does nothing to a terminal but stand there."""

from __future__ import annotations

import re

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls without tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing (Unicode TR 9)
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff]"  # surrogates, which no encoding has
)
"""A character that moves the cursor, reorders what stands around it, or cannot be written."""


def printable(text: str) -> str:
    r"""The text with such characters as `\x1b` or `\u202e`; the rest stays as it is."""
    return UNPRINTABLE.sub(lambda found: escaped(found[0]), text)


def escaped(character: str) -> str:
    r"""`\x1b` for the escape character."""
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
