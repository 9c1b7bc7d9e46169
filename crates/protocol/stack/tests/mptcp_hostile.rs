//! Options of a hostile peer: neither a panic nor an endless loop.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_wire::option::MptcpOption;
use proptest::prelude::*;

/// An option that makes sense on some segment, with any values.
fn any_option() -> impl Strategy<Value = MptcpOption> {
    use mptcplab_wire::option::*;
    let number = prop_oneof![
        any::<u64>().prop_map(DataNumber::Long),
        any::<u32>().prop_map(DataNumber::Short),
    ];
    let mapping = (
        number.clone(),
        any::<u32>(),
        any::<u16>(),
        any::<Option<u16>>(),
    )
        .prop_map(
            |(data_sequence, subflow_sequence, bytes, checksum)| Mapping {
                data_sequence,
                subflow_sequence,
                bytes,
                checksum,
            },
        );
    prop_oneof![
        (
            any::<bool>(),
            proptest::option::of(number),
            proptest::option::of(mapping)
        )
            .prop_map(
                |(data_fin, acknowledgement, mapping)| MptcpOption::Dss(Dss {
                    data_fin,
                    acknowledgement,
                    mapping
                })
            ),
        (any::<bool>(), any::<u8>(), any::<u32>(), any::<u64>()).prop_map(
            |(echo, address_id, address, hmac)| MptcpOption::AddAddress(AddAddress {
                echo,
                address_id,
                address: std::net::Ipv4Addr::from(address).into(),
                port: None,
                hmac: (!echo).then_some(hmac),
            })
        ),
        proptest::collection::vec(any::<u8>(), 1..9)
            .prop_map(|ids| MptcpOption::RemoveAddress(AddressIds::new(&ids).unwrap())),
        any::<bool>().prop_map(|backup| MptcpOption::Priority {
            backup,
            address_id: None
        }),
        any::<u64>().prop_map(|data_sequence| MptcpOption::Fail { data_sequence }),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose { receiver_key }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases_or(128)))]
    #[test]
    fn options_of_a_hostile_peer_neither_panic_nor_spin(
        options in proptest::collection::vec((any_option(), 0_u32..3000, 0_usize..2000), 1..60),
    ) {
        let mut world = World::new(vec![Path::new(MS, 0), Path::new(MS, 0)], generous());
        let ids = world.establish(mptcp());
        world.write(CLIENT, ids[CLIENT], pattern(1000));
        world.write(SERVER, ids[SERVER], pattern(1000));
        world.run_for(SECOND);
        // The server's packets from now on are not its own.
        let template = world
            .sent
            .iter()
            .rev()
            .find(|(_, from, path, segment)| {
                *from == SERVER && *path == 0 && segment.payload.is_empty()
            })
            .unwrap()
            .3
            .clone();
        for (option, ahead, bytes) in options {
            let mut segment = template.clone();
            segment.sequence = segment.sequence.wrapping_add(ahead);
            segment.payload = pattern(bytes);
            segment.options.sack.clear();
            segment.options.mptcp.clear();
            segment.options.mptcp.push(option);
            world.hosts[CLIENT].receive(world.now, segment.into_packet(64));
            world.flush();
            world.run_for(10 * MS);
        }
        world.run_for(SECOND);
    }
}
