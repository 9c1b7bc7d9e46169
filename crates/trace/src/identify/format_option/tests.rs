use super::*;
use mptcplab_wire::option::{AddressIds, Mapping};

const CAPABLE: Capable = Capable {
    version: 1,
    checksum: false,
    extension: false,
    no_initial_address: false,
    hmac: true,
    sender_key: None,
    receiver_key: None,
    data_bytes: None,
    data_checksum: None,
};

#[test]
fn mp_capable_has_what_is_there() {
    let formatted = |capable| format_option(&MptcpOption::Capable(capable));
    assert_eq!(formatted(CAPABLE), "MP_CAPABLE v1 flags=H");
    let plain = Capable {
        version: 0,
        hmac: false,
        sender_key: Some(0x1f),
        ..CAPABLE
    };
    assert_eq!(formatted(plain), "MP_CAPABLE v0 key=0x000000000000001f");
    let full = Capable {
        checksum: true,
        extension: true,
        no_initial_address: true,
        sender_key: Some(0x0123_4567_89ab_cdef),
        receiver_key: Some(2),
        data_bytes: Some(100),
        data_checksum: Some(0xbe),
        ..CAPABLE
    };
    assert_eq!(
        formatted(full),
        "MP_CAPABLE v1 flags=ABCH key=0x0123456789abcdef peer_key=0x0000000000000002 \
         data_bytes=100 checksum=0x00be"
    );
}

#[test]
fn mp_join_has_three_forms() {
    let formatted = |join| format_option(&MptcpOption::Join(join));
    let syn = Join::Syn {
        backup: true,
        address_id: 3,
        token: 0x1234,
        nonce: 0x0abc_def0,
    };
    assert_eq!(
        formatted(syn),
        "MP_JOIN backup=1 id=3 token=0x00001234 nonce=0x0abcdef0"
    );
    let syn_ack = Join::SynAck {
        backup: false,
        address_id: 0,
        hmac: 0x55,
        nonce: 1,
    };
    assert_eq!(
        formatted(syn_ack),
        "MP_JOIN backup=0 id=0 hmac=0x0000000000000055 nonce=0x00000001"
    );
    let mut hmac = [0; 20];
    (hmac[0], hmac[19]) = (0xa, 0xff);
    assert_eq!(
        formatted(Join::Ack { hmac }),
        "MP_JOIN hmac=0x0a000000000000000000000000000000000000ff"
    );
}

#[test]
fn dss_tells_how_long_its_numbers_are() {
    let formatted = |dss| format_option(&MptcpOption::Dss(dss));
    let acknowledgement = Dss {
        acknowledgement: Some(DataNumber::Short(7)),
        ..Dss::default()
    };
    assert_eq!(formatted(acknowledgement), "DSS ack=7 ack_bytes=4");
    let mapping = Mapping {
        data_sequence: DataNumber::Long(1 << 40),
        subflow_sequence: 9,
        bytes: 1,
        checksum: Some(0xf),
    };
    let all = Dss {
        data_fin: true,
        acknowledgement: Some(DataNumber::Long(8)),
        mapping: Some(mapping),
    };
    assert_eq!(
        formatted(all),
        "DSS fin ack=8 ack_bytes=8 dsn=1099511627776 dsn_bytes=8 ssn=9 len=1 checksum=0x000f"
    );
}

#[test]
fn addresses_stand_as_people_write_them() {
    let add = AddAddress {
        echo: false,
        address_id: 4,
        address: "10.0.2.1".parse().unwrap(),
        port: Some(81),
        hmac: Some(1),
    };
    assert_eq!(
        format_option(&MptcpOption::AddAddress(add)),
        "ADD_ADDR id=4 address=10.0.2.1 port=81 hmac=0x0000000000000001"
    );
    let echo = AddAddress {
        echo: true,
        address: "fd00::1".parse().unwrap(),
        port: None,
        hmac: None,
        ..add
    };
    assert_eq!(
        format_option(&MptcpOption::AddAddress(echo)),
        "ADD_ADDR echo id=4 address=fd00::1"
    );
}

#[test]
fn several_options_are_told_in_their_order() {
    let options = [
        MptcpOption::RemoveAddress(AddressIds::new(&[1, 2]).unwrap()),
        MptcpOption::Priority {
            backup: false,
            address_id: Some(5),
        },
        MptcpOption::Priority {
            backup: true,
            address_id: None,
        },
        MptcpOption::Fail { data_sequence: 12 },
        MptcpOption::FastClose { receiver_key: 0xab },
        MptcpOption::Reset(Reset {
            transient: true,
            reason: 6,
        }),
    ];
    let mut text = String::from("> ");
    format_options(&options, &mut text);
    assert_eq!(
        text,
        "> REMOVE_ADDR ids=1,2; MP_PRIO backup=0 id=5; MP_PRIO backup=1; MP_FAIL dsn=12; \
         MP_FASTCLOSE key=0x00000000000000ab; MP_TCPRST transient=1 reason=6"
    );
}
