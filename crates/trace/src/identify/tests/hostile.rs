//! Captures that are made to hurt: nothing grows without bound but connections.

use mptcplab_wire::option::{AddAddress, AddressIds, DataNumber, Dss, Mapping, MptcpOption, Reset};
use proptest::prelude::*;

use super::super::dsn_match::CONNECTIONS_AN_ADDRESS;
use super::super::pending::SEGMENTS;
use super::build::*;
use crate::Segment;

fn ends(number: u32) -> (String, String) {
    let [_, a, b, c] = number.to_be_bytes();
    (format!("10.{a}.{b}.{c}:6000"), SERVER.to_owned())
}

#[test]
fn joins_with_unknown_tokens_wait_up_to_a_bound() {
    let mut told = Told::default();
    let count = 3 * SEGMENTS as u32;
    for number in 0..count {
        let (from, to) = ends(number);
        told.place(&syn(&from, &to, 1).with(join_syn(number, 1, 1)));
        assert!(told.registry.pending.len() <= SEGMENTS);
    }
    told.finish();
    assert_eq!(told.registry.pending.len(), 0);
    assert_eq!(told.registry.connections().count(), count as usize);
}

#[test]
fn an_address_names_its_newest_connections() {
    let mut told = Told::default();
    let first = |number: u32| {
        let (from, to) = ends(number);
        let numbers = [number << 25, 1 << 31].map(|it| Some(DataNumber::Short(it)));
        ack(&from, &to, 1, 1)
            .bytes(100)
            .with(dss(numbers[0], numbers[1]))
    };
    let count = CONNECTIONS_AN_ADDRESS as u32 + 10;
    for number in 0..count {
        told.place(&first(number));
    }
    let of = |number: u32| {
        let mut segment = first(number);
        segment.source.set_port(7000);
        segment.source.set_ip([10, 200, 0, 1].into());
        segment
    };
    let newest = told.whose(&of(count - 1)).unwrap();
    assert_eq!((newest.0, newest.1), (count - 1, 1));
}

#[test]
fn announcements_do_not_pile_up() {
    let mut told = Told::of(opening(1));
    let before = told.registry.connections().next().unwrap();
    for number in 0..5000_u32 {
        let add = AddAddress {
            echo: false,
            address_id: number as u8,
            address: std::net::Ipv4Addr::from_bits(number).into(),
            port: None,
            hmac: None,
        };
        told.place(
            &ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1).with(MptcpOption::AddAddress(add)),
        );
    }
    assert_eq!(told.texts("address_announced").len(), 5000);
    assert_eq!(told.registry.connections().next().unwrap(), before);
}

fn option() -> impl Strategy<Value = MptcpOption> {
    let key = prop_oneof![Just(None), Just(Some(A)), Just(Some(B)), Just(Some(0))];
    let number = prop_oneof![
        any::<u64>().prop_map(DataNumber::Long),
        any::<u32>().prop_map(DataNumber::Short),
        (0..5_u64).prop_map(|it| DataNumber::Long(it << 31)),
    ];
    let mapping = (number.clone(), 0..3_u16).prop_map(|(data_sequence, bytes)| Mapping {
        data_sequence,
        subflow_sequence: 1,
        bytes,
        checksum: None,
    });
    let token = prop_oneof![Just(0x18f9_781b), Just(0x55c5_3f5d), 0..3_u32];
    prop_oneof![
        (0..3_u8, key.clone(), key).prop_map(|(version, one, other)| capable(version, one, other)),
        (token, 0..3_u8).prop_map(|(token, id)| join_syn(token, id, 1)),
        (0..3_u64).prop_map(|hmac| join_syn_ack(hmac, 1, 1)),
        Just(join_ack([0; 20])),
        (
            any::<bool>(),
            prop::option::of(mapping),
            prop::option::of(number)
        )
            .prop_map(
                |(data_fin, mapping, acknowledgement)| MptcpOption::Dss(Dss {
                    data_fin,
                    acknowledgement,
                    mapping,
                })
            ),
        (0..3_u8, any::<bool>(), prop::option::of(0..3_u64)).prop_map(|(id, echo, hmac)| {
            MptcpOption::AddAddress(AddAddress {
                echo,
                address_id: id,
                address: [10, 0, 0, id].into(),
                port: None,
                hmac,
            })
        }),
        (0..3_u8).prop_map(|id| MptcpOption::RemoveAddress(AddressIds::new(&[id]).unwrap())),
        (any::<bool>(), prop::option::of(0..3_u8))
            .prop_map(|(backup, address_id)| MptcpOption::Priority { backup, address_id }),
        Just(MptcpOption::Fail { data_sequence: 1 }),
        Just(MptcpOption::FastClose { receiver_key: B }),
        Just(MptcpOption::Reset(Reset {
            transient: false,
            reason: 9
        })),
    ]
}

prop_compose! {
    fn anything()(
        ends in (0..3_u8, 0..3_u8, 0..3_u16, 0..3_u16),
        numbers in (prop_oneof![0..4_u32, any::<u32>()], prop_oneof![0..4_u32, any::<u32>()]),
        flags in any::<u8>(),
        times in prop_oneof![0..10_000_000_000_i64, any::<i64>()],
        payload in prop_oneof![Just(0), 0..3_u32, any::<u32>()],
        interface in 0..40_u32,
        options in prop::collection::vec(option(), 0..3),
    ) -> Segment {
        let mut segment = segment(CLIENT, SERVER).at(times).on(interface).bytes(payload);
        segment.source = ([10, 0, 0, ends.0], ends.2).into();
        segment.destination = ([10, 0, 0, ends.1], ends.3).into();
        (segment.sequence, segment.acknowledgement) = numbers;
        segment.flags.syn = flags & 1 != 0;
        segment.flags.ack = flags & 6 != 0;
        segment.flags.rst = flags & 0x18 == 0x18;
        segment.flags.fin = flags & 0x60 == 0x60;
        segment.options_cut = flags & 0x80 != 0;
        segment.options.mptcp = options.into_iter().collect();
        segment
    }
}

proptest! {
    #[test]
    fn every_segment_gets_one_place(segments in prop::collection::vec(anything(), 0..60)) {
        let mut told = Told::default();
        let mut placed = 0;
        for segment in &segments {
            placed += usize::from(told.place(segment).is_some());
        }
        told.finish();
        prop_assert_eq!(placed + told.released.len(), segments.len());
        let identities: Vec<_> = told.registry.connections().collect();
        for (_, it) in &told.released {
            let subflows = &identities[it.place.connection as usize].subflows;
            prop_assert!((it.place.subflow as usize) < subflows.len());
        }
        let subflows: usize = identities.iter().map(|it| it.subflows.len()).sum();
        prop_assert_eq!(subflows, told.registry.flows.len());
    }
}
