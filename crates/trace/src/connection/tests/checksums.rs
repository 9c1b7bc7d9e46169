//! Checksums of mappings, against sums over the bytes themselves.

use super::*;
use proptest::prelude::*;

/// Ones' complement sum of bytes, two by two.
fn sum(bytes: &[u8]) -> u16 {
    let high_and_low = |word: &[u8]| u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]);
    let mut total: u32 = bytes
        .chunks(2)
        .map(|word| u32::from(high_and_low(word)))
        .sum();
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

/// Returns the checksum of RFC 8684, section 3.3.1.
fn checksum(data_sequence: u64, subflow_sequence: u32, bytes: u16, data: &[u8]) -> u16 {
    let mut covered = data_sequence.to_be_bytes().to_vec();
    covered.extend(subflow_sequence.to_be_bytes());
    covered.extend(bytes.to_be_bytes());
    covered.extend([0, 0]);
    covered.extend(data);
    !sum(&covered)
}

/// Takes `data` at `ssn` of subflow 0, with `dss` if there is one.
fn send(lab: &mut Lab, ssn: i64, data: &[u8], dss: Option<Dss>) -> Option<bool> {
    let mut segment = lab.segment(0, Side::Client, &bare(ssn, data.len() as u32));
    segment.payload_sum = Some(sum(data));
    segment.options.mptcp.extend(dss.map(MptcpOption::Dss));
    let verdict = Verdict {
        sequence: ssn,
        new_bytes: data.len() as u32,
        ..Verdict::of(Kind::New)
    };
    lab.client_sends(&segment, &verdict).checksum_valid
}

fn dss(lab: &Lab, dsn: i64, ssn: u32, bytes: u16, checksum: u16) -> Dss {
    let number = lab.idsn[0].wrapping_add(dsn as u64);
    Dss {
        mapping: Some(Mapping {
            data_sequence: DataNumber::Long(number),
            subflow_sequence: ssn,
            bytes,
            checksum: Some(checksum),
        }),
        ..Dss::default()
    }
}

#[test]
fn a_wrong_checksum_is_told() {
    let mut lab = Lab::with([999, 7], 1);
    let right = checksum(1000, 1, 5, b"hello");
    let mapping = dss(&lab, 1, 1, 5, right);
    assert_eq!(send(&mut lab, 1, b"hello", Some(mapping)), Some(true));
    let mapping = dss(&lab, 6, 6, 5, 0x1234);
    assert_eq!(send(&mut lab, 6, b"world", Some(mapping)), Some(false));
    assert_eq!(lab.told(), [("checksum_wrong", 0)]);
    let sent = lab.sent_by_client();
    assert_eq!((sent.checksums_verified, sent.checksums_wrong), (2, 1));
    assert_eq!(
        lab.events[0].text,
        "checksum 0x1234 of the client is wrong: of 5 bytes from data sequence number 1005 on"
    );
}

#[test]
fn a_data_fin_counts_in_the_length() {
    let mut lab = Lab::with([999, 7], 1);
    let with_data = Dss {
        data_fin: true,
        ..dss(&lab, 1, 1, 6, checksum(1000, 1, 6, b"hello"))
    };
    assert_eq!(send(&mut lab, 1, b"hello", Some(with_data)), Some(true));
    let alone = Dss {
        data_fin: true,
        ..dss(&lab, 6, 0, 1, checksum(1005, 0, 1, b""))
    };
    assert_eq!(send(&mut lab, 6, b"", Some(alone)), Some(true));
    let wrong = Dss {
        data_fin: true,
        ..dss(&lab, 6, 0, 1, 1)
    };
    assert_eq!(send(&mut lab, 6, b"", Some(wrong)), Some(false));
}

#[test]
fn of_a_short_number_all_8_bytes_count() {
    let first = 0x1_ffff_fff0;
    let mut lab = Lab::with([first - 1, 7], 1);
    let right = checksum(first + 0x20, 0x21, 2, b"ab");
    let mut mapping = dss(&lab, 0x21, 0x21, 2, right);
    if let Some(mapping) = &mut mapping.mapping {
        mapping.data_sequence = DataNumber::Short(0x10);
    }
    assert_eq!(send(&mut lab, 0x21, b"ab", Some(mapping)), Some(true));
}

#[test]
fn what_cannot_be_taken_apart_stays_unverified() {
    let mut lab = Lab::with([0, 0], 1);
    for (dsn, ssn) in [(1, 1), (3, 3)] {
        let mapping = dss(&lab, dsn, ssn, 2, 0);
        assert_eq!(send(&mut lab, 1, b"", Some(mapping)), None);
    }
    // Data of both in one segment.
    assert_eq!(send(&mut lab, 1, b"abcd", None), None);
    // Overlapping pieces.
    let mapping = dss(&lab, 5, 5, 4, 0);
    assert_eq!(send(&mut lab, 5, b"abc", Some(mapping)), None);
    assert_eq!(send(&mut lab, 6, b"bcd", None), None);
    assert_eq!(lab.events, []);
}

proptest! {
    #[test]
    fn any_mapping_in_any_pieces_is_verified(
        idsn: u64,
        dsn in 1_i64..1000,
        data in proptest::collection::vec(any::<u8>(), 1..200),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        order in any::<u64>(),
        spoil in prop::option::of(any::<u16>()),
        data_fin: bool,
    ) {
        let mut lab = Lab::with([idsn, 0], 1);
        let bytes = data.len() as u16 + u16::from(data_fin);
        let right = checksum(idsn.wrapping_add(dsn as u64), 1, bytes, &data);
        let told = right ^ spoil.unwrap_or(0);
        let mapping = Dss { data_fin, ..dss(&lab, dsn, 1, bytes, told) };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(data.len())).collect();
        cuts.extend([0, data.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut pieces: Vec<(usize, usize)> = cuts.windows(2).map(|two| (two[0], two[1])).collect();
        // Any order, and each piece twice but for the last.
        let count = pieces.len();
        pieces.rotate_left(order as usize % count);
        if order & 1 << 40 != 0 {
            pieces.reverse();
        }
        let mut found = Vec::new();
        for (index, &(start, end)) in pieces.iter().enumerate() {
            for _ in 0..if index + 1 < count { 2 } else { 1 } {
                let piece = &data[start..end];
                found.push(send(&mut lab, 1 + start as i64, piece, Some(mapping)));
            }
        }
        // Sums of 0 are written in two ways.
        let valid = told == right || told ^ right == 0xffff && (told == 0 || right == 0);
        prop_assert_eq!(found.pop(), Some(Some(valid)));
        prop_assert!(found.iter().all(Option::is_none));
        prop_assert_eq!(lab.events.iter().any(|event| event.kind == "checksum_wrong"), !valid);
    }
}
