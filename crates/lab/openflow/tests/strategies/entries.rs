//! Entries of flow tables and of the group table.

use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod, FlowRemoved, FlowRemovedReason};
use mptcplab_openflow::group::Bucket;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{actions, buffer, elapsed, fields, instruction};

pub(crate) fn buckets() -> impl Strategy<Value = Vec<Bucket>> {
    let bucket = (any::<(u16, u32, u32)>(), actions()).prop_map(
        |((weight, watch_port, watch_group), actions)| Bucket {
            weight,
            watch_port,
            watch_group,
            actions,
        },
    );
    vec(bucket, 0..3)
}

pub(crate) fn flow_mod() -> impl Strategy<Value = FlowMod> {
    (
        any::<(u64, u64, u8)>(),
        select(FlowCommand::ALL),
        any::<(u16, u16, u16)>(),
        buffer(),
        any::<(u32, u32, u16)>(),
        fields(),
        vec(instruction(), 0..4),
    )
        .prop_map(
            |(cookies, command, times, buffer, filters, fields, instructions)| {
                let (cookie, cookie_mask, table) = cookies;
                let (idle_timeout, hard_timeout, priority) = times;
                let (out_port, out_group, flags) = filters;
                FlowMod {
                    cookie,
                    cookie_mask,
                    table,
                    command,
                    idle_timeout,
                    hard_timeout,
                    priority,
                    buffer,
                    out_port,
                    out_group,
                    flags: FlowFlags::from_bits_retain(flags),
                    fields,
                    instructions,
                }
            },
        )
}

pub(crate) fn flow_removed() -> impl Strategy<Value = FlowRemoved> {
    (
        any::<(u64, u16, u8)>(),
        select(FlowRemovedReason::ALL),
        elapsed(),
        any::<(u16, u16, u64, u64)>(),
        fields(),
    )
        .prop_map(
            |((cookie, priority, table), reason, duration, counts, fields)| {
                let (idle_timeout, hard_timeout, packet_count, byte_count) = counts;
                FlowRemoved {
                    cookie,
                    priority,
                    reason,
                    table,
                    duration,
                    idle_timeout,
                    hard_timeout,
                    packet_count,
                    byte_count,
                    fields,
                }
            },
        )
}
