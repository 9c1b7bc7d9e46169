"""The structs and enums of Rust sources that serde reads, as far as plans have them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ITEM = re.compile(
    r"((?:^#\[[^\n]*\n)*)^pub (struct|enum) (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE
)
_COMMENT_OR_ATTRIBUTE = re.compile(r"^\s*(?:///.*|#\[(?!serde\(rename).*)\n", re.MULTILINE)
_SKIPPED = re.compile(r"^\s*#\[serde\(skip\)\]\n[^\n]+,\n", re.MULTILINE)
_FIELD = re.compile(r"(?:pub )?(\w+): ([^\n]+),\n")
_VARIANT = re.compile(
    r'^    (?:#\[serde\(rename = "(?P<renamed>\w+)"\)\]\n    )?'
    r"(?P<name>\w+)(?:\((?P<inner>\w+)\)| \{\n(?P<body>.*?)^    \})?,\n",
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Struct:
    """Types of the fields, by name."""

    fields: dict[str, str]


@dataclass
class Enum:
    """Variants, each with its fields, by the name that JSON has for it."""

    is_tagged: bool
    """JSON has an object with the name as `kind`, and the fields; else the name alone."""
    variants: dict[str, Struct]


def read(*folders: Path) -> dict[str, Struct | Enum]:
    """Every struct and enum in the sources of the folders, by name."""
    sources = [file.read_text() for folder in folders for file in sorted(folder.rglob("*.rs"))]
    found = [item for source in sources for item in _ITEM.findall(source)]
    bodies = {name: body for _, _, name, body in found}
    return {
        name: _struct(body) if kind == "struct" else _enum(attributes, body, bodies)
        for attributes, kind, name, body in found
        if "Deserialize" in attributes
    }


def _struct(body: str) -> Struct:
    told = _SKIPPED.sub("", body)
    return Struct(dict(_FIELD.findall(_COMMENT_OR_ATTRIBUTE.sub("", told))))


def _enum(attributes: str, body: str, bodies: dict[str, str]) -> Enum:
    return Enum('tag = "kind"' in attributes, dict(_variants(body, bodies)))


def _variants(body: str, bodies: dict[str, str]) -> Iterator[tuple[str, Struct]]:
    for variant in _VARIANT.finditer(_COMMENT_OR_ATTRIBUTE.sub("", body)):
        name = variant["renamed"] or re.sub(r"(?<!^)(?=[A-Z])", "_", variant["name"]).lower()
        yield name, _struct(bodies[variant["inner"]] if variant["inner"] else variant["body"] or "")
