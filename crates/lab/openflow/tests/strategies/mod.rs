//! Any message of the protocol, for tests of properties.

mod entries;
mod multipart;

use mptcplab_openflow::error::{
    BadAction, BadInstruction, BadMatch, BadRequest, FlowModFailed, GroupModFailed, HelloFailed,
    MeterModFailed, PortModFailed, QueueOpFailed, RoleRequestFailed, SwitchConfigFailed,
    TableFeaturesFailed, TableModFailed,
};
use mptcplab_openflow::group::{GroupCommand, GroupMod, GroupType};
use mptcplab_openflow::matching::UnknownOxm;
use mptcplab_openflow::meter::{BandKind, MeterBand, MeterCommand, MeterFlags, MeterMod};
use mptcplab_openflow::multipart::Part;
use mptcplab_openflow::packet::{PacketIn, PacketInReason, PacketOut};
use mptcplab_openflow::port::{Port, PortConfig, PortMod, PortReason, PortState, PortStatus};
use mptcplab_openflow::queue::{PacketQueue, QueueConfig, QueueProperty};
use mptcplab_openflow::setup::{
    AsyncConfig, Capabilities, Features, Role, RoleMessage, SwitchConfig, TableMod,
};
use mptcplab_openflow::{
    Action, Body, Elapsed, ErrorKind, ErrorMessage, Experimenter, Field, Hello, Instruction, Match,
    Message, Oxm, Text,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

/// Data of whole words of 8 bytes.
pub(crate) fn words() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<[u8; 8]>(), 0..4).prop_map(|words| words.concat())
}

pub(crate) fn text<const N: usize>() -> impl Strategy<Value = Text<N>> {
    any::<String>().prop_map(|text| Text::new(&text))
}

pub(crate) fn elapsed() -> impl Strategy<Value = Elapsed> {
    any::<(u32, u32)>().prop_map(|(seconds, nanoseconds)| Elapsed {
        seconds,
        nanoseconds,
    })
}

pub(crate) fn buffer() -> impl Strategy<Value = Option<u32>> {
    option::of(0..u32::MAX)
}

pub(crate) fn oxm() -> impl Strategy<Value = Oxm> {
    (select(Field::ALL), any::<u128>(), option::of(any::<u128>())).prop_map(
        |(field, value, mask)| Oxm {
            field,
            value: value & field.all_ones(),
            mask: mask.map(|mask| mask & field.all_ones()),
        },
    )
}

fn unknown_oxm() -> impl Strategy<Value = UnknownOxm> {
    let class = prop_oneof![0..0x8000_u16, 0x8001..=0xffff_u16];
    (class, 0..128_u8, any::<bool>(), data()).prop_map(|(class, field, has_mask, payload)| {
        UnknownOxm {
            class,
            field,
            has_mask,
            payload,
        }
    })
}

pub(crate) fn fields() -> impl Strategy<Value = Match> {
    (vec(oxm(), 0..6), vec(unknown_oxm(), 0..2))
        .prop_map(|(fields, unknown)| Match { fields, unknown })
}

pub(crate) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        any::<(u32, u16)>().prop_map(|(port, max_len)| Action::Output { port, max_len }),
        Just(Action::CopyTtlOut),
        Just(Action::CopyTtlIn),
        any::<u8>().prop_map(Action::SetMplsTtl),
        Just(Action::DecMplsTtl),
        any::<u16>().prop_map(Action::PushVlan),
        Just(Action::PopVlan),
        any::<u16>().prop_map(Action::PushMpls),
        any::<u16>().prop_map(Action::PopMpls),
        any::<u32>().prop_map(Action::SetQueue),
        any::<u32>().prop_map(Action::Group),
        any::<u8>().prop_map(Action::SetNwTtl),
        Just(Action::DecNwTtl),
        oxm().prop_map(|oxm| Action::SetField(Oxm { mask: None, ..oxm })),
        any::<u16>().prop_map(Action::PushPbb),
        Just(Action::PopPbb),
        (any::<u32>(), words())
            .prop_map(|(experimenter, data)| Action::Experimenter { experimenter, data }),
    ]
}

pub(crate) fn actions() -> impl Strategy<Value = Vec<Action>> {
    vec(action(), 0..5)
}

pub(crate) fn instruction() -> impl Strategy<Value = Instruction> {
    prop_oneof![
        any::<u8>().prop_map(Instruction::GotoTable),
        any::<(u64, u64)>()
            .prop_map(|(metadata, mask)| Instruction::WriteMetadata { metadata, mask }),
        actions().prop_map(Instruction::WriteActions),
        actions().prop_map(Instruction::ApplyActions),
        Just(Instruction::ClearActions),
        any::<u32>().prop_map(Instruction::Meter),
        (any::<u32>(), words())
            .prop_map(|(experimenter, data)| Instruction::Experimenter { experimenter, data }),
    ]
}

pub(crate) fn port() -> impl Strategy<Value = Port> {
    (any::<(u32, [u8; 6])>(), text(), any::<[u32; 8]>()).prop_map(
        |((port, hw_addr), name, numbers)| {
            let [
                config,
                state,
                curr,
                advertised,
                supported,
                peer,
                curr_speed,
                max_speed,
            ] = numbers;
            Port {
                port,
                hw_addr,
                name,
                config: PortConfig::from_bits_retain(config),
                state: PortState::from_bits_retain(state),
                curr,
                advertised,
                supported,
                peer,
                curr_speed,
                max_speed,
            }
        },
    )
}

pub(crate) fn bands() -> impl Strategy<Value = Vec<MeterBand>> {
    let kind = prop_oneof![
        Just(BandKind::Drop),
        any::<u8>().prop_map(|prec_level| BandKind::DscpRemark { prec_level }),
        (any::<u32>(), data())
            .prop_map(|(experimenter, data)| BandKind::Experimenter { experimenter, data }),
    ];
    let band = (any::<(u32, u32)>(), kind).prop_map(|((rate, burst_size), kind)| MeterBand {
        rate,
        burst_size,
        kind,
    });
    vec(band, 0..4)
}

/// Every error that the specification names, and some that it does not.
pub(crate) fn error_kind() -> impl Strategy<Value = ErrorKind> {
    fn each<T: Copy + Into<ErrorKind>>(codes: &'static [T]) -> Vec<ErrorKind> {
        codes.iter().map(|&code| code.into()).collect()
    }
    let named = [
        each(HelloFailed::ALL),
        each(BadRequest::ALL),
        each(BadAction::ALL),
        each(BadInstruction::ALL),
        each(BadMatch::ALL),
        each(FlowModFailed::ALL),
        each(GroupModFailed::ALL),
        each(PortModFailed::ALL),
        each(TableModFailed::ALL),
        each(QueueOpFailed::ALL),
        each(SwitchConfigFailed::ALL),
        each(RoleRequestFailed::ALL),
        each(MeterModFailed::ALL),
        each(TableFeaturesFailed::ALL),
    ]
    .concat();
    prop_oneof![
        8 => select(named),
        1 => any::<(u16, u32)>().prop_map(|(exp_type, experimenter)| ErrorKind::Experimenter {
            exp_type,
            experimenter,
        }),
        1 => (14..0xffff_u16, any::<u16>())
            .prop_map(|(kind, code)| ErrorKind::Unknown { kind, code }),
    ]
}

fn queue_config() -> impl Strategy<Value = QueueConfig> {
    let property = prop_oneof![
        any::<u16>().prop_map(QueueProperty::MinRate),
        any::<u16>().prop_map(QueueProperty::MaxRate),
        (3..=0xffff_u16, data()).prop_map(|(number, data)| QueueProperty::Other { number, data }),
    ];
    let queue =
        (any::<(u32, u32)>(), vec(property, 0..3)).prop_map(|((queue, port), properties)| {
            PacketQueue {
                queue,
                port,
                properties,
            }
        });
    (any::<u32>(), vec(queue, 0..3)).prop_map(|(port, queues)| QueueConfig { port, queues })
}

fn setup() -> impl Strategy<Value = Body> {
    let config = any::<(u16, u16)>().prop_map(|(flags, miss_send_len)| SwitchConfig {
        flags,
        miss_send_len,
    });
    let role = (select(Role::ALL), any::<u64>()).prop_map(|(role, generation_id)| RoleMessage {
        role,
        generation_id,
    });
    let asynchronous =
        any::<[[u32; 2]; 3]>().prop_map(|[packet_in, port_status, flow_removed]| AsyncConfig {
            packet_in,
            port_status,
            flow_removed,
        });
    let features = any::<(u64, u32, u8, u8, u32)>().prop_map(|numbers| {
        let (datapath_id, n_buffers, n_tables, auxiliary_id, capabilities) = numbers;
        Body::FeaturesReply(Features {
            datapath_id,
            n_buffers,
            n_tables,
            auxiliary_id,
            capabilities: Capabilities::from_bits_retain(capabilities),
        })
    });
    prop_oneof![
        (any::<u8>(), option::of(vec(any::<u32>(), 0..4)))
            .prop_map(|(version, bitmap)| Body::Hello(Hello { version, bitmap })),
        Just(Body::FeaturesRequest),
        features,
        Just(Body::GetConfigRequest),
        config.clone().prop_map(Body::GetConfigReply),
        config.prop_map(Body::SetConfig),
        any::<(u8, u32)>().prop_map(|(table, config)| Body::TableMod(TableMod { table, config })),
        Just(Body::BarrierRequest),
        Just(Body::BarrierReply),
        any::<u32>().prop_map(Body::QueueGetConfigRequest),
        queue_config().prop_map(Body::QueueGetConfigReply),
        role.clone().prop_map(Body::RoleRequest),
        role.prop_map(Body::RoleReply),
        Just(Body::GetAsyncRequest),
        asynchronous.clone().prop_map(Body::GetAsyncReply),
        asynchronous.prop_map(Body::SetAsync),
    ]
}

fn symmetric() -> impl Strategy<Value = Body> {
    prop_oneof![
        (error_kind(), data()).prop_map(|(kind, data)| Body::Error(ErrorMessage { kind, data })),
        data().prop_map(Body::EchoRequest),
        data().prop_map(Body::EchoReply),
        (any::<(u32, u32)>(), data()).prop_map(|((experimenter, exp_type), data)| {
            Body::Experimenter(Experimenter {
                experimenter,
                exp_type,
                data,
            })
        }),
    ]
}

fn packets() -> impl Strategy<Value = Body> {
    let packet_in = (
        buffer(),
        select(PacketInReason::ALL),
        any::<(u16, u8, u64)>(),
        fields(),
        data(),
    )
        .prop_map(
            |(buffer, reason, (total_len, table, cookie), fields, data)| {
                Body::PacketIn(PacketIn {
                    buffer,
                    total_len,
                    reason,
                    table,
                    cookie,
                    fields,
                    data,
                })
            },
        );
    let packet_out =
        (buffer(), any::<u32>(), actions(), data()).prop_map(|(buffer, in_port, actions, data)| {
            Body::PacketOut(PacketOut {
                buffer,
                in_port,
                actions,
                data,
            })
        });
    prop_oneof![packet_in, packet_out]
}

fn ports() -> impl Strategy<Value = Body> {
    let status = (select(PortReason::ALL), port())
        .prop_map(|(reason, port)| Body::PortStatus(PortStatus { reason, port }));
    let modification = any::<(u32, [u8; 6], u32, u32, u32)>().prop_map(
        |(port, hw_addr, config, mask, advertise)| {
            Body::PortMod(PortMod {
                port,
                hw_addr,
                config: PortConfig::from_bits_retain(config),
                mask: PortConfig::from_bits_retain(mask),
                advertise,
            })
        },
    );
    prop_oneof![status, modification]
}

fn tables() -> impl Strategy<Value = Body> {
    let group = (
        select(GroupCommand::ALL),
        select(GroupType::ALL),
        any::<u32>(),
        entries::buckets(),
    )
        .prop_map(|(command, group_type, group, buckets)| {
            Body::GroupMod(GroupMod {
                command,
                group_type,
                group,
                buckets,
            })
        });
    let meter = (select(MeterCommand::ALL), any::<(u16, u32)>(), bands()).prop_map(
        |(command, (flags, meter), bands)| {
            Body::MeterMod(MeterMod {
                command,
                flags: MeterFlags::from_bits_retain(flags),
                meter,
                bands,
            })
        },
    );
    prop_oneof![
        entries::flow_mod().prop_map(Body::FlowMod),
        entries::flow_removed().prop_map(Body::FlowRemoved),
        group,
        meter,
    ]
}

/// Any message.
pub(crate) fn message() -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        symmetric(),
        setup(),
        packets(),
        ports(),
        tables(),
        (any::<bool>(), multipart::request())
            .prop_map(|(more, content)| Body::MultipartRequest(Part { more, content })),
        (any::<bool>(), multipart::reply())
            .prop_map(|(more, content)| Body::MultipartReply(Part { more, content })),
    ];
    (any::<u32>(), body).prop_map(|(xid, body)| Message { xid, body })
}
