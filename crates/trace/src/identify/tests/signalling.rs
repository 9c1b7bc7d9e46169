//! Addresses, priorities and ends.

use mptcplab_wire::option::{AddAddress, AddressIds, MptcpOption};

use super::super::keys::address_hmac;
use super::build::*;
use crate::Side::{Client, Server};
use crate::{Ends, Segment};

fn from_server() -> Segment {
    ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1)
}

fn from_client() -> Segment {
    ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
}

fn add(hmac: Option<u64>) -> AddAddress {
    AddAddress {
        echo: false,
        address_id: 7,
        address: "10.0.2.1".parse().unwrap(),
        port: None,
        hmac,
    }
}

/// Returns the server's announcement of 10.0.2.1, with the HMAC worked out with other software.
fn announcement() -> Segment {
    from_server().with(MptcpOption::AddAddress(add(Some(0xf7df_c334_0a84_5c7d))))
}

#[test]
fn an_announcement_is_verified_echoed_and_sent_again() {
    let mut told = Told::of(opening(1));
    told.place(&announcement());
    told.place(&announcement());
    let echo = AddAddress {
        echo: true,
        ..add(None)
    };
    told.place(&from_client().with(MptcpOption::AddAddress(echo)));
    let formatted = "ADD_ADDR id=7 address=10.0.2.1 hmac=0xf7dfc3340a845c7d";
    assert_eq!(
        told.texts("address_announced"),
        [formatted.to_owned(), format!("{formatted}, sent again")]
    );
    assert_eq!(
        told.texts("address_echoed"),
        ["ADD_ADDR echo id=7 address=10.0.2.1"]
    );
    assert!(told.texts("hmac_wrong").is_empty());
}

#[test]
fn a_wrong_hmac_of_an_announcement_is_told() {
    let mut told = Told::of(opening(1));
    // That of the client would be right from the client.
    let hmac = address_hmac(A, B, 7, "10.0.2.1".parse().unwrap(), None);
    told.place(&from_server().with(MptcpOption::AddAddress(add(Some(hmac)))));
    assert_eq!(
        told.texts("hmac_wrong"),
        ["the HMAC of ADD_ADDR id=7 does not follow from the keys"]
    );
}

#[test]
fn a_subflow_to_an_announced_address_is_known_as_such_until_it_is_withdrawn() {
    let mut told = Told::of(opening(1));
    told.place(&announcement());
    let join = |port: u16| {
        let from = format!("10.0.1.1:{port}");
        syn(&from, "10.0.2.1:80", 5).with(join_syn(0x18f9_781b, 2, 1))
    };
    told.place(&join(6000));
    let ids = AddressIds::new(&[7]).unwrap();
    told.place(&from_server().with(MptcpOption::RemoveAddress(ids)));
    told.place(&join(6001));
    let identity = told.registry.connections().next().unwrap();
    let announced: Vec<_> = identity.subflows.iter().map(|it| it.announced).collect();
    assert_eq!(announced, [false, true, false]);
    assert_eq!(told.texts("address_removed"), ["REMOVE_ADDR ids=7"]);
    assert!(told.texts("subflow_opened")[0].ends_with(", to an announced address"));
}

#[test]
fn mp_prio_of_version_1_is_about_its_own_subflow() {
    let mut told = Told::of(opening(1));
    let prio = |backup| MptcpOption::Priority {
        backup,
        address_id: None,
    };
    for backup in [false, true, true] {
        told.place(&from_client().with(prio(backup)));
    }
    let identity = told.registry.connections().next().unwrap();
    let expected = Ends {
        client: Some(true),
        server: Some(false),
    };
    assert_eq!(identity.subflows[0].backup, expected);
    assert_eq!(identity.subflows[0].priority_changes, 1);
    assert_eq!(
        told.texts("priority_changed"),
        ["MP_PRIO backup=0", "MP_PRIO backup=1", "MP_PRIO backup=1"]
    );
}

#[test]
fn mp_prio_of_version_0_is_about_an_address() {
    let mut told = Told::of(opening(0));
    told.place(&syn("10.0.1.1:6000", SERVER, 5).with(join_syn(0xa5be_6871, 3, 1)));
    let prio = MptcpOption::Priority {
        backup: true,
        address_id: Some(3),
    };
    told.place(&from_client().with(prio));
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.subflows[0].backup.client, Some(false));
    assert_eq!(identity.subflows[1].backup.client, Some(true));
    assert_eq!(identity.subflows[1].priority_changes, 1);
    assert_eq!(identity.subflows[0].priority_changes, 0);
}

#[test]
fn the_options_tell_the_version_of_a_connection_that_was_under_way() {
    let cases = [
        (MptcpOption::AddAddress(add(None)), 0),
        (MptcpOption::AddAddress(add(Some(1))), 1),
        (
            MptcpOption::Priority {
                backup: true,
                address_id: Some(1),
            },
            0,
        ),
    ];
    for (option, version) in cases {
        let mut told = Told::of([from_server().with(option)]);
        told.finish();
        let identity = told.registry.connections().next().unwrap();
        assert!(identity.mptcp && identity.inferred);
        assert_eq!(identity.version, Some(version));
    }
}

#[test]
fn a_fast_close_tells_the_key_of_a_connection_whose_token_is_known() {
    for (token, version) in [(0x18f9_781b, 1), (0xa5be_6871, 0)] {
        let join = syn("10.0.1.1:6000", SERVER, 5).with(join_syn(token, 3, 1));
        let mut told = Told::of([join]);
        told.finish();
        let close = MptcpOption::FastClose { receiver_key: B };
        told.place(&ack("10.0.1.1:6000", SERVER, 6, 9).with(close));
        let identity = told.registry.connections().next().unwrap();
        assert_eq!(identity.version, Some(version));
        assert_eq!(identity.keys.server, Some(B));
        assert_eq!(
            told.texts("fast_close"),
            ["MP_FASTCLOSE key=0xfedcba9876543210"]
        );
    }
}

#[test]
fn each_end_s_first_reset_is_told() {
    let mut told = Told::of(opening(1));
    for _ in 0..2 {
        told.place(&from_client().rst());
        told.place(&from_server().rst());
    }
    let resets: Vec<_> = told
        .events
        .iter()
        .filter(|event| event.kind == "reset")
        .map(|event| event.from)
        .collect();
    assert_eq!(resets, [Some(Client), Some(Server)]);
}

#[test]
fn an_id_that_is_announced_with_another_address_is_told() {
    let mut told = Told::of(opening(1));
    told.place(&announcement());
    let other = AddAddress {
        address: "10.0.3.1".parse().unwrap(),
        port: Some(81),
        ..add(None)
    };
    told.place(&from_server().with(MptcpOption::AddAddress(other)));
    assert_eq!(
        told.texts("address_changed"),
        ["id 7 was that of 10.0.2.1 before"]
    );
    // The other end has ids of its own, and a withdrawn id is free.
    told.place(&from_client().with(MptcpOption::AddAddress(add(None))));
    let ids = AddressIds::new(&[7]).unwrap();
    told.place(&from_server().with(MptcpOption::RemoveAddress(ids)));
    told.place(&announcement());
    assert_eq!(told.texts("address_changed").len(), 1);
}

#[test]
fn a_reset_with_options_alone_is_one_of_mptcp() {
    let reason = MptcpOption::Reset(mptcplab_wire::option::Reset {
        transient: false,
        reason: 1,
    });
    let mut told = Told::default();
    assert_eq!(told.place(&from_server().rst().with(reason)), None);
    told.finish();
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && identity.inferred);
    assert_eq!(identity.version, Some(1));
    assert_eq!(identity.subflows[0].reset_reason, Some(1));
}
