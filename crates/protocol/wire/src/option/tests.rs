//! Every option with its bytes written out.

use alloc::vec::Vec;

use super::*;
use crate::buffer::Header;

/// Bytes from hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b' ').collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// `option` is written as `bytes`, and these are read as `option`.
#[track_caller]
fn same(option: MptcpOption, bytes: &str) {
    let bytes = hex(bytes);
    let mut written = Header::new();
    write(&option, option.encoded_bytes(), &mut written);
    assert_eq!(written.as_slice(), bytes);
    assert_eq!(option.encoded_bytes(), bytes.len());
    assert_eq!(read(&bytes[2..]), Some(option));
}

/// Nothing is read from `bytes`.
#[track_caller]
fn refused(bytes: &str) {
    assert_eq!(read(&hex(bytes)[2..]), None, "{bytes}");
}

fn capable(version: u8) -> Capable {
    Capable {
        version,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key: None,
        receiver_key: None,
        data_bytes: None,
        data_checksum: None,
    }
}

const SENDER: u64 = 0x0102_0304_0506_0708;
const RECEIVER: u64 = 0x1112_1314_1516_1718;

#[test]
fn capable_has_as_many_keys_as_its_segment_in_the_handshake() {
    same(MptcpOption::Capable(capable(1)), "1e 04 01 01");
    let syn_ack = Capable {
        sender_key: Some(SENDER),
        ..capable(1)
    };
    same(
        MptcpOption::Capable(syn_ack),
        "1e 0c 01 01 0102030405060708",
    );
    let ack = Capable {
        receiver_key: Some(RECEIVER),
        ..syn_ack
    };
    same(
        MptcpOption::Capable(ack),
        "1e 14 01 01 0102030405060708 1112131415161718",
    );
    let data = Capable {
        data_bytes: Some(0x05b4),
        ..ack
    };
    same(
        MptcpOption::Capable(data),
        "1e 16 01 01 0102030405060708 1112131415161718 05b4",
    );
    let checked = Capable {
        checksum: true,
        data_checksum: Some(0xabcd),
        ..data
    };
    same(
        MptcpOption::Capable(checked),
        "1e 18 01 81 0102030405060708 1112131415161718 05b4 abcd",
    );
}

#[test]
fn capable_has_one_bit_for_each_flag() {
    let none = Capable {
        hmac: false,
        ..capable(1)
    };
    same(MptcpOption::Capable(none), "1e 04 01 00");
    let flags = [
        (
            Capable {
                checksum: true,
                ..none
            },
            "1e 04 01 80",
        ),
        (
            Capable {
                extension: true,
                ..none
            },
            "1e 04 01 40",
        ),
        (
            Capable {
                no_initial_address: true,
                ..none
            },
            "1e 04 01 20",
        ),
    ];
    for (capable, bytes) in flags {
        same(MptcpOption::Capable(capable), bytes);
    }
}

#[test]
fn capable_of_version_0_has_a_key_from_the_syn_on() {
    let syn = Capable {
        sender_key: Some(SENDER),
        ..capable(0)
    };
    same(MptcpOption::Capable(syn), "1e 0c 00 01 0102030405060708");
    let ack = Capable {
        receiver_key: Some(RECEIVER),
        ..syn
    };
    same(
        MptcpOption::Capable(ack),
        "1e 14 00 01 0102030405060708 1112131415161718",
    );
    refused("1e 04 00 01");
    refused("1e 16 00 01 0102030405060708 1112131415161718 05b4");
}

#[test]
fn capable_of_a_later_version_is_read_for_the_receiver_to_answer() {
    same(MptcpOption::Capable(capable(2)), "1e 04 02 01");
}

#[test]
fn join_differs_by_the_segment_it_stands_in() {
    let syn = |backup| {
        MptcpOption::Join(Join::Syn {
            backup,
            address_id: 7,
            token: 0xa1a2_a3a4,
            nonce: 0xb1b2_b3b4,
        })
    };
    same(syn(false), "1e 0c 10 07 a1a2a3a4 b1b2b3b4");
    same(syn(true), "1e 0c 11 07 a1a2a3a4 b1b2b3b4");
    let syn_ack = |backup| {
        MptcpOption::Join(Join::SynAck {
            backup,
            address_id: 7,
            hmac: SENDER,
            nonce: 0xb1b2_b3b4,
        })
    };
    same(syn_ack(false), "1e 10 10 07 0102030405060708 b1b2b3b4");
    same(syn_ack(true), "1e 10 11 07 0102030405060708 b1b2b3b4");
    same(
        MptcpOption::Join(Join::Ack {
            hmac: core::array::from_fn(|index| index as u8),
        }),
        "1e 18 10 00 000102030405060708090a0b0c0d0e0f10111213",
    );
}

#[test]
fn dss_has_numbers_of_4_or_8_bytes_and_parts_that_may_be_missing() {
    let dss = |data_fin, acknowledgement, mapping| {
        MptcpOption::Dss(Dss {
            data_fin,
            acknowledgement,
            mapping,
        })
    };
    let mapping = |data_sequence, checksum| {
        Some(Mapping {
            data_sequence,
            subflow_sequence: 0x2122_2324,
            bytes: 0x3132,
            checksum,
        })
    };
    let (long, short) = (DataNumber::Long, DataNumber::Short);
    same(dss(false, None, None), "1e 04 20 00");
    same(
        dss(false, Some(short(0x4142_4344)), None),
        "1e 08 20 01 41424344",
    );
    same(
        dss(false, Some(long(SENDER)), None),
        "1e 0c 20 03 0102030405060708",
    );
    same(
        dss(false, None, mapping(short(0x5152_5354), None)),
        "1e 0e 20 04 51525354 21222324 3132",
    );
    same(
        dss(false, None, mapping(long(RECEIVER), Some(0xabcd))),
        "1e 14 20 0c 1112131415161718 21222324 3132 abcd",
    );
    same(
        dss(true, Some(long(SENDER)), mapping(long(RECEIVER), None)),
        "1e 1a 20 1f 0102030405060708 1112131415161718 21222324 3132",
    );
    same(
        dss(
            true,
            Some(short(0x4142_4344)),
            mapping(long(RECEIVER), Some(0xabcd)),
        ),
        "1e 18 20 1d 41424344 1112131415161718 21222324 3132 abcd",
    );
    same(
        dss(
            true,
            Some(long(SENDER)),
            mapping(short(0x5152_5354), Some(0)),
        ),
        "1e 18 20 17 0102030405060708 51525354 21222324 3132 0000",
    );
}

#[test]
fn addresses_are_announced_with_hmac_and_echoed_without() {
    let v4 = AddAddress {
        echo: false,
        address_id: 9,
        address: [10, 0, 2, 1].into(),
        port: None,
        hmac: Some(SENDER),
    };
    let v6 = AddAddress {
        address: "fd00::1:2".parse().unwrap(),
        ..v4
    };
    let port = Some(0x1f90);
    let address = "fd000000000000000000000000010002";
    let add = MptcpOption::AddAddress;
    same(add(v4), "1e 10 30 09 0a000201 0102030405060708");
    same(
        add(AddAddress { port, ..v4 }),
        "1e 12 30 09 0a000201 1f90 0102030405060708",
    );
    same(
        add(v6),
        &["1e 1c 30 09", address, "0102030405060708"].concat(),
    );
    same(
        add(AddAddress { port, ..v6 }),
        &["1e 1e 30 09", address, "1f90 0102030405060708"].concat(),
    );
    let echo = |add: AddAddress| AddAddress {
        echo: true,
        hmac: None,
        ..add
    };
    same(add(echo(v4)), "1e 08 31 09 0a000201");
    same(
        add(AddAddress { port, ..echo(v4) }),
        "1e 0a 31 09 0a000201 1f90",
    );
    same(add(echo(v6)), &["1e 14 31 09", address].concat());
    same(
        add(AddAddress { port, ..echo(v6) }),
        &["1e 16 31 09", address, "1f90"].concat(),
    );
}

#[test]
fn addresses_of_version_0_are_told_by_the_ip_version_in_place_of_the_echo_bit() {
    let v4 = AddAddress {
        echo: false,
        address_id: 9,
        address: [10, 0, 2, 1].into(),
        port: None,
        hmac: None,
    };
    let v6 = AddAddress {
        address: "fd00::1:2".parse().unwrap(),
        port: Some(0x1f90),
        ..v4
    };
    same(MptcpOption::AddAddress(v4), "1e 08 34 09 0a000201");
    same(
        MptcpOption::AddAddress(v6),
        "1e 16 36 09 fd000000000000000000000000010002 1f90",
    );
    // Of version 1 without its HMAC, or with the IP version of the other family.
    refused("1e 08 30 09 0a000201");
    refused("1e 08 36 09 0a000201");
    // An echo with an HMAC.
    refused("1e 10 31 09 0a000201 0102030405060708");
}

#[test]
fn addresses_are_withdrawn_by_their_ids() {
    let ids = |ids: &[u8]| MptcpOption::RemoveAddress(AddressIds::new(ids).unwrap());
    same(ids(&[3]), "1e 04 40 03");
    same(ids(&[3, 1, 255]), "1e 06 40 03 01 ff");
    refused("1e 03 40");
}

#[test]
fn priority_has_an_address_id_in_version_0_only() {
    let priority = |backup, address_id| MptcpOption::Priority { backup, address_id };
    same(priority(false, None), "1e 03 50");
    same(priority(true, None), "1e 03 51");
    same(priority(true, Some(4)), "1e 04 51 04");
}

#[test]
fn failure_and_fast_close_and_reset_have_one_length() {
    let fail = MptcpOption::Fail {
        data_sequence: SENDER,
    };
    same(fail, "1e 0c 60 00 0102030405060708");
    let close = MptcpOption::FastClose {
        receiver_key: RECEIVER,
    };
    same(close, "1e 0c 70 00 1112131415161718");
    let reset = |transient, reason| MptcpOption::Reset(Reset { transient, reason });
    same(reset(false, 1), "1e 04 80 01");
    same(reset(true, 6), "1e 04 81 06");
}

#[test]
fn reserved_bits_are_ignored() {
    let reset = Reset {
        transient: true,
        reason: 2,
    };
    assert_eq!(read(&hex("8f 02")), Some(MptcpOption::Reset(reset)));
    assert_eq!(
        read(&hex("2f e1 41424344")),
        read(&hex("20 01 41424344")),
        "a data acknowledgement"
    );
}

#[test]
fn an_option_of_another_length_than_its_fields_need_is_refused() {
    for bytes in [
        "1e 02",
        "1e 03 01",
        "1e 05 01 01 00",
        "1e 0b 01 01 01020304050607",
        "1e 19 01 01 0102030405060708 1112131415161718 05b4 abcd 00",
        "1e 0d 10 07 a1a2a3a4 b1b2b3b4 00",
        "1e 0b 10 07 a1a2a3a4 b1b2b3",
        "1e 03 20",
        "1e 05 20 00 00",
        "1e 07 20 01 414243",
        "1e 08 20 03 41424344",
        "1e 0d 20 04 51525354 21222324 31",
        "1e 0f 20 04 51525354 21222324 3132 ab",
        "1e 11 20 04 51525354 21222324 3132 abcd 00",
        "1e 09 31 09 0a000201 00",
        "1e 05 50 04 00",
        "1e 0b 60 00 01020304050607",
        "1e 0d 70 00 1112131415161718 00",
        "1e 03 80",
        "1e 05 80 01 00",
        "1e 04 90 00",
        "1e 04 f0 00",
    ] {
        refused(bytes);
    }
}

#[test]
fn a_list_of_ids_is_neither_empty_nor_longer_than_an_option() {
    assert_eq!(AddressIds::new(&[]), None);
    assert_eq!(AddressIds::new(&[0; 38]), None);
    assert_eq!(AddressIds::new(&[5; 37]).unwrap().as_slice(), [5; 37]);
}
