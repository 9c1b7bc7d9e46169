//! Requests that the switch refuses, by the errors of the specification.

use mptcplab_openflow::error::{
    BadAction, BadInstruction, BadMatch, BadRequest, FlowModFailed, TableFeaturesFailed,
    TableModFailed,
};
use mptcplab_openflow::flow::{ALL_TABLES, FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::multipart::{Part, Reply, Request};
use mptcplab_openflow::setup::TableMod;
use mptcplab_openflow::{Action, Body, ErrorKind, Experimenter, Field, Instruction, Oxm, port};

use crate::frames::arp;
use crate::support::{Bench, apply, ether_type, flow, output, packet_out};

fn refusal(flow_mod: FlowMod) -> ErrorKind {
    Bench::new().refused(Body::FlowMod(flow_mod))
}

fn of_action(action: Action) -> ErrorKind {
    refusal(flow([], apply([action])))
}

#[test]
fn what_is_left_out_is_refused_by_name() {
    for action in [
        Action::PushMpls(0x8847),
        Action::PopMpls(0x0800),
        Action::SetMplsTtl(1),
        Action::DecMplsTtl,
        Action::PushPbb(0x88e7),
        Action::PopPbb,
        Action::CopyTtlIn,
        Action::CopyTtlOut,
    ] {
        assert_eq!(of_action(action), BadAction::BadType.into());
    }
    let experimenter = Action::Experimenter {
        experimenter: 1,
        data: vec![],
    };
    assert_eq!(of_action(experimenter), BadAction::BadExperimenter.into());
    for to in [port::number::LOCAL, port::number::NORMAL, port::number::ANY] {
        assert_eq!(of_action(output(to)), BadAction::BadOutPort.into());
    }
    let mpls = [ether_type(0x8847), Oxm::exact(Field::MplsLabel, 1_u8)];
    assert_eq!(refusal(flow(mpls, vec![])), BadMatch::BadField.into());
    let set = Action::SetField(Oxm::exact(Field::MplsLabel, 1_u8));
    assert_eq!(of_action(set), BadAction::BadSetType.into());
    let own = Body::Experimenter(Experimenter {
        experimenter: 1,
        exp_type: 1,
        data: vec![],
    });
    assert_eq!(
        Bench::new().refused(own),
        BadRequest::BadExperimenter.into()
    );
}

#[test]
fn actions_that_are_wrong_are_refused_by_their_codes() {
    let set = |field, value: u16| Action::SetField(Oxm::exact(field, value));
    let cases = [
        (output(99), BadAction::BadOutPort),
        (output(0), BadAction::BadOutPort),
        (output(port::number::TABLE), BadAction::BadOutPort),
        (Action::Group(9), BadAction::BadOutGroup),
        (Action::PushVlan(0x0800), BadAction::BadArgument),
        (set(Field::InPort, 1), BadAction::BadSetType),
        (set(Field::Metadata, 1), BadAction::BadSetType),
        (set(Field::Ipv6Exthdr, 1), BadAction::BadSetType),
        // An id without the bit that says that there is a tag.
        (set(Field::VlanVid, 5), BadAction::BadSetArgument),
        (set(Field::VlanPcp, 8), BadAction::BadSetArgument),
        // Fields that the match does not say the packet has.
        (set(Field::TcpDst, 80), BadAction::MatchInconsistent),
        (set(Field::VlanPcp, 1), BadAction::MatchInconsistent),
    ];
    for (action, code) in cases {
        assert_eq!(of_action(action.clone()), code.into(), "{action:?}");
    }
    let pushed = apply([Action::PushVlan(0x8100), set(Field::VlanPcp, 1)]);
    Bench::new().done(Body::FlowMod(flow([], pushed)));
}

#[test]
fn instructions_that_are_wrong_are_refused_by_their_codes() {
    let at_table = |table, instructions| FlowMod {
        table,
        ..flow([], instructions)
    };
    let goto = |table| vec![Instruction::GotoTable(table)];
    let experimenter = Instruction::Experimenter {
        experimenter: 1,
        data: vec![],
    };
    let twice = vec![Instruction::ClearActions; 2];
    let cases = [
        (at_table(3, goto(3)), BadInstruction::BadTableId),
        (at_table(3, goto(1)), BadInstruction::BadTableId),
        (at_table(3, goto(16)), BadInstruction::BadTableId),
        (
            flow([], vec![experimenter]),
            BadInstruction::BadExperimenter,
        ),
        (flow([], twice), BadInstruction::UnsupInst),
    ];
    for (flow_mod, code) in cases {
        assert_eq!(refusal(flow_mod.clone()), code.into(), "{flow_mod:?}");
    }
}

#[test]
fn flow_modifications_that_are_wrong_are_refused_by_their_codes() {
    let in_table = |table, command| FlowMod {
        table,
        command,
        ..flow([], vec![])
    };
    for (table, command) in [
        (16, FlowCommand::Add),
        (ALL_TABLES, FlowCommand::Add),
        (ALL_TABLES, FlowCommand::Modify),
        (16, FlowCommand::Delete),
    ] {
        let flow_mod = in_table(table, command);
        assert_eq!(refusal(flow_mod), FlowModFailed::BadTableId.into());
    }
    let flags = FlowMod {
        flags: FlowFlags::from_bits_retain(1 << 9),
        ..flow([], vec![])
    };
    assert_eq!(refusal(flags), FlowModFailed::BadFlags.into());
    let no_prerequisite = flow([Oxm::exact(Field::Ipv4Src, 1_u8)], vec![]);
    assert_eq!(refusal(no_prerequisite), BadMatch::BadPrereq.into());
    let buffer = FlowMod {
        buffer: Some(9),
        ..flow([], vec![])
    };
    assert_eq!(refusal(buffer), BadRequest::BufferUnknown.into());
}

#[test]
fn packet_outs_of_ports_that_are_not_there_are_refused() {
    let mut bench = Bench::new();
    let Body::PacketOut(mut packet) = packet_out(vec![output(1)], &arp()) else {
        panic!("no packet");
    };
    packet.in_port = 9;
    assert_eq!(
        bench.refused(Body::PacketOut(packet)),
        BadRequest::BadPort.into()
    );
}

#[test]
fn a_switch_gets_no_messages_of_a_switch() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.refused(Body::BarrierReply),
        BadRequest::BadType.into()
    );
}

#[test]
fn tables_cannot_be_configured() {
    let mut bench = Bench::new();
    let request = |table, config| Body::TableMod(TableMod { table, config });
    bench.done(request(ALL_TABLES, 0));
    assert_eq!(
        bench.refused(request(0, 3)),
        TableModFailed::BadConfig.into()
    );
    assert_eq!(
        bench.refused(request(16, 0)),
        TableModFailed::BadTable.into()
    );
    let Reply::TableFeatures(tables) = bench.reply(Request::TableFeatures(vec![])) else {
        panic!("no tables");
    };
    let set = Body::MultipartRequest(Part {
        more: false,
        content: Request::TableFeatures(tables),
    });
    assert_eq!(bench.refused(set), TableFeaturesFailed::Eperm.into());
    let more = Body::MultipartRequest(Part {
        more: true,
        content: Request::TableFeatures(vec![]),
    });
    assert_eq!(
        bench.refused(more),
        BadRequest::MultipartBufferOverflow.into()
    );
}
