//! Messages to switches.

use std::net::Ipv6Addr;

use mptcplab_openflow::action::NO_BUFFER_LEN;
use mptcplab_openflow::flow::{ALL_TABLES, FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::group::{GroupCommand, GroupMod, GroupType};
use mptcplab_openflow::meter::{self, BandKind, MeterBand, MeterCommand, MeterFlags, MeterMod};
use mptcplab_openflow::multipart::{Part, Request};
use mptcplab_openflow::packet::PacketOut;
use mptcplab_openflow::setup::{SwitchConfig, fragments};
use mptcplab_openflow::{Action, Body, Field, Instruction, Match, Oxm, group, port};
use mptcplab_wire::ethernet::ether_type;

/// Priorities: blocks of discovery, discovery, subflows, blocks of ports, the rest.
const BLOCK_LLDP: u16 = 61_000;
const LLDP: u16 = 60_000;
pub(crate) const SUBFLOW: u16 = 1_000;
const BLOCK: u16 = 10;
const MISS: u16 = 0;

/// Seconds for which a port is blocked.
pub(crate) const BLOCK_S: u16 = 1;
/// Seconds for which frames of discovery are not taken from a port that sends too many.
const BLOCK_LLDP_S: u16 = 10;

/// The meter of packets to the controller.
const METER: u32 = 1;

/// The controller's own link-local address, by which hosts answer it.
pub(crate) const OWN_IPV6: Ipv6Addr =
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0x006d, 0x70ff, 0xfe74, 0x6370);

/// Forwards a packet by a port.
pub(crate) fn output(port: u32) -> Action {
    Action::Output { port, max_len: 0 }
}

/// Sends a packet to the controller, as a whole.
pub(crate) fn to_controller() -> Action {
    Action::Output {
        port: port::number::CONTROLLER,
        max_len: NO_BUFFER_LEN,
    }
}

/// A frame of the controller's that a switch sends by ports.
pub(crate) fn packet_out(ports: &[u32], data: Vec<u8>) -> Body {
    Body::PacketOut(PacketOut {
        buffer: None,
        in_port: port::number::CONTROLLER,
        actions: ports.iter().map(|port| output(*port)).collect(),
        data,
    })
}

pub(crate) fn echo_request() -> Body {
    Body::EchoRequest(Vec::new())
}

/// A modification of table 0 that has nothing yet.
pub(crate) fn flow_mod(command: FlowCommand, priority: u16, fields: Match) -> FlowMod {
    FlowMod {
        cookie: 0,
        cookie_mask: 0,
        table: 0,
        command,
        idle_timeout: 0,
        hard_timeout: 0,
        priority,
        buffer: None,
        out_port: port::number::ANY,
        out_group: group::number::ANY,
        flags: FlowFlags::empty(),
        fields,
        instructions: Vec::new(),
    }
}

/// Packets to the controller whole, fragments as they are.
pub(crate) fn set_config() -> Body {
    Body::SetConfig(SwitchConfig {
        flags: fragments::NORMAL,
        miss_send_len: NO_BUFFER_LEN,
    })
}

/// Deletes the entries of all tables.
pub(crate) fn delete_all() -> Body {
    let mut request = flow_mod(FlowCommand::Delete, 0, Match::default());
    request.table = ALL_TABLES;
    Body::FlowMod(request)
}

/// Sends frames of discovery to the controller: not by the meter, so that a flood of others takes
/// no link away.
pub(crate) fn lldp() -> Body {
    let fields = Match::new([Oxm::exact(Field::EthType, ether_type::LLDP)]);
    let mut request = flow_mod(FlowCommand::Add, LLDP, fields);
    request.instructions = vec![Instruction::ApplyActions(vec![to_controller()])];
    Body::FlowMod(request)
}

/// Sends what no entry matches to the controller, by the meter where there is one.
pub(crate) fn miss(has_meter: bool) -> Body {
    let mut request = flow_mod(FlowCommand::Add, MISS, Match::default());
    if has_meter {
        request.instructions.push(Instruction::Meter(METER));
    }
    let apply = Instruction::ApplyActions(vec![to_controller()]);
    request.instructions.push(apply);
    Body::FlowMod(request)
}

/// Deletes all groups.
pub(crate) fn delete_groups() -> Body {
    Body::GroupMod(GroupMod {
        command: GroupCommand::Delete,
        group_type: GroupType::All,
        group: group::number::ALL,
        buckets: Vec::new(),
    })
}

/// A group of fast failover without a way: a switch that refuses it has no such groups.
pub(crate) fn try_failover() -> Body {
    Body::GroupMod(GroupMod {
        command: GroupCommand::Add,
        group_type: GroupType::FastFailover,
        group: 0,
        buckets: Vec::new(),
    })
}

/// Deletes all meters.
pub(crate) fn delete_meters() -> Body {
    Body::MeterMod(MeterMod {
        command: MeterCommand::Delete,
        flags: MeterFlags::empty(),
        meter: meter::number::ALL,
        bands: Vec::new(),
    })
}

/// The meter of packets to the controller.
pub(crate) fn meter(rate: u32) -> Body {
    Body::MeterMod(MeterMod {
        command: MeterCommand::Add,
        flags: MeterFlags::PKTPS | MeterFlags::BURST | MeterFlags::STATS,
        meter: METER,
        bands: vec![MeterBand {
            rate,
            burst_size: rate,
            kind: BandKind::Drop,
        }],
    })
}

/// Drops what comes by a port and has no rule, for a while.
pub(crate) fn block(port: u32) -> Body {
    let fields = Match::new([Oxm::exact(Field::InPort, port)]);
    let mut request = flow_mod(FlowCommand::Add, BLOCK, fields);
    request.hard_timeout = BLOCK_S;
    Body::FlowMod(request)
}

/// Drops frames of discovery that come by a port, for a while.
pub(crate) fn block_lldp(port: u32) -> Body {
    let fields = Match::new([
        Oxm::exact(Field::InPort, port),
        Oxm::exact(Field::EthType, ether_type::LLDP),
    ]);
    let mut request = flow_mod(FlowCommand::Add, BLOCK_LLDP, fields);
    request.hard_timeout = BLOCK_LLDP_S;
    Body::FlowMod(request)
}

pub(crate) fn request(content: Request) -> Body {
    Body::MultipartRequest(Part {
        more: false,
        content,
    })
}
