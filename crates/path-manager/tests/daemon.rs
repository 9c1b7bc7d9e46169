//! The daemon beside the running kernel.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_path_manager::{Config, Daemon, Paths, Step};
use mptcplab_subflow::{Manager, connection, subflow_ids};
use mptcplab_testbed::{Hosts, inside, ip};
use nix::sys::eventfd::EventFd;

/// A client with a daemon, and a connection over its first link.
struct World {
    hosts: Hosts,
    client: TcpStream,
    server: TcpStream,
    /// Without a listener on the port the server takes no joins.
    listener: (TcpListener, u16),
    /// On the server's side, for its orders, and because joins need a subscriber there.
    server_manager: Manager,
    stop: Arc<EventFd>,
    daemon: Option<JoinHandle<()>>,
}

impl World {
    fn new(links: u8, config: Config) -> Self {
        let hosts = Hosts::new(links);
        let listener = hosts.listen(false);
        let server_manager = hosts.server.run(Manager::direct).unwrap().unwrap();
        let stop = Arc::new(EventFd::new().unwrap());
        let daemon = thread::spawn({
            let (netns, stop) = (hosts.client.clone(), Arc::clone(&stop));
            let (ready, begun) = std::sync::mpsc::channel();
            let work = move || {
                netns.enter().unwrap();
                let mut daemon = Daemon::open(config).unwrap();
                ready.send(()).unwrap();
                daemon
                    .run(&stop, |order, done| println!("{order:?}: {done:?}"))
                    .unwrap();
            };
            let thread = thread::spawn(work);
            begun.recv().unwrap();
            move || thread.join().unwrap()
        });
        // The daemon hears of connections from now on.
        thread::sleep(Duration::from_millis(50));
        let (client, server) = hosts.connect(&listener, false);
        Self {
            hosts,
            client,
            server,
            listener,
            server_manager,
            stop,
            daemon: Some(daemon),
        }
    }

    /// Links over which the connection has open subflows, one entry a subflow.
    fn links(&self) -> Vec<u8> {
        let mut links: Vec<u8> = connection(&self.client)
            .unwrap()
            .subflows
            .iter()
            .filter(|subflow| subflow.is_open())
            .map(|subflow| match subflow.local.ip() {
                std::net::IpAddr::V4(v4) => v4.octets()[2],
                std::net::IpAddr::V6(_) => panic!("only IPv4 here"),
            })
            .collect();
        links.sort_unstable();
        links
    }

    /// Waits until the connection has subflows over just these links.
    fn expect(&self, links: &[u8]) {
        let begun = Instant::now();
        while self.links() != links {
            let waited = begun.elapsed();
            assert!(
                waited < Duration::from_secs(20),
                "{:?}, not {links:?}",
                self.links()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends bytes through and compares them.
    fn carry(&mut self, length: usize) {
        let sent: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
        let (client, server) = (&mut self.client, &mut self.server);
        thread::scope(|scope| {
            scope.spawn(|| client.write_all(&sent).unwrap());
            let mut received = vec![0; length];
            server.read_exact(&mut received).unwrap();
            assert!(received == sent);
        });
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.write(1).unwrap();
        let ended = self.daemon.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

fn mesh() -> Config {
    Config {
        paths: Paths::Fullmesh,
        most_subflows: 8,
        ..Config::default()
    }
}

#[test]
fn a_full_mesh_loses_and_regains_an_address() {
    if !inside("a_full_mesh_loses_and_regains_an_address") {
        return;
    }
    let mut world = World::new(3, mesh());
    world.expect(&[1, 2, 3]);
    world.carry(1_000_000);
    ip(&world.hosts.client, "addr del 10.0.2.2/24 dev eth2");
    world.expect(&[1, 3]);
    world.carry(1_000_000);
    world.hosts.restore_client_address(2);
    world.expect(&[1, 2, 3]);
    world.carry(1_000_000);
}

#[test]
fn a_closed_subflow_is_opened_again() {
    if !inside("a_closed_subflow_is_opened_again") {
        return;
    }
    let config = Config {
        refresh: true,
        ..mesh()
    };
    let mut world = World::new(2, config);
    world.expect(&[1, 2]);
    let before = subflow_ids(&world.client).unwrap();
    let second = *subflow_ids(&world.server).unwrap().last().unwrap();
    world
        .server_manager
        .close_subflow(&world.server, second)
        .unwrap();
    let begun = Instant::now();
    while subflow_ids(&world.client).unwrap().len() < 2
        || subflow_ids(&world.client).unwrap() == before
    {
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(10));
    }
    world.expect(&[1, 2]);
    world.carry(1_000_000);
}

#[test]
fn different_ports_on_one_pair_of_addresses() {
    if !inside("different_ports_on_one_pair_of_addresses") {
        return;
    }
    let config = Config {
        paths: Paths::Ndiffports(12),
        most_subflows: 64,
        ..Config::default()
    };
    let mut world = World::new(1, config);
    world.expect(&[1; 12]);
    world.carry(1_000_000);
}

#[test]
fn a_second_subflow_once_enough_was_carried() {
    if !inside("a_second_subflow_once_enough_was_carried") {
        return;
    }
    let config = Config {
        steps: vec![Step {
            bytes: 500_000,
            subflows: 2,
        }],
        ..mesh()
    };
    let mut world = World::new(3, config);
    world.carry(100_000);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(world.links(), [1]);
    world.carry(1_000_000);
    world.expect(&[1, 2]);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(world.links(), [1, 2]);
}

#[test]
fn a_handover_to_the_next_interface_and_back() {
    if !inside("a_handover_to_the_next_interface_and_back") {
        return;
    }
    let preferred = ["eth1", "eth2"].map(str::to_owned);
    let config = Config {
        paths: Paths::Handover(preferred.to_vec()),
        most_subflows: 8,
        ..Config::default()
    };
    let mut world = World::new(2, config);
    world.expect(&[1]);
    ip(&world.hosts.client, "addr del 10.0.1.2/24 dev eth1");
    world.expect(&[2]);
    world.carry(1_000_000);
    world.hosts.restore_client_address(1);
    world.expect(&[1]);
    world.carry(1_000_000);
}

#[test]
fn a_handover_from_a_path_that_answers_no_more() {
    if !inside("a_handover_from_a_path_that_answers_no_more") {
        return;
    }
    let preferred = ["eth1", "eth2"].map(str::to_owned);
    let config = Config {
        paths: Paths::Handover(preferred.to_vec()),
        most_subflows: 8,
        ..Config::default()
    };
    let mut world = World::new(2, config);
    world.expect(&[1]);
    world.hosts.silence(1);
    world.carry(300_000);
    world.expect(&[2]);
    world.carry(1_000_000);
}

#[test]
fn the_servers_addresses_are_announced_and_joined() {
    if !inside("the_servers_addresses_are_announced_and_joined") {
        return;
    }
    let mut world = World::new(2, mesh());
    let stop = Arc::new(EventFd::new().unwrap());
    let announcer = thread::spawn({
        let (netns, stop) = (world.hosts.server.clone(), Arc::clone(&stop));
        let config = Config {
            signal: true,
            most_subflows: 8,
            ..Config::default()
        };
        move || {
            netns.enter().unwrap();
            Daemon::open(config).unwrap().run(&stop, |_, _| {}).unwrap();
        }
    });
    thread::sleep(Duration::from_millis(100));
    // A connection that the announcer hears of.
    let (client, server) = world.hosts.connect(&world.listener, false);
    (world.client, world.server) = (client, server);
    // From both addresses to both of the server's.
    world.expect(&[1, 1, 2, 2]);
    stop.write(1).unwrap();
    announcer.join().unwrap();
}
