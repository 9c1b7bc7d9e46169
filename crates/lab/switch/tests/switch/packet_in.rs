//! Packets to controllers, and out of buffers.

use mptcplab_openflow::action::NO_BUFFER_LEN;
use mptcplab_openflow::error::BadRequest;
use mptcplab_openflow::flow::FlowMod;
use mptcplab_openflow::packet::{PacketIn, PacketInReason, PacketOut};
use mptcplab_openflow::setup::{AsyncConfig, SwitchConfig};
use mptcplab_openflow::{Action, Body, Field, Instruction, Match, Oxm, port};
use mptcplab_switch::{Config, DropReason};

use crate::frames::{arp, ipv4, tcp};
use crate::support::{
    Bench, SECOND, apply, config, ether_type, flow, output, packet_ins, to_controller,
};

fn up_to(max_len: u16) -> Action {
    Action::Output {
        port: port::number::CONTROLLER,
        max_len,
    }
}

/// The only packet that the controller gets for a frame.
fn packet_in(bench: &mut Bench, frame: &[u8]) -> PacketIn {
    let out = bench.receive(1, frame);
    assert_eq!(out.len(), 1, "{out:?}");
    packet_ins(&out).remove(0)
}

#[test]
fn an_entry_for_misses_says_so_and_another_one_that_it_is_an_action() {
    let mut bench = Bench::new();
    let miss = FlowMod {
        priority: 0,
        cookie: 5,
        ..flow([], apply([to_controller()]))
    };
    bench.done(Body::FlowMod(miss));
    bench.done(Body::FlowMod(flow(
        [ether_type(0x0806)],
        apply([to_controller()]),
    )));
    let expected = PacketIn {
        buffer: None,
        total_len: arp().len() as u16,
        reason: PacketInReason::Action,
        table: 0,
        cookie: 0,
        fields: Match::new([Oxm::exact(Field::InPort, 1_u8)]),
        data: arp(),
    };
    assert_eq!(packet_in(&mut bench, &arp()), expected);
    let missed = packet_in(&mut bench, &ipv4(6, &tcp()));
    assert_eq!((missed.reason, missed.cookie), (PacketInReason::NoMatch, 5));
}

#[test]
fn table_metadata_and_changes_up_to_there_are_told() {
    let mut bench = Bench::new();
    let write = Instruction::WriteMetadata {
        metadata: 9,
        mask: u64::MAX,
    };
    let goto = Instruction::GotoTable(4);
    bench.done(Body::FlowMod(flow(
        [],
        [vec![write, goto], apply([Action::PushVlan(0x8100)])].concat(),
    )));
    let second = FlowMod {
        table: 4,
        ..flow([], apply([to_controller()]))
    };
    bench.done(Body::FlowMod(second));
    let told = packet_in(&mut bench, &arp());
    assert_eq!(told.table, 4);
    assert_eq!(
        told.fields.get(Field::Metadata).map(|oxm| oxm.value),
        Some(9)
    );
    assert_eq!(told.data.len(), arp().len() + 4);
}

#[test]
fn a_buffered_packet_is_told_in_part_and_taken_once() {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply([up_to(20)]))));
    let told = packet_in(&mut bench, &arp());
    assert_eq!(
        (told.data, told.total_len),
        (arp()[..20].to_vec(), arp().len() as u16)
    );
    assert_eq!(bench.switch.buffered_now(), 1);
    let release = Body::PacketOut(PacketOut {
        buffer: told.buffer,
        in_port: 1,
        actions: vec![output(3)],
        data: vec![],
    });
    assert_eq!(bench.done(release.clone()), [(3, arp())]);
    assert_eq!(bench.refused(release), BadRequest::BufferEmpty.into());
    let unknown = Body::PacketOut(PacketOut {
        buffer: Some(1 << 20),
        in_port: 1,
        actions: vec![],
        data: vec![],
    });
    assert_eq!(bench.refused(unknown), BadRequest::BufferUnknown.into());
}

#[test]
fn an_added_entry_lets_the_packet_of_its_buffer_pass_the_tables() {
    let mut bench = Bench::new();
    let miss = FlowMod {
        priority: 0,
        ..flow([], apply([up_to(20)]))
    };
    bench.done(Body::FlowMod(miss));
    let told = packet_in(&mut bench, &arp());
    let entry = FlowMod {
        buffer: told.buffer,
        ..flow([Oxm::exact(Field::InPort, 1_u8)], apply([output(4)]))
    };
    assert_eq!(bench.done(Body::FlowMod(entry)), [(4, arp())]);
    let account = bench.account();
    assert_eq!(
        (account.buffered, account.unbuffered, account.forwarded),
        (1, 1, 2)
    );
}

#[test]
fn without_room_a_packet_is_told_as_a_whole_until_the_oldest_has_waited_a_second() {
    let mut bench = Bench::with(Config {
        buffers: 1,
        ..config()
    });
    bench.done(Body::FlowMod(flow([], apply([up_to(20)]))));
    let first = packet_in(&mut bench, &arp());
    assert!(first.buffer.is_some());
    let second = packet_in(&mut bench, &arp());
    assert_eq!((second.buffer, second.data), (None, arp()));
    bench.now_ns = SECOND;
    assert!(packet_in(&mut bench, &arp()).buffer > first.buffer);
    assert_eq!(bench.account().expired, 1);
    assert_eq!(bench.switch.buffered_now(), 1);
}

#[test]
fn without_buffers_every_packet_is_told_as_a_whole() {
    let mut bench = Bench::with(Config {
        buffers: 0,
        ..config()
    });
    bench.done(Body::FlowMod(flow([], apply([up_to(20)]))));
    assert_eq!(packet_in(&mut bench, &arp()).data, arp());
    assert_eq!(up_to(NO_BUFFER_LEN), to_controller());
}

#[test]
fn an_invalid_ttl_is_told_where_it_is_asked_for() {
    let mut bench = Bench::new();
    let actions = [Action::SetNwTtl(1), Action::DecNwTtl, output(2)];
    bench.done(Body::FlowMod(flow([], apply(actions))));
    assert_eq!(bench.receive(1, &ipv4(6, &tcp())), []);
    let wanted = AsyncConfig {
        packet_in: [0b111, 0],
        ..AsyncConfig::default()
    };
    bench.done(Body::SetAsync(wanted));
    bench.done(Body::SetConfig(SwitchConfig {
        flags: 0,
        miss_send_len: 30,
    }));
    let told = packet_in(&mut bench, &ipv4(6, &tcp()));
    assert_eq!(
        (told.reason, told.data.len()),
        (PacketInReason::InvalidTtl, 30)
    );
}

#[test]
fn without_a_controller_packets_to_it_are_dropped() {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply([to_controller()]))));
    bench.switch.disconnect(crate::support::CONTROLLER);
    assert_eq!(bench.receive(1, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::NoController), 1);
}
