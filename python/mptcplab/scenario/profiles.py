"""Link profiles: settings to start from, shipped with the package."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab.scenario.link import Link, LinkChange, LinkSettings, Profile, merged
from mptcplab.scenario.tree import parse_tree

_FILE = Path(__file__).with_name("profiles.yaml")
_TOP_KEY = re.compile(r"^(?=([a-z0-9-]+):)", re.MULTILINE)


@cache
def _texts() -> dict[str, str]:
    """The part of the file of each profile, by name: to parse all of them takes long."""
    _, *parts = _TOP_KEY.split(_FILE.read_text(encoding="utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def profile_names() -> list[str]:
    """Names of all profiles, in the order of their file."""
    return list(_texts())


@cache
def profile(name: str) -> Profile:
    """A profile, which there is."""
    return Profile.model_validate(written(name))


@cache
def written(name: str) -> dict[str, Any]:
    """A profile as it stands in the file."""
    found: dict[str, Any] = parse_tree(_texts()[name], _FILE.name).value[name]
    return found


def settings_of(link: Link) -> tuple[LinkSettings, LinkSettings]:
    """Settings of the directions up and down: the profile's, and over them the link's own."""
    if link.profile is None:
        return merged(link, link.up), merged(link, link.down)
    start = profile(link.profile)
    return (
        merged(start, start.up, link, link.up),
        merged(start, start.down, link, link.down),
    )


def changes_of(change: LinkChange) -> tuple[LinkSettings, LinkSettings]:
    """Settings that change in the directions up and down."""
    return merged(change, change.up), merged(change, change.down)


def is_half_duplex(link: Link) -> bool:
    """Whether both directions share the medium."""
    if link.duplex is not None:
        return link.duplex == "half"
    return link.profile is not None and profile(link.profile).duplex == "half"
