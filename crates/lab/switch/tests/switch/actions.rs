//! Each action, and the order in which they are carried out.

use mptcplab_openflow::error::BadAction;
use mptcplab_openflow::{Action, Body, Field, Instruction, Oxm, port};
use mptcplab_switch::{DropReason, Output};

use crate::frames::{NETWORK, arp, echo, ipv4, ipv6, is_right, neighbour, sctp, tagged, tcp, udp};
use crate::support::{
    Bench, apply, ether_type, flow, frames, ip_proto, output, packet_ins, packet_out, to_controller,
};

/// The CRC-32C of the SCTP packet of these tests, and of the same packet to port 1, by another
/// program.
const SCTP_SUM_OF_PORT_90: [u8; 4] = [195, 189, 201, 111];
const SCTP_SUM_OF_PORT_1: [u8; 4] = [250, 40, 137, 178];

/// The frame after actions.
fn after(actions: Vec<Action>, frame: &[u8]) -> Vec<u8> {
    let mut bench = Bench::new();
    let actions = actions.into_iter().chain([output(2)]).collect();
    let mut sent = bench.done(packet_out(actions, frame));
    assert_eq!(sent.len(), 1);
    sent.remove(0).1
}

fn set(field: Field, value: impl Into<u128>) -> Action {
    Action::SetField(Oxm::exact(field, value))
}

#[test]
fn a_field_that_is_set_is_what_is_matched_and_checksums_stay_right() {
    use Field::*;
    let nd = 0xfd00_0000_0000_0000_0000_0000_0000_0077_u128;
    let cases: Vec<(Vec<u8>, Vec<Field>, u128)> = vec![
        (
            arp(),
            vec![EthDst, EthSrc, ArpSha, ArpTha],
            0x0203_0405_0607,
        ),
        (arp(), vec![ArpOp], 2),
        (arp(), vec![ArpSpa, ArpTpa], 0x0b00_0009),
        (ipv4(6, &tcp()), vec![Ipv4Src, Ipv4Dst], 0xc0a8_0107),
        (ipv4(17, &udp()), vec![Ipv4Src, Ipv4Dst], 0xc0a8_0107),
        (ipv4(1, &echo(8)), vec![Ipv4Src, Ipv4Dst], 0xc0a8_0107),
        (ipv6(6, &tcp()), vec![Ipv6Src, Ipv6Dst], nd),
        (ipv6(17, &udp()), vec![Ipv6Src, Ipv6Dst], nd),
        (ipv6(58, &echo(128)), vec![Ipv6Src, Ipv6Dst], nd),
        (ipv4(6, &tcp()), vec![IpDscp], 46),
        (ipv6(6, &tcp()), vec![IpDscp], 46),
        (ipv4(6, &tcp()), vec![IpEcn], 3),
        (ipv6(6, &tcp()), vec![IpEcn], 3),
        (ipv6(6, &tcp()), vec![Ipv6Flabel], 0xabcde),
        (ipv4(6, &tcp()), vec![TcpSrc, TcpDst], 0xfedc),
        (ipv6(17, &udp()), vec![UdpSrc, UdpDst], 0xfedc),
        (ipv4(132, &sctp()), vec![SctpSrc, SctpDst], 0xfedc),
        (ipv4(1, &echo(8)), vec![Icmpv4Code], 3),
        (ipv4(1, &echo(8)), vec![Icmpv4Type], 0),
        (ipv6(58, &echo(128)), vec![Icmpv6Type], 129),
        (ipv6(58, &echo(128)), vec![Icmpv6Code], 3),
        (ipv6(58, &neighbour(135)), vec![Ipv6NdTarget], nd),
        (ipv6(58, &neighbour(135)), vec![Ipv6NdSll], 0x0203_0405_0607),
        (ipv6(58, &neighbour(136)), vec![Ipv6NdTll], 0x0203_0405_0607),
        (ipv4(99, &[0; 4]), vec![IpProto], 200),
        (ipv6(99, &[0; 4]), vec![IpProto], 200),
    ];
    for (frame, fields, value) in cases {
        for field in fields {
            let changed = after(vec![set(field, value)], &frame);
            assert!(is_right(&changed), "{field:?}");
            assert_ne!(changed, frame, "{field:?}");
            assert_eq!(changed.len(), frame.len());
            // As it was, once it is set to what it was.
            let back = value_of(&frame, field);
            assert_eq!(
                after(vec![set(field, value), set(field, back)], &frame),
                frame
            );
        }
    }
}

/// The value that a field has in the frames of these tests.
fn value_of(frame: &[u8], field: Field) -> u128 {
    let (at, bytes) = match field {
        Field::EthDst => (0, 6),
        Field::EthSrc => (6, 6),
        Field::ArpOp => (NETWORK + 6, 2),
        Field::ArpSha => (NETWORK + 8, 6),
        Field::ArpSpa => (NETWORK + 14, 4),
        Field::ArpTha => (NETWORK + 18, 6),
        Field::ArpTpa => (NETWORK + 24, 4),
        Field::Ipv4Src => (NETWORK + 12, 4),
        Field::Ipv4Dst => (NETWORK + 16, 4),
        Field::Ipv6Src => (NETWORK + 8, 16),
        Field::Ipv6Dst => (NETWORK + 24, 16),
        Field::IpProto => return 99,
        Field::TcpSrc | Field::SctpSrc | Field::UdpSrc => return 1000,
        Field::TcpDst => return 80,
        Field::UdpDst => return 53,
        Field::SctpDst => return 90,
        Field::IpDscp => return 10,
        Field::IpEcn => return 1,
        Field::Ipv6Flabel => return 0x12345,
        Field::Icmpv4Type => return 8,
        Field::Icmpv6Type => return 128,
        Field::Icmpv4Code | Field::Icmpv6Code => return 0,
        Field::Ipv6NdTarget => (NETWORK + 40 + 8, 16),
        Field::Ipv6NdSll | Field::Ipv6NdTll => (NETWORK + 40 + 34, 6),
        other => panic!("{other:?}"),
    };
    frame[at..at + bytes]
        .iter()
        .fold(0, |value, byte| value << 8 | u128::from(*byte))
}

#[test]
fn the_checksum_of_sctp_follows_its_ports_and_keeps_its_error() {
    let place = NETWORK + 20 + 8;
    let set_port = |value: u16| vec![set(Field::SctpDst, value)];
    let mut right = ipv4(132, &sctp());
    right[place..place + 4].copy_from_slice(&SCTP_SUM_OF_PORT_90);
    let changed = after(set_port(1), &right);
    assert_eq!(changed[place..place + 4], SCTP_SUM_OF_PORT_1);
    right[place] ^= 0x55;
    let changed = after(set_port(1), &right);
    assert_eq!(changed[place] ^ 0x55, SCTP_SUM_OF_PORT_1[0]);
}

#[test]
fn udp_without_a_checksum_stays_without_one() {
    let mut frame = ipv4(17, &udp());
    frame[NETWORK + 20 + 6..NETWORK + 20 + 8].fill(0);
    let changed = after(vec![set(Field::UdpDst, 99_u8)], &frame);
    assert_eq!(changed[NETWORK + 20 + 6..NETWORK + 20 + 8], [0, 0]);
}

#[test]
fn a_field_that_a_packet_lacks_changes_nothing() {
    let frame = ipv4(6, &tcp());
    for field in [
        Field::UdpDst,
        Field::ArpOp,
        Field::Ipv6Src,
        Field::Icmpv6Type,
    ] {
        assert_eq!(after(vec![set(field, 1_u8)], &frame), frame);
    }
    assert_eq!(after(vec![set(Field::VlanVid, 0x1005_u16)], &frame), frame);
    assert_eq!(after(vec![Action::PopVlan], &frame), frame);
}

#[test]
fn tags_are_pushed_with_the_values_of_the_outer_tag_set_and_popped() {
    let plain = arp();
    assert_eq!(
        after(vec![Action::PushVlan(0x8100)], &plain),
        tagged(0x8100, 0, &plain)
    );
    let tag = 3 << 13 | 100;
    let inner = tagged(0x8100, tag, &plain);
    let outer = tagged(0x88a8, tag, &inner);
    assert_eq!(after(vec![Action::PushVlan(0x88a8)], &inner), outer);
    let set_both = vec![
        Action::PushVlan(0x88a8),
        set(Field::VlanVid, 0x1007_u16),
        set(Field::VlanPcp, 6_u8),
    ];
    assert_eq!(after(set_both, &inner), tagged(0x88a8, 6 << 13 | 7, &inner));
    assert_eq!(after(vec![Action::PopVlan], &outer), inner);
    assert_eq!(after(vec![Action::PopVlan, Action::PopVlan], &outer), plain);
}

#[test]
fn the_ttl_is_set_and_decremented() {
    for (frame, at) in [(ipv4(6, &tcp()), 8), (ipv6(6, &tcp()), 7)] {
        let at = NETWORK + at;
        let changed = after(vec![Action::SetNwTtl(9)], &frame);
        assert!(changed[at] == 9 && is_right(&changed));
        let changed = after(vec![Action::DecNwTtl], &frame);
        assert!(changed[at] == 63 && is_right(&changed));
    }
    assert_eq!(after(vec![Action::DecNwTtl], &arp()), arp());
}

#[test]
fn a_packet_whose_ttl_would_be_zero_is_dropped_with_what_follows() {
    let mut bench = Bench::new();
    let actions = vec![Action::SetNwTtl(1), Action::DecNwTtl, output(2)];
    assert_eq!(bench.done(packet_out(actions, &ipv4(6, &tcp()))), []);
    assert_eq!(bench.account().dropped.of(DropReason::InvalidTtl), 1);
}

#[test]
fn a_queue_is_told_where_the_port_has_it() {
    let mut bench = Bench::new();
    let actions = vec![Action::SetQueue(2), output(2), output(3)];
    let out = bench.say(packet_out(actions, &arp()));
    let queues: Vec<_> = out
        .iter()
        .map(|one| match one {
            Output::Packet { port, queue, .. } => (*port, *queue),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(queues, [(2, Some(2)), (3, None)]);
    assert_eq!(
        bench.refused(packet_out(vec![Action::SetQueue(9)], &arp())),
        BadAction::BadQueue.into()
    );
}

#[test]
fn applied_actions_take_effect_in_their_order_and_written_ones_in_that_of_the_specification() {
    let frame = arp();
    let actions = vec![
        output(3),
        set(Field::EthDst, 1_u8),
        Action::PushVlan(0x8100),
        set(Field::EthDst, 2_u8),
    ];
    let dst = |last: u8, frame: &[u8]| [&[0, 0, 0, 0, 0, last], &frame[6..]].concat();
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply(actions.clone()))));
    assert_eq!(bench.pass(1, &frame), [(3, frame.clone())]);
    bench.done(Body::FlowMod(flow(
        [],
        vec![Instruction::WriteActions(actions)],
    )));
    // One set-field of the field, the last that was written; the output comes at the end.
    assert_eq!(
        bench.pass(1, &frame),
        [(3, dst(2, &tagged(0x8100, 0, &frame)))]
    );
}

#[test]
fn the_set_of_actions_is_carried_from_table_to_table_overwritten_and_cleared() {
    let mut bench = Bench::new();
    let write = |actions: Vec<Action>| Instruction::WriteActions(actions);
    let goto = Instruction::GotoTable(1);
    bench.done(Body::FlowMod(flow(
        [],
        vec![write(vec![output(2), Action::DecNwTtl]), goto],
    )));
    let mut second = flow([], vec![write(vec![output(3)])]);
    second.table = 1;
    bench.done(Body::FlowMod(second.clone()));
    let sent = bench.pass(1, &ipv4(6, &tcp()));
    assert_eq!(sent.len(), 1);
    assert!(sent[0].0 == 3 && sent[0].1[NETWORK + 8] == 63);
    // Cleared before it is written, in whatever order the instructions stand.
    second.instructions.push(Instruction::ClearActions);
    bench.done(Body::FlowMod(second.clone()));
    assert_eq!(bench.pass(1, &ipv4(6, &tcp())), [(3, ipv4(6, &tcp()))]);
    second.instructions = vec![Instruction::ClearActions];
    bench.done(Body::FlowMod(second));
    assert_eq!(bench.pass(1, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::NoOutput), 1);
}

#[test]
fn reserved_ports_are_obeyed() {
    let sent_to = |to: u32| {
        let mut bench = Bench::new();
        bench.done(Body::FlowMod(flow([], apply([output(to)]))));
        let sent = bench.pass(1, &arp());
        sent.into_iter().map(|(port, _)| port).collect::<Vec<_>>()
    };
    assert_eq!(sent_to(port::number::ALL), [2, 3, 4]);
    assert_eq!(sent_to(port::number::FLOOD), [2, 3, 4]);
    assert_eq!(sent_to(port::number::IN_PORT), [1]);
    // Back by the port of ingress only where it is asked for.
    assert_eq!(sent_to(1), []);
    assert_eq!(sent_to(4), [4]);
}

#[test]
fn a_packet_of_the_controller_passes_the_tables() {
    let mut bench = Bench::new();
    let fields = [
        ether_type(0x0800),
        ip_proto(6),
        Oxm::exact(Field::TcpDst, 8080_u16),
    ];
    bench.done(Body::FlowMod(flow(fields, apply([output(4)]))));
    // By its fields as actions left them.
    let actions = vec![set(Field::TcpDst, 8080_u16), output(port::number::TABLE)];
    let sent = bench.done(packet_out(actions, &ipv4(6, &tcp())));
    assert!(sent.len() == 1 && sent[0].0 == 4);
}

#[test]
fn a_changed_protocol_is_in_the_sum_of_the_transport_that_there_was() {
    let changed = after(vec![set(Field::IpProto, 17_u8)], &ipv4(6, &tcp()));
    let back = after(vec![set(Field::IpProto, 6_u8)], &changed);
    // The checksum of UDP is at another place: it is TCP's that has followed.
    assert_ne!(
        changed[NETWORK + 20 + 16..],
        ipv4(6, &tcp())[NETWORK + 20 + 16..]
    );
    assert_eq!(
        back[NETWORK..NETWORK + 20],
        ipv4(6, &tcp())[NETWORK..NETWORK + 20]
    );
}

#[test]
fn the_id_of_a_tunnel_is_passed_on_to_later_tables_and_to_the_controller() {
    let mut bench = Bench::new();
    let set_id = apply([set(Field::TunnelId, 12_345_u16)]);
    let goto = vec![Instruction::GotoTable(1)];
    bench.done(Body::FlowMod(flow([], [set_id, goto].concat())));
    let tunnel = Oxm::exact(Field::TunnelId, 12_345_u16);
    let mut second = flow([tunnel], apply([output(2), to_controller()]));
    second.table = 1;
    bench.done(Body::FlowMod(second));
    let out = bench.receive(1, &arp());
    assert_eq!(frames(&out), [(2, arp())]);
    assert_eq!(
        packet_ins(&out)[0].fields.get(Field::TunnelId),
        Some(&tunnel)
    );
}
