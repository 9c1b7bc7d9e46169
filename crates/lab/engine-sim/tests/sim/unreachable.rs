//! Routers without a route to where a host wants to go.

use mptcplab_plan::{Protocol, Way};

use crate::support::{Lab, MS, Path};

/// Two networks with a router each and nothing between them: of the client's four pairs of
/// addresses two lead nowhere.
fn lab() -> Lab {
    let mut lab = Lab::new(1);
    let [client, server] = ["client", "server"].map(|name| lab.node(name, false));
    for path in 0..2 {
        let router = lab.node(&format!("router{path}"), true);
        let config = || Path::new(10_000_000, 5 * MS).config();
        lab.link(client, router, &format!("near{path}"), config());
        lab.link(router, server, &format!("far{path}"), config());
    }
    lab.add_routes();
    lab.open_subflows(client);
    lab.announce(server);
    lab
}

#[test]
fn a_join_without_a_route_ends_with_the_routers_error() {
    let mut lab = lab();
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 1_000_000);
    let run = lab.run();
    assert_eq!(run.counter("client", "TcpAttemptFails"), 2);
    assert_eq!(run.counter("client", "TcpExtTCPTimeouts"), 0);
    assert_eq!(run.counter("client", "MPTcpExtMPJoinSynAckRx"), 1);
}

#[test]
fn a_connection_without_a_route_fails_at_once() {
    let mut lab = lab();
    let behind_the_other_router = lab.address(3, 1);
    lab.bulk_bytes(Protocol::Tcp, Way::Down, 1_000).target = behind_the_other_router;
    let run = lab.run();
    assert_eq!(run.counter("client", "TcpAttemptFails"), 1);
    let last = run.table("events").into_iter().next_back().unwrap();
    // To the router and back.
    let [least, most] = [10 * MS, 11 * MS];
    assert!(
        (least..most).contains(&last["t_ns"].as_u64().unwrap()),
        "{last}"
    );
    assert_ne!(run.transfers()[0]["error"], serde_json::Value::Null);
}
