"""Knowledge of a network of real switches that they do not tell: rates and sizes, in YAML.

rates:
  0000000000000001:2: 10 Mbit/s     # the link at port 2 of this datapath
sizes:
  10.0.0.2:80: 500 kB               # of each transfer of this server
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from mptcplab.scenario.problem import Problem, ScenarioError, did_you_mean, quoted
from mptcplab.scenario.tree import Tree, parse_tree
from mptcplab.scenario.units import UnitError, parse_rate, parse_size
from mptcplab.user_file import LARGEST_YAML_BYTES, FileError, read_text

Row = dict[str, Any]
_PORT = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16}):([0-9]{1,10})")
_SERVER = re.compile(r"(?:\[([^\[\]%]+:[^\[\]%]*)\]|([0-9.]+)):([0-9]{1,5})")
_LAST_PORT = 0xFFFFFF00
"""The number of the last port of a switch that is no reserved one (OFPP_MAX)."""


def no_network() -> dict[str, list[Row]]:
    """Nothing is known: each link has the speed of its ports."""
    return {"link_rates": [], "sizes": []}


def read_network(path: Path) -> dict[str, list[Row]]:
    """The rates and sizes of a file, as `crates/lab/controller-server` takes them.

    Raises:
        ScenarioError: every line that is not understood.

    """
    origin = str(path)
    try:
        tree = parse_tree(read_text(path, LARGEST_YAML_BYTES), origin)
    except FileError as error:
        raise ScenarioError([Problem(origin, None, "", str(error))]) from None
    if not isinstance(tree.value, dict):
        text = "write `rates:` and `sizes:`, each with an entry a line"
        raise ScenarioError([Problem(origin, None, "", text)])
    problems: list[Problem] = []
    problems += [
        Problem(origin, tree.lines.get((key,)), key, did_you_mean(key, ("rates", "sizes")))
        for key in tree.value
        if key not in ("rates", "sizes")
    ]
    rates = list(_entries(tree, origin, "rates", _rate, problems))
    sizes = list(_entries(tree, origin, "sizes", _size, problems))
    if problems:
        raise ScenarioError(problems)
    return {"link_rates": rates, "sizes": sizes}


def _entries(
    tree: Tree,
    origin: str,
    key: str,
    read: Callable[[str, Any], Row],
    problems: list[Problem],
) -> Iterator[Row]:
    """The entries of a section; appends what is wrong with others."""
    section = tree.value.get(key)
    if section is None:
        return
    if not isinstance(section, dict):
        problems.append(Problem(origin, tree.lines.get((key,)), key, "write an entry a line"))
        return
    for name, value in section.items():
        try:
            yield read(name, value)
        except (UnitError, ValueError) as error:
            line = tree.lines.get((key, name))
            problems.append(Problem(origin, line, f"{key}.{name}", str(error)))


def _rate(name: str, value: Any) -> Row:
    found = _PORT.fullmatch(name)
    if found is None or not 1 <= int(found[2]) <= _LAST_PORT:
        raise ValueError(
            f"{quoted(name)} is no port of a switch: write the datapath in hexadecimal and the "
            "port's number, such as 0000000000000001:2"
        )
    rate = parse_rate(value)
    if rate < 1:
        raise ValueError("a link carries 1 bit/s at least")
    return {"datapath": int(found[1], 16), "port": int(found[2]), "bits_per_second": rate}


def _size(name: str, value: Any) -> Row:
    found = _SERVER.fullmatch(name)
    hint = (
        f"{quoted(name)} is no server: write address and port, such as 10.0.0.2:80 or "
        "[2001:db8::2]:80"
    )
    if found is None or not 1 <= int(found[3]) < 1 << 16:
        raise ValueError(hint)
    try:
        address = ip_address(found[1] or found[2])
    except ValueError:
        raise ValueError(hint) from None
    server = f"[{address}]:{found[3]}" if address.version == 6 else f"{address}:{found[3]}"
    return {"server": server, "bytes": parse_size(value)}
