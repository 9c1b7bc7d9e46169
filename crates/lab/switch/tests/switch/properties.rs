//! Properties of the switch under any messages and packets.

use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::group::{Bucket, GroupCommand, GroupType};
use mptcplab_openflow::meter::{BandKind, MeterBand, MeterCommand, MeterFlags, MeterMod};
use mptcplab_openflow::packet::PacketOut;
use mptcplab_openflow::port::{PortConfig, PortMod};
use mptcplab_openflow::{Action, Body, Field, Instruction, Oxm, port};
use mptcplab_switch::{Account, Output, PortSetup, Switch};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::frames::{arp, echo, ipv4, ipv6, neighbour, tagged, tcp, udp};
use crate::support::{Bench, bucket, ether_type, flow, group_mod, ip_proto, output};

/// A step of a script.
#[derive(Clone, Debug)]
enum Step {
    Receive(u32, Vec<u8>),
    Say(Body),
    Link(u32, bool),
    Wait(u64),
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let whole = select(vec![
        arp(),
        ipv4(6, &tcp()),
        ipv4(17, &udp()),
        ipv6(6, &tcp()),
        ipv4(1, &echo(8)),
        ipv6(58, &neighbour(135)),
        tagged(0x8100, 5, &arp()),
    ]);
    let damaged = (
        whole.clone(),
        vec((any::<usize>(), any::<u8>()), 0..4),
        any::<usize>(),
    );
    let damaged = damaged.prop_map(|(mut frame, changes, length)| {
        for (place, byte) in changes {
            let place = place % frame.len();
            frame[place] = byte;
        }
        frame.truncate(length % (frame.len() + 1));
        frame
    });
    prop_oneof![whole, damaged, vec(any::<u8>(), 0..80)]
}

fn action() -> impl Strategy<Value = Action> {
    use Field::*;
    let to = select(vec![
        1,
        2,
        3,
        99,
        port::number::IN_PORT,
        port::number::ALL,
        port::number::CONTROLLER,
        port::number::TABLE,
    ]);
    let settable = vec![
        EthDst,
        VlanVid,
        VlanPcp,
        IpDscp,
        Ipv4Src,
        Ipv6Dst,
        TcpDst,
        UdpSrc,
        Icmpv4Type,
        ArpSpa,
        Ipv6NdTarget,
        EthType,
        IpProto,
    ];
    prop_oneof![
        3 => (to, select(vec![0, 20, u16::MAX]))
            .prop_map(|(port, max_len)| Action::Output { port, max_len }),
        1 => (0..4_u32).prop_map(Action::Group),
        1 => (0..4_u32).prop_map(Action::SetQueue),
        1 => select(vec![
            Action::PushVlan(0x8100),
            Action::PopVlan,
            Action::DecNwTtl,
            Action::SetNwTtl(1),
        ]),
        2 => (select(settable), any::<u128>()).prop_map(|(field, value)| {
            let value = (value & field.all_ones()) | u128::from(field == VlanVid) << 12;
            Action::SetField(Oxm::exact(field, value))
        }),
    ]
}

fn fields() -> impl Strategy<Value = Vec<Oxm>> {
    select(vec![
        vec![],
        vec![ether_type(0x0806)],
        vec![ether_type(0x0800)],
        vec![ether_type(0x0800), ip_proto(6)],
        vec![
            ether_type(0x86dd),
            Oxm::masked(Field::Ipv6Flabel, 1_u8, 1_u8),
        ],
        vec![Oxm::exact(Field::InPort, 1_u8)],
        vec![Oxm::masked(Field::VlanVid, 0x1000_u16, 0x1000_u16)],
    ])
}

fn instructions() -> impl Strategy<Value = Vec<Instruction>> {
    let list = || vec(action(), 0..4);
    let one = prop_oneof![
        4 => list().prop_map(Instruction::ApplyActions),
        3 => list().prop_map(Instruction::WriteActions),
        2 => (1..4_u8).prop_map(Instruction::GotoTable),
        1 => Just(Instruction::ClearActions),
        1 => Just(Instruction::Meter(1)),
        1 => any::<(u64, u64)>()
            .prop_map(|(metadata, mask)| Instruction::WriteMetadata { metadata, mask }),
    ];
    vec(one, 0..4)
}

fn flow_mod() -> impl Strategy<Value = Body> {
    (
        select(FlowCommand::ALL),
        (0..3_u8, 0..3_u16, 0..3_u16, 0..3_u16),
        0..32_u16,
        option::weighted(0.2, 1..6_u32),
        fields(),
        instructions(),
    )
        .prop_map(|(command, numbers, flags, buffer, fields, instructions)| {
            let (table, priority, idle_timeout, hard_timeout) = numbers;
            Body::FlowMod(FlowMod {
                command,
                table,
                priority,
                idle_timeout,
                hard_timeout,
                flags: FlowFlags::from_bits_retain(flags),
                buffer,
                ..flow(fields, instructions)
            })
        })
}

fn table_mod() -> impl Strategy<Value = Body> {
    let buckets = (vec(action(), 0..3), select(vec![1, 2, port::number::ANY])).prop_map(
        |(actions, watch_port)| Bucket {
            watch_port,
            ..bucket(actions)
        },
    );
    let group = (
        select(GroupCommand::ALL),
        select(GroupType::ALL),
        0..4_u32,
        vec(buckets, 0..3),
    )
        .prop_map(|(command, kind, group, buckets)| group_mod(command, kind, group, buckets));
    let meter = (select(MeterCommand::ALL), 1..5_u32, any::<bool>()).prop_map(
        |(command, rate, remarks)| {
            let kind = match remarks {
                true => BandKind::DscpRemark { prec_level: 1 },
                false => BandKind::Drop,
            };
            Body::MeterMod(MeterMod {
                command,
                flags: MeterFlags::PKTPS | MeterFlags::BURST,
                meter: 1,
                bands: vec![MeterBand {
                    rate,
                    burst_size: rate,
                    kind,
                }],
            })
        },
    );
    prop_oneof![group, meter]
}

fn step() -> impl Strategy<Value = Step> {
    let packet_out =
        (option::of(1..6_u32), vec(action(), 0..4), frame()).prop_map(|(buffer, actions, data)| {
            Body::PacketOut(PacketOut {
                buffer,
                in_port: 1,
                actions,
                data,
            })
        });
    let port_mod = (1..4_u32, any::<u32>(), any::<bool>()).prop_map(|(port, bits, set)| {
        let mask = PortConfig::from_bits_retain(bits & 0x65);
        Body::PortMod(PortMod {
            port,
            hw_addr: PortSetup::new(port).hw_addr,
            config: if set { mask } else { PortConfig::empty() },
            mask,
            advertise: 0,
        })
    });
    prop_oneof![
        6 => (0..6_u32, frame()).prop_map(|(port, frame)| Step::Receive(port, frame)),
        5 => flow_mod().prop_map(Step::Say),
        2 => table_mod().prop_map(Step::Say),
        2 => packet_out.prop_map(Step::Say),
        1 => port_mod.prop_map(Step::Say),
        1 => (1..4_u32, any::<bool>()).prop_map(|(port, up)| Step::Link(port, up)),
        1 => (0..3_000_000_000_u64).prop_map(Step::Wait),
    ]
}

/// A step of a switch that forwards many packets as they came.
fn forwarding() -> impl Strategy<Value = Step> {
    let actions = prop_oneof![
        3 => (1..4_u32).prop_map(|port| vec![output(port)]),
        1 => (1..4_u32).prop_map(|queue| vec![Action::SetQueue(queue), output(2)]),
        2 => (0..4_u32).prop_map(|group| vec![Action::Group(group)]),
    ];
    let instruction = prop_oneof![
        2 => actions.clone().prop_map(Instruction::ApplyActions),
        2 => actions.prop_map(Instruction::WriteActions),
        1 => Just(Instruction::GotoTable(1)),
    ];
    let entry = (
        0..2_u8,
        0..3_u16,
        0..3_u16,
        fields(),
        vec(instruction, 1..3),
    )
        .prop_map(|(table, priority, idle_timeout, fields, instructions)| {
            Step::Say(Body::FlowMod(FlowMod {
                table,
                priority,
                idle_timeout,
                ..flow(fields, instructions)
            }))
        });
    let buckets = vec(
        (1..4_u32).prop_map(|port| Bucket {
            watch_port: port,
            ..bucket(vec![output(port)])
        }),
        1..3,
    );
    let group = (select(GroupType::ALL), 0..4_u32, buckets).prop_map(|(kind, group, buckets)| {
        Step::Say(group_mod(GroupCommand::Add, kind, group, buckets))
    });
    prop_oneof![
        3 => entry,
        2 => group,
        3 => (1..4_u32, frame()).prop_map(|(port, frame)| Step::Receive(port, frame)),
        1 => step(),
    ]
}

/// Carries out a step, and returns what comes of it.
fn carry_out(bench: &mut Bench, step: Step) -> Vec<Output> {
    let mut out = Vec::new();
    match step {
        Step::Receive(port, frame) => out = bench.receive(port, &frame),
        Step::Say(body) => out = bench.say(body),
        Step::Link(port, up) => bench.switch.set_link(port, up, &mut out),
        Step::Wait(nanos) => {
            bench.now_ns += nanos;
            bench.switch.advance(bench.now_ns, &mut out);
        }
    }
    out
}

/// Whether the account adds up.
fn adds_up(account: &Account, switch: &Switch) -> bool {
    let taken = account.received + account.injected + account.unbuffered;
    let kept = account.unbuffered + account.expired + switch.buffered_now() as u64;
    taken == account.forwarded + account.dropped.total()
        && account.attempts == account.sent + account.packet_ins + account.blocked.total()
        && account.buffered == kept
}

/// Passes a frame like the last one that came by the port: without its bytes where the switch has no
/// need of them.
fn repeat(bench: &mut Bench, port: u32, frame: &[u8]) -> Vec<Output> {
    let bytes = frame.len() as u64;
    match bench.switch.repeat(bench.now_ns, port, bytes) {
        Some((port, queue)) => vec![Output::Packet {
            port,
            queue,
            frame: frame.to_vec().into(),
        }],
        None => bench.receive(port, frame),
    }
}

proptest! {
    #[test]
    fn a_packet_like_the_last_one_needs_not_be_read(
        steps in vec((forwarding(), vec(0..700_000_000_u64, 0..4)), 0..40),
    ) {
        let (mut one, mut other) = (Bench::new(), Bench::new());
        for (step, pauses_ns) in steps {
            prop_assert_eq!(carry_out(&mut one, step.clone()), carry_out(&mut other, step.clone()));
            let Step::Receive(port, frame) = step else {
                continue;
            };
            for pause_ns in pauses_ns {
                one.now_ns += pause_ns;
                other.now_ns += pause_ns;
                prop_assert_eq!(one.receive(port, &frame), repeat(&mut other, port, &frame));
                prop_assert_eq!(format!("{:?}", one.switch), format!("{:?}", other.switch));
            }
        }
    }

    #[test]
    fn accounts_add_up_and_say_what_went_out(steps in vec(step(), 0..60)) {
        let mut bench = Bench::new();
        let (mut sent, mut told) = (0, 0);
        for step in steps {
            for output in carry_out(&mut bench, step) {
                match output {
                    Output::Packet { .. } => sent += 1,
                    Output::Message { message, .. } => {
                        told += u64::from(matches!(message.body, Body::PacketIn(_)));
                    }
                    Output::Close(_) => {}
                }
            }
            let account = bench.account();
            prop_assert!(adds_up(&account, &bench.switch), "{:?}", account);
            prop_assert_eq!((account.sent, account.packet_ins), (sent, told));
            let deadline = bench.switch.next_deadline();
            prop_assert!(deadline.is_none_or(|at_ns| at_ns > bench.now_ns));
        }
    }

    /// So does the next one like it, of which only the length is known, until something changes.
    #[test]
    fn forwarding_is_repeated(to in 2..5_u32, bytes in 14..2_000_u64) {
        let mut bench = Bench::new();
        let forwards = Body::FlowMod(flow([], vec![Instruction::WriteActions(vec![output(to)])]));
        bench.done(forwards.clone());
        prop_assert_eq!(bench.switch.repeat(0, 1, bytes), None);
        bench.pass(1, &arp());
        for _ in 0..2 {
            prop_assert_eq!(bench.switch.repeat(0, 1, bytes), Some((to, None)));
        }
        prop_assert_eq!(bench.switch.repeat(0, to, bytes), None);
        prop_assert_eq!(bench.account().sent, 3);
        bench.done(forwards);
        prop_assert_eq!(bench.switch.repeat(0, 1, bytes), None);
    }

    /// A packet that is only forwarded goes out as it came in.
    #[test]
    fn forwarding_changes_no_byte(frame in frame(), to in 2..5_u32) {
        let mut bench = Bench::new();
        bench.done(Body::FlowMod(flow([], vec![Instruction::WriteActions(vec![output(to)])])));
        let sent = bench.pass(1, &frame);
        match frame.len() {
            14.. => prop_assert_eq!(sent, [(to, frame)]),
            _ => prop_assert!(sent.is_empty()),
        }
    }
}
