"""Link profiles: settings to start from, shipped with the package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from mptcplab.scenario.link import Link, LinkChange, LinkSettings, Profile, merged
from mptcplab.scenario.tree import parse_tree

_FILE = Path(__file__).with_name("profiles.yaml")


@cache
def profiles() -> dict[str, Profile]:
    """All profiles by name."""
    return {name: Profile.model_validate(settings) for name, settings in written().items()}


@cache
def written() -> dict[str, dict[str, Any]]:
    """All profiles by name, as they stand in their file."""
    found: dict[str, dict[str, Any]] = parse_tree(
        _FILE.read_text(encoding="utf-8"), _FILE.name
    ).value
    return found


def settings_of(link: Link) -> tuple[LinkSettings, LinkSettings]:
    """Settings of the directions up and down: the profile's, and over them the link's own."""
    profile = profiles()[link.profile] if link.profile is not None else None
    if profile is None:
        return merged(link, link.up), merged(link, link.down)
    return (
        merged(profile, profile.up, link, link.up),
        merged(profile, profile.down, link, link.down),
    )


def changes_of(change: LinkChange) -> tuple[LinkSettings, LinkSettings]:
    """What changes in the directions up and down."""
    return merged(change, change.up), merged(change, change.down)


def is_half_duplex(link: Link) -> bool:
    """Whether both directions share the medium."""
    if link.duplex is not None:
        return link.duplex == "half"
    return link.profile is not None and profiles()[link.profile].duplex == "half"
