//! Requests and replies of several parts.

use mptcplab_openflow::flow::FlowFlags;
use mptcplab_openflow::group::GroupType;
use mptcplab_openflow::meter::MeterFlags;
use mptcplab_openflow::multipart::{
    AggregateStats, BucketCounter, Desc, FeatureId, FlowStats, FlowStatsRequest, GroupCapabilities,
    GroupDesc, GroupFeatures, GroupStats, MeterBandStats, MeterConfig, MeterFeatures, MeterStats,
    OxmId, PortStats, QueueStats, Reply, Request, TableFeatures, TableProperty, TableStats,
};
use mptcplab_openflow::{Experimenter, Field};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::entries::buckets;
use super::{bands, data, elapsed, fields, instruction, port, text};

fn flow_request() -> impl Strategy<Value = FlowStatsRequest> {
    (any::<(u8, u32, u32, u64, u64)>(), fields()).prop_map(|(numbers, fields)| {
        let (table, out_port, out_group, cookie, cookie_mask) = numbers;
        FlowStatsRequest {
            table,
            out_port,
            out_group,
            cookie,
            cookie_mask,
            fields,
        }
    })
}

fn experimenter() -> impl Strategy<Value = Experimenter> {
    (any::<(u32, u32)>(), data()).prop_map(|((experimenter, exp_type), data)| Experimenter {
        experimenter,
        exp_type,
        data,
    })
}

fn feature_ids() -> impl Strategy<Value = Vec<FeatureId>> {
    let id = prop_oneof![
        (0..0xffff_u16).prop_map(FeatureId::Standard),
        any::<u32>().prop_map(FeatureId::Experimenter),
    ];
    vec(id, 0..4)
}

fn oxm_ids() -> impl Strategy<Value = Vec<OxmId>> {
    let id = prop_oneof![
        (select(Field::ALL), any::<bool>()).prop_map(|(field, masked)| OxmId::of(field, masked)),
        (0xffff_0000..=u32::MAX, any::<u32>())
            .prop_map(|(header, experimenter)| OxmId::Experimenter(header, experimenter)),
    ];
    vec(id, 0..4)
}

fn property() -> impl Strategy<Value = TableProperty> {
    prop_oneof![
        (any::<bool>(), feature_ids())
            .prop_map(|(miss, ids)| TableProperty::Instructions { miss, ids }),
        (any::<bool>(), data())
            .prop_map(|(miss, tables)| TableProperty::NextTables { miss, tables }),
        (any::<bool>(), feature_ids())
            .prop_map(|(miss, ids)| TableProperty::WriteActions { miss, ids }),
        (any::<bool>(), feature_ids())
            .prop_map(|(miss, ids)| TableProperty::ApplyActions { miss, ids }),
        oxm_ids().prop_map(TableProperty::Match),
        oxm_ids().prop_map(TableProperty::Wildcards),
        (any::<bool>(), oxm_ids())
            .prop_map(|(miss, ids)| TableProperty::WriteSetField { miss, ids }),
        (any::<bool>(), oxm_ids())
            .prop_map(|(miss, ids)| TableProperty::ApplySetField { miss, ids }),
        (any::<(bool, u32, u32)>(), data()).prop_map(|((miss, experimenter, exp_type), data)| {
            TableProperty::Experimenter {
                miss,
                experimenter,
                exp_type,
                data,
            }
        }),
    ]
}

fn table_features() -> impl Strategy<Value = TableFeatures> {
    (
        any::<(u8, u64, u64, u32, u32)>(),
        text(),
        vec(property(), 0..4),
    )
        .prop_map(|(numbers, name, properties)| {
            let (table, metadata_match, metadata_write, config, max_entries) = numbers;
            TableFeatures {
                table,
                name,
                metadata_match,
                metadata_write,
                config,
                max_entries,
                properties,
            }
        })
}

/// Any request.
pub(crate) fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        Just(Request::Desc),
        flow_request().prop_map(Request::Flow),
        flow_request().prop_map(Request::Aggregate),
        Just(Request::Table),
        any::<u32>().prop_map(Request::PortStats),
        any::<(u32, u32)>().prop_map(|(port, queue)| Request::Queue { port, queue }),
        any::<u32>().prop_map(Request::Group),
        Just(Request::GroupDesc),
        Just(Request::GroupFeatures),
        any::<u32>().prop_map(Request::Meter),
        any::<u32>().prop_map(Request::MeterConfig),
        Just(Request::MeterFeatures),
        vec(table_features(), 0..3).prop_map(Request::TableFeatures),
        Just(Request::PortDesc),
        experimenter().prop_map(Request::Experimenter),
    ]
}

fn flow_stats() -> impl Strategy<Value = FlowStats> {
    (
        any::<(u8, u16, u16, u16, u16)>(),
        any::<(u64, u64, u64)>(),
        elapsed(),
        fields(),
        vec(instruction(), 0..3),
    )
        .prop_map(|(numbers, counts, duration, fields, instructions)| {
            let (table, priority, idle_timeout, hard_timeout, flags) = numbers;
            let (cookie, packet_count, byte_count) = counts;
            FlowStats {
                table,
                duration,
                priority,
                idle_timeout,
                hard_timeout,
                flags: FlowFlags::from_bits_retain(flags),
                cookie,
                packet_count,
                byte_count,
                fields,
                instructions,
            }
        })
}

fn port_stats() -> impl Strategy<Value = PortStats> {
    (any::<u32>(), any::<[u64; 12]>(), elapsed()).prop_map(|(port, counts, duration)| PortStats {
        port,
        rx_packets: counts[0],
        tx_packets: counts[1],
        rx_bytes: counts[2],
        tx_bytes: counts[3],
        rx_dropped: counts[4],
        tx_dropped: counts[5],
        rx_errors: counts[6],
        tx_errors: counts[7],
        rx_frame_err: counts[8],
        rx_over_err: counts[9],
        rx_crc_err: counts[10],
        collisions: counts[11],
        duration,
    })
}

fn queue_stats() -> impl Strategy<Value = QueueStats> {
    (any::<(u32, u32, u64, u64, u64)>(), elapsed()).prop_map(|(numbers, duration)| {
        let (port, queue, tx_bytes, tx_packets, tx_errors) = numbers;
        QueueStats {
            port,
            queue,
            tx_bytes,
            tx_packets,
            tx_errors,
            duration,
        }
    })
}

fn group_stats() -> impl Strategy<Value = GroupStats> {
    let bucket = any::<(u64, u64)>().prop_map(|(packet_count, byte_count)| BucketCounter {
        packet_count,
        byte_count,
    });
    (any::<(u32, u32, u64, u64)>(), elapsed(), vec(bucket, 0..4)).prop_map(
        |((group, ref_count, packet_count, byte_count), duration, buckets)| GroupStats {
            group,
            ref_count,
            packet_count,
            byte_count,
            duration,
            buckets,
        },
    )
}

fn meter_stats() -> impl Strategy<Value = MeterStats> {
    let band = any::<(u64, u64)>().prop_map(|(packet_count, byte_count)| MeterBandStats {
        packet_count,
        byte_count,
    });
    (any::<(u32, u32, u64, u64)>(), elapsed(), vec(band, 0..4)).prop_map(
        |((meter, flow_count, packet_in_count, byte_in_count), duration, bands)| MeterStats {
            meter,
            flow_count,
            packet_in_count,
            byte_in_count,
            duration,
            bands,
        },
    )
}

fn features() -> impl Strategy<Value = Reply> {
    let group = any::<(u32, u32, [u32; 4], [u32; 4])>().prop_map(|numbers| {
        let (types, capabilities, max_groups, actions) = numbers;
        Reply::GroupFeatures(GroupFeatures {
            types,
            capabilities: GroupCapabilities::from_bits_retain(capabilities),
            max_groups,
            actions,
        })
    });
    let meter = any::<(u32, u32, u32, u8, u8)>().prop_map(|numbers| {
        let (max_meter, band_types, capabilities, max_bands, max_color) = numbers;
        Reply::MeterFeatures(MeterFeatures {
            max_meter,
            band_types,
            capabilities,
            max_bands,
            max_color,
        })
    });
    prop_oneof![
        group,
        meter,
        vec(table_features(), 0..3).prop_map(Reply::TableFeatures),
    ]
}

/// Any reply.
pub(crate) fn reply() -> impl Strategy<Value = Reply> {
    let desc = (text(), text(), text(), text(), text()).prop_map(
        |(manufacturer, hardware, software, serial, datapath)| {
            Reply::Desc(Box::new(Desc {
                manufacturer,
                hardware,
                software,
                serial,
                datapath,
            }))
        },
    );
    let sum = any::<(u64, u64, u32)>().prop_map(|(packet_count, byte_count, flow_count)| {
        Reply::Aggregate(AggregateStats {
            packet_count,
            byte_count,
            flow_count,
        })
    });
    let table = any::<(u8, u32, u64, u64)>().prop_map(|numbers| {
        let (table, active_count, lookup_count, matched_count) = numbers;
        TableStats {
            table,
            active_count,
            lookup_count,
            matched_count,
        }
    });
    let group = (select(GroupType::ALL), any::<u32>(), buckets()).prop_map(
        |(group_type, group, buckets)| GroupDesc {
            group_type,
            group,
            buckets,
        },
    );
    let meter = (any::<(u16, u32)>(), bands()).prop_map(|((flags, meter), bands)| MeterConfig {
        flags: MeterFlags::from_bits_retain(flags),
        meter,
        bands,
    });
    prop_oneof![
        desc,
        vec(flow_stats(), 0..3).prop_map(Reply::Flow),
        sum,
        vec(table, 0..3).prop_map(Reply::Table),
        vec(port_stats(), 0..3).prop_map(Reply::PortStats),
        vec(queue_stats(), 0..3).prop_map(Reply::Queue),
        vec(group_stats(), 0..3).prop_map(Reply::Group),
        vec(group, 0..3).prop_map(Reply::GroupDesc),
        vec(meter_stats(), 0..3).prop_map(Reply::Meter),
        vec(meter, 0..3).prop_map(Reply::MeterConfig),
        features(),
        vec(port(), 0..3).prop_map(Reply::PortDesc),
        experimenter().prop_map(Reply::Experimenter),
    ]
}
