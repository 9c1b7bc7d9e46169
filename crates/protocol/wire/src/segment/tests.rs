//! Options of TCP in their places.

use bytes::Bytes;

use super::*;
use crate::option::{Dss, Reset};
use crate::{Packet, option};

/// The bytes of `options` in a header.
fn written(options: &Options) -> alloc::vec::Vec<u8> {
    let segment = Segment {
        source: "10.0.0.1:1".parse().unwrap(),
        destination: "10.0.0.2:2".parse().unwrap(),
        sequence: 0,
        acknowledgement: 0,
        flags: Flags::default(),
        window: 0,
        urgent: 0,
        options: options.clone(),
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    segment.into_packet(64).header[40..].to_vec()
}

fn timestamps() -> Option<Timestamps> {
    Some(Timestamps {
        value: 0x0102_0304,
        echo: 0x0506_0708,
    })
}

/// Options as they are written and read one by one.
fn one_by_one(options: &Options) -> alloc::vec::Vec<u8> {
    let mut header = crate::buffer::Header::new();
    options.write(options.layout().0, &mut header);
    header.to_vec()
}

#[test]
fn usual_options_are_written_and_read_as_they_are_one_by_one() {
    let mapping = option::Mapping {
        data_sequence: option::DataNumber::Long(0x0102_0304_0506_0708),
        subflow_sequence: 0x1112_1314,
        bytes: 0x1516,
        checksum: None,
    };
    let short = option::DataNumber::Short(5);
    let dss = Dss {
        acknowledgement: Some(option::DataNumber::Long(0x2122_2324_2526_2728)),
        ..Dss::default()
    };
    let with = |mapping| Dss {
        mapping: Some(mapping),
        ..dss
    };
    let all = [
        dss,
        with(mapping),
        Dss {
            data_fin: true,
            ..with(mapping)
        },
        with(option::Mapping {
            checksum: Some(7),
            ..mapping
        }),
        with(option::Mapping {
            data_sequence: short,
            ..mapping
        }),
        Dss {
            acknowledgement: Some(short),
            ..with(mapping)
        },
    ];
    let mptcp = all.map(|dss| Some(MptcpOption::Dss(dss)));
    for option in [None].into_iter().chain(mptcp) {
        let options = Options {
            timestamps: timestamps(),
            mptcp: option.into_iter().collect(),
            ..Options::default()
        };
        let bytes = written(&options);
        assert_eq!(bytes, one_by_one(&options));
        assert_eq!(Options::parse(&bytes), options);
        // Padding in front is not usual.
        let moved = [&[1; 4], &bytes[..]].concat();
        assert_eq!(Options::parse(&moved), options);
    }
}

#[test]
fn the_options_of_a_syn_take_the_places_that_linux_gives_them() {
    let options = Options {
        max_segment_bytes: Some(1460),
        window_shift: Some(7),
        sack_permitted: true,
        timestamps: timestamps(),
        ..Options::default()
    };
    let bytes = [
        2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7,
    ];
    assert_eq!(written(&options), bytes);
    assert_eq!(options.encoded_bytes(), bytes.len());
    assert_eq!(Options::parse(&bytes), options);
}

#[test]
fn options_are_padded_in_front_to_a_multiple_of_4_bytes() {
    let options = Options {
        sack_permitted: true,
        window_shift: Some(0),
        ..Options::default()
    };
    assert_eq!(written(&options), [1, 1, 4, 2, 1, 3, 3, 0]);
    let options = Options {
        timestamps: timestamps(),
        sack: [SackBlock { left: 1, right: 2 }].into_iter().collect(),
        ..Options::default()
    };
    let bytes = [
        1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2,
    ];
    assert_eq!(written(&options), bytes);
    assert_eq!(Options::parse(&bytes), options);
}

#[test]
fn options_that_only_fit_without_padding_are_padded_at_the_end() {
    // 10 bytes of timestamps, 18 of SACK, 3 of MP_PRIO three times: 37, padded each 44.
    let priority = MptcpOption::Priority {
        backup: true,
        address_id: None,
    };
    let options = Options {
        timestamps: timestamps(),
        sack: [SackBlock { left: 1, right: 2 }; 2].into_iter().collect(),
        mptcp: [priority; 3].into_iter().collect(),
        ..Options::default()
    };
    assert_eq!(options.encoded_bytes(), 40);
    let bytes = written(&options);
    assert_eq!(bytes.len(), 40);
    assert_eq!(bytes[..2], [8, 10]);
    assert_eq!(
        bytes[28..],
        [30, 3, 0x51, 30, 3, 0x51, 30, 3, 0x51, 1, 1, 1]
    );
    assert_eq!(Options::parse(&bytes), options);
}

#[test]
fn options_that_do_not_fit_have_their_true_length() {
    let dss = MptcpOption::Dss(Dss {
        acknowledgement: Some(option::DataNumber::Long(0)),
        ..Dss::default()
    });
    let options = Options {
        mptcp: [dss; 4].into_iter().collect(),
        ..Options::default()
    };
    assert_eq!(options.encoded_bytes(), 48);
}

#[test]
fn unknown_options_and_options_of_a_wrong_length_are_skipped() {
    let bytes = [
        254, 4, 1, 2, 2, 3, 9, 3, 4, 7, 7, 8, 3, 0, 5, 9, 0, 0, 0, 1, 0, 0, 0, 30, 4, 0x8f, 1, 3,
        3, 9,
    ];
    let options = Options {
        window_shift: Some(9),
        mptcp: [MptcpOption::Reset(Reset {
            transient: true,
            reason: 1,
        })]
        .into_iter()
        .collect(),
        ..Options::default()
    };
    assert_eq!(Options::parse(&bytes), options);
}

#[test]
fn the_list_ends_at_its_end_mark_or_at_an_option_that_reaches_beyond_it() {
    let shift = Options {
        window_shift: Some(9),
        ..Options::default()
    };
    let ends: [&[u8]; 5] = [&[0], &[2], &[2, 0, 5, 0xb4], &[2, 1, 5, 0xb4], &[2, 20, 5]];
    for end in ends {
        let bytes = [&[3, 3, 9], end, &[2, 4, 5, 0xb4]].concat();
        assert_eq!(Options::parse(&bytes), shift, "{end:?}");
    }
}

#[test]
fn of_options_of_mptcp_no_more_are_read_than_have_a_use() {
    let bytes: alloc::vec::Vec<u8> = (0..6).flat_map(|reason| [30, 4, 0x80, reason]).collect();
    let reasons: alloc::vec::Vec<_> = Options::parse(&bytes).mptcp.into_iter().collect();
    let expected: alloc::vec::Vec<_> = (0..MAX_MPTCP_OPTIONS as u8)
        .map(|reason| {
            MptcpOption::Reset(Reset {
                transient: false,
                reason,
            })
        })
        .collect();
    assert_eq!(reasons, expected);
}

#[test]
fn the_space_of_a_segment_counts_its_syn_and_fin() {
    let packet = Packet::udp(
        "10.0.0.1:1".parse().unwrap(),
        "10.0.0.2:2".parse().unwrap(),
        Bytes::new(),
    );
    assert_eq!(Segment::parse(packet), Err(ParseError::NotTcp));
    let mut segment = Segment {
        source: "10.0.0.1:1".parse().unwrap(),
        destination: "10.0.0.2:2".parse().unwrap(),
        sequence: 0,
        acknowledgement: 0,
        flags: Flags {
            fin: true,
            ..Flags::default()
        },
        window: 0,
        urgent: 0,
        options: Options::default(),
        ecn: Ecn::NotCapable,
        payload: Bytes::from_static(b"abc"),
    };
    assert_eq!(segment.sequence_bytes(), 4);
    segment.flags.syn = true;
    assert_eq!(segment.sequence_bytes(), 5);
}
