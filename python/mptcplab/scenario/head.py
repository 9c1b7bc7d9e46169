"""The part of a scenario that a list shows, read without a parser of YAML where that is as good.

The parser takes half as long to load as a whole list may take, and longer for all of the catalogue.
"""

from __future__ import annotations

import re
from typing import Any

_WORDS = ("title", "source")
_TOP_KEY = re.compile(r"([A-Za-z_]+):(?= |$)")
_NAME = re.compile(r"( +)([A-Za-z0-9_-]+):(?= |$)")
_PLAIN = re.compile(r"(?!.*(: | #|:$))[A-Za-z].* .*")
"""Of several words, so that it is no number and no constant of YAML."""


def plain_head(text: str) -> dict[str, Any] | None:
    """The title and the source of a scenario, and its variants without what they are.

    Null where one of them is anything but plain text in a line of its own, or a name. Other values
    are taken to be indented, and to end before the next key.
    """
    head: dict[str, Any] = {}
    key = indent = ""
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            found = _TOP_KEY.match(line)
            if found is None or found[1] in head:
                return None
            key, value = found[1], line[found.end() :].strip()
            if key in _WORDS:
                if _PLAIN.fullmatch(value) is None or not value.isprintable():
                    return None
                head[key] = value
            elif key == "variants":
                if value:
                    return None
                head[key] = {}
                indent = ""
        elif key in _WORDS:
            return None
        elif key == "variants":
            name = _NAME.match(line)
            indent = indent or line[: len(line) - len(line.lstrip())]
            if line.startswith(f"{indent} "):
                continue
            if name is None or name[1] != indent or name[2] in head[key]:
                return None
            head[key][name[2]] = None
    return head
