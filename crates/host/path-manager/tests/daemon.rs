//! The daemon beside the running kernel.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_linux::netns::NetNs;
use mptcplab_path_manager::{Command, Config, Daemon, Paths, Step};
use mptcplab_subflow::{Manager, connection, subflow_ids};
use mptcplab_testbed::{Hosts, inside, ip};
use nix::sys::eventfd::EventFd;

/// A daemon on a thread of its own, until this is dropped.
struct Running {
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    /// Commands that the kernel refused.
    refused: Receiver<String>,
}

impl Running {
    /// One that hears of the connections that are opened in the namespace from now on.
    fn start(netns: &NetNs, config: Config) -> Self {
        let stop = Arc::new(EventFd::new().unwrap());
        let (ready, begun) = channel();
        let (refuse, refused) = channel();
        let (netns, told) = (netns.clone(), Arc::clone(&stop));
        let work = move || {
            netns.enter().unwrap();
            let mut daemon = Daemon::open(config).unwrap();
            ready.send(()).unwrap();
            let say = |command: &Command, done: io::Result<()>| {
                println!("{command:?}: {done:?}");
                if done.is_err() {
                    refuse.send(format!("{command:?}: {done:?}")).unwrap();
                }
            };
            daemon.run(&told, say).unwrap();
        };
        let thread = Some(thread::spawn(work));
        begun.recv().unwrap();
        Self {
            stop,
            thread,
            refused,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.write(1).unwrap();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

/// A client with a daemon, and a connection over its first link.
struct World {
    hosts: Hosts,
    client: TcpStream,
    server: TcpStream,
    /// Without a listener on the port the server takes no joins.
    listener: (TcpListener, u16),
    /// On the server's side, for its commands, and because joins need a subscriber there.
    server_manager: Manager,
    daemon: Running,
}

/// Waits until something is so.
fn wait_until(what: impl Fn() -> bool, found: impl Fn() -> String) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", found());
        thread::sleep(Duration::from_millis(5));
    }
}

impl World {
    fn new(links: u8, config: Config) -> Self {
        Self::of_family(links, config, false)
    }

    fn of_family(links: u8, config: Config, six: bool) -> Self {
        let hosts = Hosts::new(links);
        let listener = hosts.listen(six);
        let server_manager = hosts.server.run(Manager::direct).unwrap().unwrap();
        let daemon = Running::start(&hosts.client, config);
        let (client, server) = hosts.connect(&listener, six);
        Self {
            hosts,
            client,
            server,
            listener,
            server_manager,
            daemon,
        }
    }

    /// Addresses from which the connection has open subflows, one entry a subflow.
    fn addresses(&self) -> Vec<IpAddr> {
        let every = connection(&self.client).unwrap().subflows;
        let open = every.iter().filter(|subflow| subflow.is_open());
        open.map(|subflow| subflow.local.ip()).collect()
    }

    /// Links over which it has.
    fn links(&self) -> Vec<u8> {
        let link = |address| match address {
            IpAddr::V4(v4) => v4.octets()[2],
            IpAddr::V6(v6) => v6.segments()[1] as u8,
        };
        let mut links: Vec<u8> = self.addresses().into_iter().map(link).collect();
        links.sort_unstable();
        links
    }

    /// Waits until the connection has subflows over just these links.
    fn expect(&self, links: &[u8]) {
        let found = || format!("{:?}, not {links:?}", self.links());
        wait_until(|| self.links() == links, found);
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

/// Over the first of these interfaces that works.
fn handover(preferred: &[&str]) -> Config {
    Config {
        paths: Paths::Handover(preferred.iter().map(|&name| name.to_owned()).collect()),
        most_subflows: 8,
        ..Config::default()
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
    let ids = || subflow_ids(&world.client).unwrap();
    wait_until(
        || ids().len() == 2 && ids() != before,
        || format!("{:?}", ids()),
    );
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
    assert_eq!(world.links(), [1]);
    world.carry(1_000_000);
    world.expect(&[1, 2]);
    world.carry(1_000_000);
    assert_eq!(world.links(), [1, 2]);
}

#[test]
fn a_handover_to_the_next_interface_and_back() {
    if !inside("a_handover_to_the_next_interface_and_back") {
        return;
    }
    let mut world = World::new(2, handover(&["eth1", "eth2"]));
    world.expect(&[1]);
    ip(&world.hosts.client, "addr del 10.0.1.2/24 dev eth1");
    world.expect(&[2]);
    world.carry(1_000_000);
    world.hosts.restore_client_address(1);
    world.expect(&[1]);
    world.carry(1_000_000);
}

#[test]
fn a_handover_to_the_interface_that_was_left_rather_than_to_an_unnamed_one() {
    if !inside("a_handover_to_the_interface_that_was_left_rather_than_to_an_unnamed_one") {
        return;
    }
    let mut world = World::new(3, handover(&["eth2", "eth1"]));
    world.expect(&[2]);
    world.carry(300_000);
    ip(&world.hosts.client, "addr del 10.0.2.2/24 dev eth2");
    let is_over_another = || !world.links().is_empty() && world.links() != [2];
    wait_until(is_over_another, || format!("{:?}", world.links()));
    assert_eq!(world.links(), [1]);
    world.carry(1_000_000);
}

#[test]
fn a_handover_from_a_path_that_answers_no_more() {
    if !inside("a_handover_from_a_path_that_answers_no_more") {
        return;
    }
    let mut world = World::new(2, handover(&["eth1", "eth2"]));
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
    let announcer = Running::start(
        &world.hosts.server,
        Config {
            signal: true,
            most_subflows: 8,
            ..Config::default()
        },
    );
    // A connection that the announcer hears of.
    let (client, server) = world.hosts.connect(&world.listener, false);
    (world.client, world.server) = (client, server);
    // From both addresses to both of the server's.
    world.expect(&[1, 1, 2, 2]);
    drop(announcer);
}

#[test]
fn an_address_is_used_once_it_is_known_to_be_nobody_elses() {
    if !inside("an_address_is_used_once_it_is_known_to_be_nobody_elses") {
        return;
    }
    let world = World::of_family(1, mesh(), true);
    assert_eq!(world.links(), [1]);
    let address: IpAddr = "fd00:1::9".parse().unwrap();
    // For a second it is tentative.
    ip(&world.hosts.client, "addr add fd00:1::9/64 dev eth1");
    let has = || world.addresses().contains(&address);
    wait_until(has, || format!("{:?}", world.addresses()));
    assert_eq!(world.daemon.refused.try_recv().ok(), None);
}

#[test]
fn a_deprecated_address_keeps_its_subflow_and_gets_no_new_one() {
    if !inside("a_deprecated_address_keeps_its_subflow_and_gets_no_new_one") {
        return;
    }
    let mut world = World::new(2, mesh());
    world.expect(&[1, 2]);
    let deprecate = "addr change 10.0.2.2/24 dev eth2 preferred_lft 0 valid_lft forever";
    ip(&world.hosts.client, deprecate);
    let listener = &world.listener;
    let (client, server) = world.hosts.connect(listener, false);
    // An address that the daemon heard of after it.
    ip(&world.hosts.client, "addr add 10.0.1.3/24 dev eth1");
    world.expect(&[1, 1, 2]);
    (world.client, world.server) = (client, server);
    world.expect(&[1, 1]);
}
