"""One connection in capture files of every kind, in several, and seen twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.trace.handmade import captures
from tests.trace.handmade.captures import Frame
from tests.trace.handmade.talks import TALKS
from tests.trace.ours import Tables, analyse

from mptcplab.trace import open_tables
from mptcplab.trace.render.cells import read_lines

_WHERE = ["frame", "interface"]
_KINDS: dict[str, Callable[[Sequence[Frame]], bytes]] = {
    "microseconds.pcap": lambda frames: captures.pcap(frames, nanoseconds=False),
    "big-endian.pcap": lambda frames: captures.pcap(frames, order=">"),
    "big-endian-microseconds.pcap": lambda frames: captures.pcap(
        frames, order=">", nanoseconds=False
    ),
    "compressed.pcap.gz": captures.pcap,
    "one.pcapng": captures.pcapng,
    "compressed.pcapng.gz": captures.pcapng,
    "cut.pcap": lambda frames: captures.pcap(frames, snap=120),
} | {
    f"{name}.pcap": lambda frames, link=link: captures.pcap(frames, link=link)
    for name, link in captures.LINKS.items()
}


def _frames(name: str, interface: Callable[[int], int] = lambda _: 0) -> list[Frame]:
    """The frames of a capture made by hand, to the microsecond, seen by an interface by number."""
    return [
        Frame(frame.at_ns // 1000 * 1000, interface(number), frame.packet)
        for number, frame in enumerate(TALKS[name]().frames)
    ]


def _same(one: Tables, other: Tables, *, but: Sequence[str] = ()) -> None:
    for table in ("connections", "subflows", "addresses", "samples", "events", "packets"):
        left, right = (tables[table].drop([*_WHERE, *but], strict=False) for tables in (one, other))
        assert left.equals(right), table


@pytest.mark.parametrize("talk", ["v1", "v0-ipv6"])
@pytest.mark.parametrize("kind", _KINDS)
def test_every_kind_of_file_tells_the_same(kind: str, talk: str, tmp_path: Path) -> None:
    frames = _frames(talk)
    plain = captures.write(tmp_path / "plain.pcap", captures.pcap(frames))
    file = captures.write(tmp_path / kind, _KINDS[kind](frames))
    one, other = (analyse([each], tmp_path / f"of-{each.name}") for each in (plain, file))
    _same(one, other, but=["layers"])
    layers = {"vlan.pcap": "VLAN", "qinq.pcap": "VLAN VLAN"}.get(kind)
    assert other["packets"]["layers"].to_list() == [layers] * len(frames)
    assert one["packets"].height == len(frames)


def _in_gre(packet: bytes) -> bytes:
    """A packet within GRE (RFC 2784) over IPv4."""
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    length = (24 + len(packet)).to_bytes(2, "big")
    header = b"\x45\0" + length + b"\0\0\0\0\x40\x2f\0\0\xc0\0\2\1\xc0\0\2\2"
    return header + b"\0\0" + kind + packet


@pytest.mark.parametrize("talk", ["v1", "v0-ipv6"])
def test_a_connection_within_a_tunnel_is_that_without_it(talk: str, tmp_path: Path) -> None:
    frames = _frames(talk)
    plain = captures.write(tmp_path / "plain.pcap", captures.pcap(frames))
    wrapped = [frame._replace(packet=_in_gre(frame.packet)) for frame in frames]
    file = captures.write(tmp_path / "gre.pcap", captures.pcap(wrapped))
    one, other = (analyse([each], tmp_path / f"of-{each.name}") for each in (plain, file))
    _same(one, other, but=["layers"])
    assert one["packets"]["layers"].null_count() == len(frames)
    assert other["packets"]["layers"].to_list() == ["IPv4 GRE"] * len(frames)
    assert (one.capture["layers"], other.capture["layers"]) == ({}, {"IPv4 GRE": len(frames)})
    lines = [line for line, _ in read_lines(open_tables(other.folder).capture)]
    assert f"Within tags and tunnels: {len(frames)} IPv4 GRE." in lines


def test_a_link_type_that_is_not_known_is_named(tmp_path: Path) -> None:
    content = bytearray(captures.pcap(_frames("v1")))
    content[20:24] = (105).to_bytes(4, "little")
    tables = analyse([captures.write(tmp_path / "air.pcap", bytes(content))], tmp_path / "tables")
    capture = open_tables(tables.folder).capture
    assert capture.unknown_link_types == {"IEEE802_11 (105)": capture.frames}
    assert tables.capture["interfaces"][0]["link_type_name"] == "IEEE802_11"
    told = f"Link types that are not known: {capture.frames} IEEE802_11 (105)."
    assert (told, True) in list(read_lines(capture))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_for_each_interface_holds_the_connection_together(
    workers: int, tmp_path: Path
) -> None:
    frames = _frames("v1")
    whole = captures.write(tmp_path / "whole.pcap", captures.pcap(frames))
    apart = [
        captures.write(
            tmp_path / f"{number}.pcap",
            captures.pcap([frame for each, frame in enumerate(frames) if each % 2 == number]),
        )
        for number in (0, 1)
    ]
    one = analyse([whole], tmp_path / "one")
    other = analyse(apart, tmp_path / "other", workers=workers)
    _same(one, other)
    assert [file["frames"] for file in other.capture["files"]] == [16, 16]


def test_interfaces_of_one_file_hold_the_connection_together(tmp_path: Path) -> None:
    links = (captures.LINKS["ethernet"], captures.LINKS["raw"])
    apart = _frames("v1", lambda number: number % 2)
    file = captures.write(tmp_path / "two.pcapng", captures.pcapng(apart, links=links))
    whole = captures.write(tmp_path / "whole.pcap", captures.pcap(_frames("v1")))
    one, other = analyse([whole], tmp_path / "one"), analyse([file], tmp_path / "other")
    _same(one, other)
    assert other["packets"]["interface"].unique().sort().to_list() == [0, 1]


@pytest.mark.parametrize("talk", ["v1", "reinjected", "retransmitted", "spurious"])
def test_packets_that_two_interfaces_saw_count_once(talk: str, tmp_path: Path) -> None:
    frames = _frames(talk)
    twice = [
        Frame(frame.at_ns + 20_000 * interface, interface, frame.packet)
        for frame in frames
        for interface in (0, 1)
    ]
    links = (captures.ETHERNET, captures.ETHERNET)
    file = captures.write(tmp_path / "twice.pcapng", captures.pcapng(twice, links=links))
    whole = captures.write(tmp_path / "whole.pcap", captures.pcap(frames))
    one, other = analyse([whole], tmp_path / "one"), analyse([file], tmp_path / "other")
    assert other.capture["duplicates"] == len(frames)
    connections = other["connections"]
    assert connections["duplicates"].to_list() == [len(frames)]
    assert connections.drop("duplicates", "end_ns").equals(
        one["connections"].drop("duplicates", "end_ns")
    )
    packets = other["packets"]
    assert packets.filter(pl.col("kind") == "duplicate").height == len(frames)
    first = packets.filter(pl.col("kind") != "duplicate").drop(_WHERE)
    assert first.equals(one["packets"].drop(_WHERE))


def test_damage_is_told_and_what_stands_before_it_is_kept(tmp_path: Path) -> None:
    frames = _frames("v1")
    content = captures.pcap(frames)
    cut = captures.write(tmp_path / "cut.pcap", content[:-20])
    tables = analyse([cut], tmp_path / "tables")
    (file,) = tables.capture["files"]
    last = 16 + 14 + len(frames[-1].packet)
    assert file["damage"]["offset"] == len(content) - last
    assert tables["packets"].height == len(frames) - 1
