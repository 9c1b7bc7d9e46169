"""Which subflows `nc` shall open: from its options and its configuration file."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mptcplab.cli.errors import UserError

WIFI, CELLULAR = "wifi", "cellular"
KEYS = (WIFI, CELLULAR)
_INTERFACE = re.compile(r"[^\s/:]{1,15}")
"""What the kernel takes as an interface's name (`dev_valid_name`)."""


class Policy(StrEnum):
    """What becomes of the subflows while a connection lasts."""

    ONCE = "once"
    PIVOT = "pivot"


@dataclass(frozen=True)
class PathOptions:
    """The options about subflows."""

    every: bool
    wifi: bool
    cellular: bool
    interfaces: tuple[str, ...]
    backups: tuple[str, ...]
    policy: Policy
    config: Path | None

    @property
    def given(self) -> bool:
        """Whether a subflow is asked for at all."""
        named = self.wifi or self.cellular or bool(self.interfaces) or bool(self.backups)
        return named or self.every or self.policy is not Policy.ONCE


def wishes(options: PathOptions) -> dict[str, object]:
    """The wishes as `_native.netcat` takes them.

    Raises:
        UserError: an interface cannot be one, or the configuration lacks what is asked for.

    """
    pivot = options.policy is Policy.PIVOT
    # The page's car: cellular stays as a backup, WiFi comes and goes.
    named = options.wifi or options.cellular or options.interfaces or options.backups
    wifi = options.wifi or (pivot and not named and not options.every)
    cellular = options.cellular or (pivot and not named and not options.every)
    paths: list[dict[str, object]] = []
    if wifi or cellular:
        known = read_config(options.config)
        for wanted, key in ((wifi, WIFI), (cellular, CELLULAR)):
            if wanted:
                backup = pivot and key == CELLULAR
                paths.append({"name": key, "from": _known(known, key, options), "backup": backup})
    for option, names, backup in (
        ("-I", options.interfaces, False),
        ("--backup", options.backups, True),
    ):
        for name in names:
            if _INTERFACE.fullmatch(name) is None:
                raise UserError(f"{option} {name}: an interface of this host, such as eth1")
            paths.append({"name": name, "from": name, "backup": backup})
    sources = [path["from"] for path in paths]
    for source in sources:
        if sources.count(source) > 1:
            raise UserError(f"{source}: asked for twice")
    return {"all": options.every, "paths": paths, "follow": pivot}


def default_config() -> Path:
    """`~/.config/mptcplab/nc.yaml`, or where XDG_CONFIG_HOME says."""
    base = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(base) if base else Path.home() / ".config"
    return folder / "mptcplab" / "nc.yaml"


def read_config(given: Path | None) -> Mapping[str, str]:
    """The addresses or interfaces by name, as `file` (else the user's own) has them.

    Raises:
        UserError: with each mistake's line and mend.

    """
    from mptcplab.scenario.problem import ScenarioError
    from mptcplab.scenario.tree import parse_tree

    file = default_config() if given is None else given
    try:
        tree = parse_tree(file.read_bytes().decode(), str(file))
    except OSError as error:
        mend = f"write `{WIFI}:` and `{CELLULAR}:` into it, each with an address or interface"
        raise UserError(f"{file}: {error.strerror}; {mend}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8 text (byte {error.start})") from error
    except ScenarioError as error:
        raise UserError(str(error)) from error
    if not isinstance(tree.value, dict):
        raise UserError(f"{file}: write lines such as `{WIFI}: 10.0.2.6`")
    problems = [
        f"{file}:{tree.lines.get((key,), 1)}: {problem}"
        for key, value in tree.value.items()
        if (problem := _problem(key, value)) is not None
    ]
    if problems:
        raise UserError("\n".join(problems))
    return {key: _canonical(value) for key, value in tree.value.items()}


def _problem(key: str, value: object) -> str | None:
    if key not in KEYS:
        near = difflib.get_close_matches(key.lower(), KEYS, n=1)
        mend = f"did you mean {near[0]}?" if near else f"known: {', '.join(KEYS)}"
        return f"{key[:40]!r} is not known: {mend}"
    if not isinstance(value, str) or not (_is_address(value) or _INTERFACE.fullmatch(value)):
        return f"{key}: an address of this host, such as 10.0.2.6, or an interface, such as wlan0"
    return None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _canonical(text: str) -> str:
    return str(ipaddress.ip_address(text)) if _is_address(text) else text


def _known(known: Mapping[str, str], key: str, options: PathOptions) -> str:
    if key in known:
        return known[key]
    file = options.config or default_config()
    raise UserError(f"{file}: no `{key}`: write {key}: with an address of this host")
