"""Standard output and standard error, where all that the commands print is made safe.

Titles, file names and recordings of others can hold control characters, and an encoding can lack
what is printed: both are escaped. What is drawn with colours passes by that, its text does not.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO, cast

from mptcplab.cli.errors import UserError
from mptcplab.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


class OutputError(UserError):
    """Standard output or standard error takes no more."""


class ReaderGoneError(Exception):
    """The reader of the output wants no more of it (`mptcplab list | head`)."""


class Stream:
    """A text stream whose failure names it. It has no `buffer`, which would lead past it."""

    def __init__(self, stream: TextIO) -> None:
        self.inner = stream

    def write(self, text: str) -> int:
        """As of a text stream."""
        try:
            return self.inner.write(text)
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            raise self._failed(error) from None

    def writelines(self, lines: Iterable[str]) -> None:
        """As of a text stream."""
        for line in lines:
            self.write(line)

    def write_bytes(self, data: bytes) -> None:
        """Writes bytes as they are; to a terminal as text."""
        if self.isatty():
            self.write(data.decode("utf-8", "backslashreplace"))
            return
        try:
            self.inner.flush()
            self.inner.buffer.write(data)
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            raise self._failed(error) from None

    def flush(self) -> None:
        """As of a text stream."""
        try:
            self.inner.flush()
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            raise self._failed(error) from None

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def _failed(self, error: OSError) -> OutputError:
        name = {"<stdout>": "standard output", "<stderr>": "standard error"}
        return OutputError(
            f"{name.get(self.inner.name, self.inner.name)}: cannot be written: {error.strerror}"
        )


class EscapingStream(Stream):
    """A stream for text of any origin."""

    def write(self, text: str) -> int:
        """Writes the text with its unprintable characters escaped."""
        super().write(printable(text))
        return len(text)


class TrimmedStream(Stream):
    """A stream for tables that no terminal shows: without blanks at the ends of lines."""

    _is_begun = False

    def write(self, text: str) -> int:
        """Writes whole lines."""
        trimmed = re.sub(r" +$", "", text, flags=re.MULTILINE)
        if not self._is_begun:
            trimmed = trimmed.lstrip("\n")
        self._is_begun = self._is_begun or bool(trimmed)
        super().write(trimmed)
        return len(text)


def make_safe() -> None:
    """Makes both streams safe; what the encoding lacks is escaped, too."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # A stream that the caller has closed is null.
        if stream is not None and not isinstance(stream, Stream):
            stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, EscapingStream(stream))


def console(*, stderr: bool = False) -> Console:
    """A console whose styles reach the terminal, and whose text is made safe."""
    from mptcplab.cli.safe_console import SafeConsole

    stream = sys.stderr if stderr else sys.stdout
    if not isinstance(stream, Stream):
        return SafeConsole(stderr=stderr)
    inner = stream.inner
    file = Stream(inner) if inner.isatty() else TrimmedStream(inner)
    return SafeConsole(file=cast("TextIO", file))


def json_text(value: object) -> str:
    """JSON of ASCII alone, which nothing needs to escape."""
    return json.dumps(value, indent=1, allow_nan=False).replace("\x7f", "\\u007f")
