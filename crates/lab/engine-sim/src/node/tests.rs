//! Routers.

use std::collections::BTreeMap;

use bytes::Bytes;
use mptcplab_wire::Packet;

use super::routing::MOST_DESTINATIONS;
use super::*;
use crate::in_flight::PacketInFlight;

/// Two routes to 10.9.0.0/24, of which the first is the better one by its prefix.
fn router() -> Node {
    let interface = |name: &str, address: &str| plan::Interface {
        name: name.to_owned(),
        addresses: vec![Prefix {
            address: address.parse().unwrap(),
            length: 24,
        }],
        gateways: vec![],
        mtu: 1500,
        address_delay_ns: 0,
        endpoint: None,
    };
    let route = |to: &str, length, via: &str| plan::Route {
        to: Prefix {
            address: to.parse().unwrap(),
            length,
        },
        via: via.parse().unwrap(),
    };
    let planned = plan::Node {
        name: "r".to_owned(),
        router: true,
        switch: None,
        interfaces: vec![interface("a", "10.0.0.1"), interface("b", "10.0.1.1")],
        routes: vec![
            route("10.9.0.0", 24, "10.0.0.2"),
            route("10.0.0.0", 8, "10.0.1.2"),
        ],
        mptcp: plan::Mptcp {
            enabled: false,
            checksum: false,
            syn_retries: None,
            scheduler: None,
            scheduler_options: plan::SchedulerOptions::default(),
            subflows_per_pair: 1,
            limit_subflows: 0,
            limit_add_addr_accepted: 0,
            by_application: false,
        },
        clock_granularity_ns: 1,
        pacing: false,
        sysctls: BTreeMap::new(),
    };
    Node::new(&planned, 1, 0)
}

fn forwarding(router: &mut Node, destination: &str) -> Forwarding {
    let [from, to] = ["10.9.0.9:1".to_owned(), format!("{destination}:1")];
    let packet = Packet::udp(from.parse().unwrap(), to.parse().unwrap(), Bytes::new());
    router.forwarding(&PacketInFlight::new(Box::new(packet)))
}

#[test]
fn a_router_forgets_where_destinations_lie_when_its_addresses_change() {
    let mut router = router();
    for _ in 0..2 {
        assert_eq!(forwarding(&mut router, "10.9.0.7"), Forwarding::Forward(0));
        assert_eq!(forwarding(&mut router, "10.0.0.1"), Forwarding::Deliver);
        assert_eq!(forwarding(&mut router, "11.0.0.1"), Forwarding::Unreachable);
    }
    router.set_carrier(5, 0, false);
    assert_eq!(forwarding(&mut router, "10.9.0.7"), Forwarding::Forward(1));
    assert_eq!(forwarding(&mut router, "10.0.0.1"), Forwarding::Forward(1));
    router.set_carrier(6, 0, true);
    router.act(6);
    assert_eq!(forwarding(&mut router, "10.9.0.7"), Forwarding::Forward(0));
    assert_eq!(forwarding(&mut router, "10.0.0.1"), Forwarding::Deliver);
}

#[test]
fn a_router_finds_its_way_among_more_destinations_than_it_remembers() {
    let mut router = router();
    for _ in 0..2 {
        for number in 0..=MOST_DESTINATIONS {
            let destination = format!("10.7.{}.{}", number / 256, number % 256);
            assert_eq!(
                forwarding(&mut router, &destination),
                Forwarding::Forward(1)
            );
            assert!(router.destinations.len() <= MOST_DESTINATIONS);
        }
    }
}
