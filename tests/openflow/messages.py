"""Messages of OpenFlow 1.3 that the tests send and read, by os-ken."""

from dataclasses import dataclass
from typing import Any

from os_ken.ofproto import ofproto_v1_3, ofproto_v1_3_parser
from os_ken.ofproto.ofproto_parser import ofp_msg_from_jsondict
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

HEADER_BYTES = 8


class _Datapath(ProtocolDesc):  # type: ignore[misc]
    """The part of a connection that os-ken's messages ask for."""

    def __init__(self) -> None:
        super().__init__(version=ofproto_v1_3.OFP_VERSION)

    def set_xid(self, _: object) -> None:
        """Leaves transaction ids as they are."""


_DATAPATH = _Datapath()
_OFP = ofproto_v1_3
_NEW = ofproto_v1_3_parser
BARRIER_REPLY = _OFP.OFPT_BARRIER_REPLY
MULTIPART_REPLY = _OFP.OFPT_MULTIPART_REPLY


@dataclass(frozen=True)
class TableCounts:
    """Counters of a table."""

    looked_up: int
    matched: int


def from_json(described: dict[str, Any]) -> bytes:
    """The bytes of a message that is described as os-ken writes it in JSON."""
    return _bytes(ofp_msg_from_jsondict(_DATAPATH, described))


def start() -> tuple[bytes, ...]:
    """Begins a connection, and asks for packets as a whole."""
    whole = _NEW.OFPSetConfig(_DATAPATH, _OFP.OFPC_FRAG_NORMAL, _OFP.OFPCML_NO_BUFFER)
    return _bytes(_NEW.OFPHello(_DATAPATH)), _bytes(whole)


def clear() -> tuple[bytes, ...]:
    """Removes all entries, groups and meters."""
    anywhere = {"out_port": _OFP.OFPP_ANY, "out_group": _OFP.OFPG_ANY}
    entries = _NEW.OFPFlowMod(
        _DATAPATH, table_id=_OFP.OFPTT_ALL, command=_OFP.OFPFC_DELETE, **anywhere
    )
    groups = _NEW.OFPGroupMod(_DATAPATH, _OFP.OFPGC_DELETE, 0, _OFP.OFPG_ALL)
    meters = _NEW.OFPMeterMod(_DATAPATH, _OFP.OFPMC_DELETE, meter_id=_OFP.OFPM_ALL)
    return _bytes(entries), _bytes(groups), _bytes(meters)


def barrier() -> bytes:
    return _bytes(_NEW.OFPBarrierRequest(_DATAPATH))


def ask_port(port: int) -> bytes:
    """Asks for the counters of a port."""
    return _bytes(_NEW.OFPPortStatsRequest(_DATAPATH, 0, port))


def ask_tables() -> bytes:
    """Asks for the counters of all tables."""
    return _bytes(_NEW.OFPTableStatsRequest(_DATAPATH, 0))


def kind(message: bytes) -> int:
    """The number of a message's type."""
    return message[1]


def received(answer: bytes) -> int:
    """The packets that came in by the port that was asked for."""
    counts: int = _parse(answer).body[0].rx_packets
    return counts


def tables(answers: list[bytes]) -> dict[int, TableCounts]:
    """The counters by number of the table."""
    parts = [_parse(one) for one in answers if kind(one) == MULTIPART_REPLY]
    return {
        one.table_id: TableCounts(one.lookup_count, one.matched_count)
        for part in parts
        for one in part.body
    }


def errors(answers: list[bytes]) -> list[str]:
    """The errors among messages, by their names."""
    found = [_parse(one) for one in answers if kind(one) == _OFP.OFPT_ERROR]
    named = [_OFP.ofp_error_to_jsondict(one.type, one.code) for one in found]
    return [f"{one['type']} {one['code']}" for one in named]


def packets_in(answers: list[bytes]) -> list[bytes]:
    """The packets that messages bring to the controller."""
    return [_parse(one).data for one in answers if kind(one) == _OFP.OFPT_PACKET_IN]


def _bytes(message: Any) -> bytes:
    message.serialize()
    return bytes(message.buf)


def _parse(message: bytes) -> Any:
    version, number, length, xid = (
        message[0],
        message[1],
        int.from_bytes(message[2:4]),
        int.from_bytes(message[4:8]),
    )
    return _NEW.msg_parser(_DATAPATH, version, number, length, xid, message)
