//! Segments that no implementation sends.

use super::*;
use proptest::prelude::*;
use std::net::SocketAddr;

fn number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![
        any::<u64>().prop_map(DataNumber::Long),
        (0_u64..5000).prop_map(DataNumber::Long),
        any::<u32>().prop_map(DataNumber::Short),
    ]
}

fn option() -> impl Strategy<Value = MptcpOption> {
    let subflow_sequence = prop_oneof![any::<u32>(), 0_u32..5000];
    let mapping = (
        number(),
        subflow_sequence,
        any::<u16>(),
        any::<Option<u16>>(),
    );
    let mapping = mapping.prop_map(
        |(data_sequence, subflow_sequence, bytes, checksum)| Mapping {
            data_sequence,
            subflow_sequence,
            bytes,
            checksum,
        },
    );
    let dss = (
        any::<bool>(),
        prop::option::of(number()),
        prop::option::of(mapping),
    );
    let capable = any::<(Option<u16>, Option<u16>)>();
    prop_oneof![
        8 => dss.prop_map(|(data_fin, acknowledgement, mapping)| MptcpOption::Dss(Dss {
            data_fin,
            acknowledgement,
            mapping,
        })),
        1 => capable.prop_map(|(data_bytes, data_checksum)| MptcpOption::Capable(Capable {
            version: 1,
            checksum: true,
            extension: false,
            no_initial_address: false,
            hmac: true,
            sender_key: Some(1),
            receiver_key: Some(2),
            data_bytes,
            data_checksum,
        })),
        1 => Just(MptcpOption::FastClose { receiver_key: 1 }),
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    let sequence = || prop_oneof![any::<u32>(), 0_u32..5000];
    let flags = any::<[bool; 8]>().prop_map(|bits| Flags {
        cwr: false,
        ece: false,
        urg: false,
        ack: bits[0] || bits[1],
        psh: false,
        rst: bits[2] && bits[3] && bits[4],
        syn: bits[5] && bits[6],
        fin: bits[6] && bits[7],
    });
    let payload = prop_oneof![Just(0_u32), 1_u32..2000, any::<u16>().prop_map(u32::from)];
    let options = proptest::collection::vec(option(), 0..3);
    let time = prop_oneof![8 => 0_i64..1 << 40, 1 => any::<i64>()];
    (
        time,
        (sequence(), sequence(), payload),
        flags,
        any::<(u16, Option<u16>, Option<u16>, Option<u8>)>(),
        options,
    )
        .prop_map(
            |(at, (sequence, acknowledgement, bytes), flags, rest, mptcp)| {
                let address: SocketAddr = "[::1]:1".parse().expect("an address");
                Segment {
                    at,
                    frame: 1,
                    interface: 0,
                    source: address,
                    destination: address,
                    identification: None,
                    hop_limit: 1,
                    ecn: Ecn::NotCapable,
                    packet_bytes: bytes + 60,
                    sequence,
                    acknowledgement,
                    flags,
                    window: rest.0,
                    checksum: 0,
                    payload_bytes: bytes,
                    payload_sum: rest.1,
                    options: Options {
                        max_segment_bytes: rest.2,
                        window_shift: rest.3,
                        mptcp: mptcp.into_iter().collect(),
                        ..Options::default()
                    },
                    options_cut: false,
                    layers: crate::dissect::Layers::NONE,
                }
            },
        )
}

/// Turns of the connection: a segment on a subflow, or an event of its identity.
#[derive(Clone, Debug)]
enum Turn {
    Segment(Box<Segment>, u32, bool),
    Initial(u64),
    FallBack,
}

proptest! {
    #[test]
    fn anything_is_taken(
        plain: bool,
        turns in proptest::collection::vec(
            prop_oneof![
                40 => (segment(), 0_u32..4, any::<bool>())
                    .prop_map(|(segment, subflow, client)| Turn::Segment(segment.into(), subflow, client)),
                1 => any::<u64>().prop_map(Turn::Initial),
                1 => Just(Turn::FallBack),
            ],
            1..200,
        ),
    ) {
        let mut connection = Connection::new(plain);
        let mut events = Vec::new();
        let mut payload = 0;
        for turn in &turns {
            match turn {
                Turn::Segment(segment, subflow, client) => {
                    let from = if *client { Side::Client } else { Side::Server };
                    let place = Place { connection: 0, subflow: *subflow, from };
                    let (_, found) = connection.take(segment, place, &mut events);
                    payload += u64::from(segment.payload_bytes);
                    prop_assert!(found.new_data_bytes + found.reinjected_bytes
                        <= segment.payload_bytes);
                }
                Turn::Initial(number) => connection.set_initial(Side::Client, *number),
                Turn::FallBack => connection.fall_back(),
            }
        }
        connection.finish(0, &mut events);
        let summary = connection.summary();
        let (client, server) = (summary.client, summary.server);
        prop_assert_eq!(client.payload_bytes + server.payload_bytes, payload);
        for sent in [client, server] {
            prop_assert!(sent.bytes + sent.reinjected_bytes <= sent.payload_bytes);
            prop_assert!(sent.reinjected_won_bytes <= sent.reinjected_bytes);
            prop_assert!(sent.late_bytes <= sent.bytes);
        }
    }
}
