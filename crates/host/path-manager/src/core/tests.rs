mod any;
mod handover;

use super::*;
use crate::config::{Paths, Step};

const TOKEN: u32 = 7;
const SECOND: Nanos = 1_000_000_000;

fn end(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn address(last: u8) -> LocalAddress {
    LocalAddress {
        address: IpAddr::from([10, 0, last, 2]),
        interface: format!("eth{last}"),
        is_deprecated: false,
    }
}

fn peer() -> SocketAddr {
    end("10.0.1.1:5001")
}

fn event(kind: EventKind, local: &str, remote: SocketAddr) -> Event {
    Event {
        kind,
        token: TOKEN,
        local: Some(end(local)),
        remote: Some(remote),
        local_id: None,
        remote_id: None,
        backup: None,
        error: None,
        reset_reason: None,
        interface: None,
        server_side: Some(false),
    }
}

fn mesh() -> Config {
    Config {
        paths: Paths::Fullmesh,
        most_subflows: 8,
        ..Config::default()
    }
}

/// A host with three addresses and a connection from the first of them.
fn connected(config: Config) -> Core {
    let mut core = Core::new(config);
    core.set_addresses([1, 2, 3].map(address).to_vec());
    core.on_event(0, &event(EventKind::Established, "10.0.1.2:40000", peer()));
    core
}

/// Addresses of the subflows that are to be opened.
fn opened(commands: &[Command]) -> Vec<IpAddr> {
    let open = commands.iter().filter_map(|command| match command {
        Command::Open { local, .. } => Some(*local),
        _ => None,
    });
    open.collect()
}

fn established(core: &mut Core, local: &str) {
    core.on_event(0, &event(EventKind::SubflowEstablished, local, peer()));
}

fn closed(core: &mut Core, now: Nanos, local: &str) {
    core.on_event(now, &event(EventKind::SubflowClosed, local, peer()));
}

fn others() -> Vec<IpAddr> {
    vec![address(2).address, address(3).address]
}

#[test]
fn a_full_mesh_has_a_subflow_from_each_address_once() {
    let mut core = connected(mesh());
    assert_eq!(opened(&core.commands(0)), others());
    assert_eq!(core.commands(0), []);
    established(&mut core, "10.0.2.2:40001");
    assert_eq!(core.commands(0), []);
    // A subflow that the peer refused is not tried again.
    closed(&mut core, 0, "10.0.3.2:40002");
    assert_eq!(core.commands(100 * SECOND), []);
}

#[test]
fn announced_addresses_belong_to_the_mesh() {
    let mut core = connected(mesh());
    core.commands(0);
    let mut announced = event(EventKind::Announced, "10.0.1.2:40000", end("10.0.9.1:5001"));
    announced.remote_id = Some(1);
    core.on_event(0, &announced);
    let all = [1, 2, 3].map(|last| address(last).address);
    assert_eq!(opened(&core.commands(0)), all);
}

#[test]
fn what_fails_is_opened_again_ever_more_rarely_where_that_is_asked_for() {
    let mut core = connected(Config {
        refresh: true,
        ..mesh()
    });
    core.commands(0);
    closed(&mut core, 0, "10.0.2.2:40001");
    assert_eq!(core.commands(0), []);
    let first = core.next_deadline(0).unwrap();
    assert_eq!(opened(&core.commands(first)), [address(2).address]);
    closed(&mut core, first, "10.0.2.2:40002");
    let second = core.next_deadline(first).unwrap();
    assert_eq!(second - first, 2 * first);
    assert_eq!(core.commands(second - 1), []);
    assert_eq!(opened(&core.commands(second)), [address(2).address]);
}

#[test]
fn a_syn_without_an_answer_is_the_kernels_to_repeat() {
    let mut core = connected(Config {
        paths: Paths::Ndiffports(3),
        refresh: true,
        most_subflows: 8,
        ..Config::default()
    });
    assert_eq!(opened(&core.commands(0)), [address(1).address; 2]);
    assert_eq!(core.commands(100 * SECOND), []);
    // Of two that were asked for one comes to nothing.
    established(&mut core, "10.0.1.2:40001");
    closed(&mut core, 100 * SECOND, "10.0.1.2:40002");
    let again = core.next_deadline(100 * SECOND).unwrap();
    assert_eq!(opened(&core.commands(again)), [address(1).address]);
    assert_eq!(core.commands(200 * SECOND), []);
}

#[test]
fn a_peer_that_does_not_answer_is_left_for_another_path_in_a_handover() {
    let mut core = connected(handover());
    core.set_addresses([2, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
    assert_eq!(core.next_deadline(0), Some(PATIENCE));
    assert_eq!(core.commands(PATIENCE - 1), []);
    assert_eq!(opened(&core.commands(PATIENCE)), [address(3).address]);
}

#[test]
fn an_address_that_is_announced_again_is_tried_again() {
    let mut core = connected(mesh());
    core.set_addresses([address(1)].to_vec());
    let remote = end("10.0.9.1:5001");
    let mut announced = event(EventKind::Announced, "10.0.1.2:40000", remote);
    announced.remote_id = Some(1);
    core.on_event(0, &announced);
    assert_eq!(opened(&core.commands(0)), [address(1).address]);
    core.on_event(
        0,
        &event(EventKind::SubflowClosed, "10.0.1.2:40001", remote),
    );
    assert_eq!(core.commands(100 * SECOND), []);
    core.on_event(0, &announced);
    assert_eq!(opened(&core.commands(100 * SECOND)), [address(1).address]);
}

#[test]
fn the_initial_subflow_is_refreshed_too() {
    let mut core = connected(Config {
        refresh: true,
        ..mesh()
    });
    core.commands(0);
    closed(&mut core, 0, "10.0.1.2:40000");
    assert_eq!(opened(&core.commands(SECOND)), [address(1).address]);
}

#[test]
fn an_address_that_goes_takes_its_subflows_along_and_brings_them_back() {
    let mut core = connected(mesh());
    core.commands(0);
    established(&mut core, "10.0.2.2:40001");
    core.set_addresses([1, 3].map(address).to_vec());
    let close = Command::Close {
        token: TOKEN,
        local: end("10.0.2.2:40001"),
        remote: peer(),
    };
    assert_eq!(core.commands(0), [close]);
    closed(&mut core, 0, "10.0.2.2:40001");
    core.set_addresses([1, 2, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
}

#[test]
fn from_a_deprecated_address_nothing_new_begins() {
    let mut core = connected(Config {
        signal: true,
        refresh: true,
        ..mesh()
    });
    core.commands(0);
    established(&mut core, "10.0.2.2:40001");
    let deprecated = LocalAddress {
        is_deprecated: true,
        ..address(2)
    };
    core.set_addresses(vec![address(1), deprecated.clone(), address(3)]);
    // The subflow from it goes on, and the address is not withdrawn.
    assert_eq!(core.commands(0), []);
    closed(&mut core, 0, "10.0.2.2:40001");
    core.set_addresses(vec![deprecated]);
    assert!(opened(&core.commands(100 * SECOND)).is_empty());
    core.set_addresses(vec![address(2)]);
    assert_eq!(opened(&core.commands(200 * SECOND)), [address(2).address]);
}

#[test]
fn different_ports_are_as_many_as_asked_for() {
    let mut core = connected(Config {
        paths: Paths::Ndiffports(4),
        most_subflows: 8,
        ..Config::default()
    });
    assert_eq!(opened(&core.commands(0)), [address(1).address; 3]);
    assert_eq!(core.commands(0), []);
}

#[test]
fn no_more_than_allowed() {
    let mut core = connected(Config {
        paths: Paths::Ndiffports(200),
        most_subflows: 5,
        ..Config::default()
    });
    assert_eq!(opened(&core.commands(0)).len(), 4);
    assert_eq!(core.commands(0), []);
}

#[test]
fn a_small_transfer_has_one_subflow_only() {
    let step = |bytes, subflows| Step { bytes, subflows };
    let mut core = connected(Config {
        steps: vec![step(100_000, 2), step(400_000, 8)],
        ..mesh()
    });
    assert!(core.needs_bytes() && !core.needs_timeouts());
    assert_eq!(core.commands(0), []);
    core.set_samples(&[(TOKEN, 99_999)], &[]);
    assert_eq!(core.commands(0), []);
    core.set_samples(&[(TOKEN, 100_000)], &[]);
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
    established(&mut core, "10.0.2.2:40001");
    assert!(core.needs_bytes());
    core.set_samples(&[(TOKEN, 400_000)], &[]);
    assert_eq!(opened(&core.commands(0)), [address(3).address]);
    // Whatever it carries from now on, it may have as many.
    assert!(!core.needs_bytes());
}

fn handover() -> Config {
    let preferred = ["eth1", "eth2"].map(str::to_owned);
    Config {
        paths: Paths::Handover(preferred.to_vec()),
        most_subflows: 8,
        ..Config::default()
    }
}

#[test]
fn a_handover_makes_the_new_before_it_breaks_the_old() {
    let mut core = connected(handover());
    assert!(core.needs_timeouts() && !core.needs_bytes());
    assert_eq!(core.commands(0), []);
    let lost = SubflowSample {
        token: TOKEN,
        local: end("10.0.1.2:40000"),
        remote: peer(),
        timeouts: 2,
    };
    core.set_samples(&[], &[lost]);
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
    assert_eq!(core.commands(0), []);
    established(&mut core, "10.0.2.2:40001");
    let close = Command::Close {
        token: TOKEN,
        local: lost.local,
        remote: peer(),
    };
    assert_eq!(core.commands(0), [close]);
    assert_eq!(core.commands(0), []);
    // After a while the preferred path is tried again, and used once it works.
    let later = core.next_deadline(0).unwrap();
    assert_eq!(core.commands(later - 1), []);
    assert_eq!(opened(&core.commands(later)), [address(1).address]);
    assert_eq!(core.commands(later), []);
    established(&mut core, "10.0.1.2:40002");
    let close = Command::Close {
        token: TOKEN,
        local: end("10.0.2.2:40001"),
        remote: peer(),
    };
    assert_eq!(core.commands(later), [close]);
}

#[test]
fn an_address_that_goes_is_a_handover() {
    let mut core = connected(handover());
    core.commands(0);
    core.set_addresses([2, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
}

#[test]
fn a_server_opens_nothing_but_announces() {
    let mut core = Core::new(Config {
        signal: true,
        steps: vec![Step {
            bytes: 1,
            subflows: 8,
        }],
        ..mesh()
    });
    core.set_addresses([1, 2].map(address).to_vec());
    let mut accepted = event(
        EventKind::Established,
        "10.0.1.2:5001",
        end("10.0.1.9:40000"),
    );
    accepted.server_side = Some(true);
    core.on_event(0, &accepted);
    assert!(!core.needs_bytes() && !core.needs_timeouts());
    let announce = Command::Announce {
        token: TOKEN,
        address: address(2).address,
    };
    assert_eq!(core.commands(0), [announce]);
    assert_eq!(core.commands(0), []);
    core.set_addresses([1].map(address).to_vec());
    let withdraw = Command::Withdraw {
        token: TOKEN,
        address: address(2).address,
    };
    assert_eq!(core.commands(0), [withdraw]);
}
