//! Segments and options of every kind that has a layout.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_wire::option::{
    AddAddress, AddressIds, Capable, DataNumber, Dss, Join, Mapping, MptcpOption, Reset,
};
use mptcplab_wire::{
    Ecn, Flags, MAX_MPTCP_OPTIONS, MAX_OPTION_BYTES, Options, SackBlock, Segment, Timestamps,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// Options of one segment that fit it.
pub(crate) fn options() -> impl Strategy<Value = Options> {
    let sack_block = any::<(u32, u32)>().prop_map(|(left, right)| SackBlock { left, right });
    let timestamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    (
        of(any::<u16>()),
        of(any::<u8>()),
        any::<bool>(),
        of(timestamps),
        vec(sack_block, 0..=4),
        vec(mptcp_option(), 0..=MAX_MPTCP_OPTIONS),
    )
        .prop_map(
            |(max_segment_bytes, window_shift, sack_permitted, timestamps, sack, mptcp)| Options {
                max_segment_bytes,
                window_shift,
                sack_permitted,
                timestamps,
                sack: sack.into_iter().collect(),
                mptcp: mptcp.into_iter().collect(),
            },
        )
        .prop_map(|mut options| {
            while options.encoded_bytes() > MAX_OPTION_BYTES {
                if options.mptcp.pop().is_none() {
                    options.sack.pop();
                }
            }
            options
        })
}

/// Segments of both families.
pub(crate) fn segment() -> impl Strategy<Value = Segment> {
    let v4 = any::<([u8; 4], [u8; 4])>().prop_map(|(a, b)| [IpAddr::from(a), IpAddr::from(b)]);
    let v6 = any::<([u8; 16], [u8; 16])>().prop_map(|(a, b)| [IpAddr::from(a), IpAddr::from(b)]);
    let header = any::<(u16, u16, u32, u32, u16, u16)>();
    let payload = vec(any::<u8>(), 0..2000);
    (
        prop_oneof![v4, v6],
        header,
        flags(),
        options(),
        ecn(),
        payload,
    )
        .prop_map(
            |([source, destination], header, flags, options, ecn, payload)| Segment {
                source: SocketAddr::new(source, header.0),
                destination: SocketAddr::new(destination, header.1),
                sequence: header.2,
                acknowledgement: header.3,
                flags,
                window: header.4,
                urgent: header.5,
                options,
                ecn,
                payload: Bytes::from(payload),
            },
        )
}

fn flags() -> impl Strategy<Value = Flags> {
    any::<[bool; 8]>().prop_map(|[cwr, ece, urg, ack, psh, rst, syn, fin]| Flags {
        cwr,
        ece,
        urg,
        ack,
        psh,
        rst,
        syn,
        fin,
    })
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![
        Just(Ecn::NotCapable),
        Just(Ecn::Capable0),
        Just(Ecn::Capable1),
        Just(Ecn::CongestionExperienced),
    ]
}

fn mptcp_option() -> impl Strategy<Value = MptcpOption> {
    let priority = any::<(bool, Option<u8>)>()
        .prop_map(|(backup, address_id)| MptcpOption::Priority { backup, address_id });
    let reset = any::<(bool, u8)>()
        .prop_map(|(transient, reason)| MptcpOption::Reset(Reset { transient, reason }));
    let ids = vec(any::<u8>(), 1..=AddressIds::MAX)
        .prop_map(|ids| MptcpOption::RemoveAddress(AddressIds::new(&ids).expect("a valid list")));
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        dss().prop_map(MptcpOption::Dss),
        add_address().prop_map(MptcpOption::AddAddress),
        ids,
        priority,
        any::<u64>().prop_map(|data_sequence| MptcpOption::Fail { data_sequence }),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose { receiver_key }),
        reset,
    ]
}

fn capable() -> impl Strategy<Value = Capable> {
    let flags = any::<(bool, bool, bool, bool)>();
    let fields = any::<(u64, u64, u16, u16)>();
    (0..16_u8, 0..=4_usize, flags, fields).prop_map(|(version, present, flags, fields)| {
        let present = if version == 0 {
            present.clamp(1, 2)
        } else {
            present
        };
        Capable {
            version,
            checksum: flags.0,
            extension: flags.1,
            no_initial_address: flags.2,
            hmac: flags.3,
            sender_key: (present > 0).then_some(fields.0),
            receiver_key: (present > 1).then_some(fields.1),
            data_bytes: (present > 2).then_some(fields.2),
            data_checksum: (present > 3).then_some(fields.3),
        }
    })
}

fn join() -> impl Strategy<Value = Join> {
    let syn =
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        });
    let syn_ack =
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        });
    let ack = any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac });
    prop_oneof![syn, syn_ack, ack]
}

fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (data_number(), any::<(u32, u16, Option<u16>)>()).prop_map(
        |(data_sequence, (subflow_sequence, bytes, checksum))| Mapping {
            data_sequence,
            subflow_sequence,
            bytes,
            checksum,
        },
    );
    (any::<bool>(), of(data_number()), of(mapping)).prop_map(
        |(data_fin, acknowledgement, mapping)| Dss {
            data_fin,
            acknowledgement,
            mapping,
        },
    )
}

fn data_number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![
        any::<u64>().prop_map(DataNumber::Long),
        any::<u32>().prop_map(DataNumber::Short),
    ]
}

fn add_address() -> impl Strategy<Value = AddAddress> {
    let address = prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
    ];
    let rest = any::<(bool, u8, Option<u16>, Option<u64>)>();
    (address, rest).prop_map(|(address, (echo, address_id, port, hmac))| AddAddress {
        echo,
        address_id,
        address,
        port,
        hmac: if echo { None } else { hmac },
    })
}
