//! Matches and instructions of flow entries in words, with the specification's names.

use std::net::{Ipv4Addr, Ipv6Addr};

use mptcplab_openflow::port::number;
use mptcplab_openflow::{Action, Field, Instruction, Match, Oxm};

/// The fields of a match; empty: every packet.
pub(crate) fn matching(fields: &Match) -> String {
    let known = fields.fields.iter().map(field);
    let unknown = fields.unknown.iter();
    let unknown = unknown.map(|one| format!("field {}/{}", one.class, one.field));
    known.chain(unknown).collect::<Vec<_>>().join(", ")
}

/// Instructions with their actions; empty: packets are dropped.
pub(crate) fn instructions(all: &[Instruction]) -> String {
    let words = all.iter().map(|one| match one {
        Instruction::GotoTable(table) => format!("goto_table {table}"),
        Instruction::WriteMetadata { metadata, mask } => {
            format!("write_metadata {metadata:#x}/{mask:#x}")
        }
        Instruction::WriteActions(actions) => format!("write {}", list(actions)),
        Instruction::ApplyActions(actions) => list(actions),
        Instruction::ClearActions => "clear_actions".to_owned(),
        Instruction::Meter(meter) => format!("meter {meter}"),
        Instruction::Experimenter { experimenter, .. } => format!("experimenter {experimenter}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn list(actions: &[Action]) -> String {
    actions.iter().map(action).collect::<Vec<_>>().join(", ")
}

fn action(action: &Action) -> String {
    match action {
        Action::Output { port, .. } => format!("output {}", port_name(*port)),
        Action::CopyTtlOut => "copy_ttl_out".to_owned(),
        Action::CopyTtlIn => "copy_ttl_in".to_owned(),
        Action::SetMplsTtl(ttl) => format!("set_mpls_ttl {ttl}"),
        Action::DecMplsTtl => "dec_mpls_ttl".to_owned(),
        Action::PushVlan(kind) => format!("push_vlan {kind:#06x}"),
        Action::PopVlan => "pop_vlan".to_owned(),
        Action::PushMpls(kind) => format!("push_mpls {kind:#06x}"),
        Action::PopMpls(kind) => format!("pop_mpls {kind:#06x}"),
        Action::SetQueue(queue) => format!("set_queue {queue}"),
        Action::Group(group) => format!("group {group}"),
        Action::SetNwTtl(ttl) => format!("set_nw_ttl {ttl}"),
        Action::DecNwTtl => "dec_nw_ttl".to_owned(),
        Action::SetField(oxm) => format!("set_field {}", field(oxm)),
        Action::PushPbb(kind) => format!("push_pbb {kind:#06x}"),
        Action::PopPbb => "pop_pbb".to_owned(),
        Action::Experimenter { experimenter, .. } => format!("experimenter {experimenter}"),
    }
}

fn port_name(port: u32) -> String {
    match port {
        number::IN_PORT => "in_port".to_owned(),
        number::TABLE => "table".to_owned(),
        number::NORMAL => "normal".to_owned(),
        number::FLOOD => "flood".to_owned(),
        number::ALL => "all".to_owned(),
        number::CONTROLLER => "controller".to_owned(),
        number::LOCAL => "local".to_owned(),
        port => port.to_string(),
    }
}

fn field(oxm: &Oxm) -> String {
    let name = oxm.field.name();
    let value = value(oxm.field, oxm.value);
    match oxm.mask.filter(|mask| *mask != oxm.field.all_ones()) {
        Some(mask) => format!("{name} {value}/{}", self::value(oxm.field, mask)),
        None => format!("{name} {value}"),
    }
}

fn value(field: Field, value: u128) -> String {
    match (field, field.bits()) {
        (Field::Ipv4Src | Field::Ipv4Dst | Field::ArpSpa | Field::ArpTpa, _) => {
            Ipv4Addr::from_bits(value as u32).to_string()
        }
        (_, 128) => Ipv6Addr::from_bits(value).to_string(),
        (_, 48) => {
            let bytes = value.to_be_bytes();
            let bytes = bytes[10..].iter().map(|byte| format!("{byte:02x}"));
            bytes.collect::<Vec<_>>().join(":")
        }
        (Field::EthType, _) => format!("{value:#06x}"),
        (Field::Metadata | Field::TunnelId | Field::Ipv6Exthdr, _) => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_have_names_and_values_as_people_write_them() {
        let masked = |field, value, mask| Oxm {
            field,
            value,
            mask: Some(mask),
        };
        let of = Match::new([
            masked(Field::EthDst, 1 << 40, 1 << 40),
            masked(Field::EthType, 0x86dd, 0xffff),
            masked(Field::Ipv4Src, 0x0a00_0001, 0xffff_ff00),
            masked(Field::Ipv6Dst, 1, u128::MAX),
            masked(Field::TcpDst, 80, 0xffff),
        ]);
        let words = "eth_dst 01:00:00:00:00:00/01:00:00:00:00:00, eth_type 0x86dd, \
                     ipv4_src 10.0.0.1/255.255.255.0, ipv6_dst ::1, tcp_dst 80";
        assert_eq!(matching(&of), words);
        assert_eq!(matching(&Match::default()), "");
    }

    #[test]
    fn instructions_are_in_the_order_in_which_they_were_written() {
        let output = |port| Action::Output { port, max_len: 0 };
        let all = [
            Instruction::Meter(3),
            Instruction::ApplyActions(vec![output(2), output(number::CONTROLLER)]),
            Instruction::WriteActions(vec![Action::Group(7)]),
            Instruction::GotoTable(1),
        ];
        let words = "meter 3, output 2, output controller, write group 7, goto_table 1";
        assert_eq!(instructions(&all), words);
    }
}
