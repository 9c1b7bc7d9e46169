"""Tests of a switch, as Ryu's files of OpenFlow 1.3 describe them.

A file is a list of texts and tests. A test has a `description`, the messages that set the switch up
(`prerequisite`) and `tests`: packets in by port 1 (`ingress`), and what is to come of them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any

from tests.openflow import messages
from tests.openflow.frames import frame, is_drawn

_LEFT_OUT = re.compile(r"mpls|pbb|itag|copy_?ttl", re.IGNORECASE)
_NS = 1_000_000_000


@dataclass(frozen=True)
class Ingress:
    """Packets that come in by port 1."""

    frames: tuple[bytes, ...]
    """In turn, as often as needed."""
    count: int
    interval_ns: int


@dataclass(frozen=True)
class Egress:
    """The frame, and no other, goes out by port 2."""

    frame: bytes


@dataclass(frozen=True)
class PacketIn:
    """The controller, and no port, gets the frame."""

    frame: bytes


@dataclass(frozen=True)
class TableMiss:
    """The packet goes nowhere: none of these tables has an entry for it."""

    tables: tuple[int, ...]


@dataclass(frozen=True)
class Rate:
    """The rate of the frames that a match picks from those that go out."""

    match: tuple[tuple[str, int], ...]
    """Fields and their values; `in_port` is the port where the frame goes out."""
    unit: str
    """`kbps` or `pktps`."""
    rate: float


@dataclass(frozen=True)
class Throughput:
    """Rates within a tenth of these."""

    rates: tuple[Rate, ...]


@dataclass(frozen=True)
class Step:
    ingress: Ingress
    expected: Egress | PacketIn | TableMiss | Throughput


@dataclass(frozen=True)
class Case:
    """A test."""

    file: str
    """Below the folder that was read."""
    description: str
    messages: tuple[bytes, ...]
    """The messages that set the switch up."""
    steps: tuple[Step, ...]
    is_left_out: bool
    """It is about MPLS, backbone bridges or copying TTLs, which our switch refuses by name."""

    @property
    def kind(self) -> str:
        return self.file.partition("/")[0]


def read(folder: Path) -> Iterator[Case]:
    """The tests of all files below a folder, one after another.

    Raises `ValueError`, which names the file and the test, where one is not as it should be.
    """
    files = sorted(folder.rglob("*.json"))
    if not files:
        raise ValueError(f"{folder}: no files *.json")
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            tests = [one for one in json.loads(file.read_text()) if isinstance(one, dict)]
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}: no list of tests in JSON: {error}") from error
        for test in tests:
            try:
                yield _case(name, test)
            # os-ken checks little: anything may be raised where its code meets odd values.
            except Exception as error:
                described = test.get("description", "a test without description")
                raise ValueError(f"{file}: {described}: {error!r}") from error


def _case(file: str, test: dict[str, Any]) -> Case:
    random = Random(test["description"])
    return Case(
        file,
        " ".join(test["description"].split()),
        tuple(messages.from_json(one) for one in test["prerequisite"]),
        tuple(Step(_ingress(one["ingress"], random), _expected(one)) for one in test["tests"]),
        bool(_LEFT_OUT.search(json.dumps(test))),
    )


def _ingress(described: list[str] | dict[str, Any], random: Random) -> Ingress:
    if isinstance(described, list):
        return Ingress((frame(described, random),), 1, 0)
    packets = described["packets"]
    layers, rate = packets["data"], packets["pktps"]
    count = rate * packets["duration_time"]
    frames = tuple(frame(layers, random) for _ in repeat(None, count if is_drawn(layers) else 1))
    return Ingress(frames, count, _NS // rate)


def _expected(step: dict[str, Any]) -> Egress | PacketIn | TableMiss | Throughput:
    if "PACKET_IN" in step:
        return PacketIn(frame(step["PACKET_IN"], Random(0)))
    if "table-miss" in step:
        return TableMiss(tuple(step["table-miss"]))
    if isinstance(step["egress"], list):
        return Egress(frame(step["egress"], Random(0)))
    return Throughput(tuple(_rate(one) for one in step["egress"]["throughput"]))


def _rate(described: dict[str, Any]) -> Rate:
    fields = [one["OXMTlv"] for one in described["OFPMatch"]["oxm_fields"]]
    unit = "kbps" if "kbps" in described else "pktps"
    match = tuple((field["field"], field["value"]) for field in fields)
    return Rate(match, unit, described[unit])
