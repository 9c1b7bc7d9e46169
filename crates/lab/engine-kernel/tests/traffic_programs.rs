//! The kernel's accounts of the sockets of programs.

mod traffic_world;

use mptcplab_engine_kernel::plan::{Protocol, Traffic, Workload};
use mptcplab_engine_kernel::traffic::{self, Ended};
use serde_json::Value;
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;

fn command(protocol: Protocol, argv: &[&str], server_argv: &[&str]) -> Traffic {
    let owned = |argv: &[&str]| argv.iter().map(|&part| part.to_owned()).collect();
    let workload = Workload::Command {
        argv: owned(argv),
        server_argv: (!server_argv.is_empty()).then(|| owned(server_argv)),
        duration_ns: None,
    };
    traffic(protocol, workload)
}

/// Runs flows to their end. A server that a busy machine starts late is only told of: clients wait
/// for it ([`CONNECT`]).
fn run(world: &World, flows: &[Traffic]) {
    let running = traffic::start(flows, &world.context).unwrap();
    assert_eq!(running.wait(LONG), Ended::All);
    let mut warnings = world.rows("warning");
    warnings.retain(|row| {
        !row["text"]
            .as_str()
            .unwrap()
            .contains("listened on TCP port")
    });
    assert_eq!(warnings, Vec::<Value>::new());
}

/// The sockets of a node.
fn sockets(world: &World, node: &str) -> Vec<Value> {
    let rows = world.rows("sockets").into_iter();
    rows.filter(|row| row["node"] == node).collect()
}

/// Payload that sockets sent, retransmissions aside.
fn sent(sockets: &[Value]) -> i64 {
    let number = |row: &Value, name: &str| row[name].as_i64().unwrap();
    let payload = |row| number(row, "bytes_sent") - number(row, "bytes_retrans");
    sockets.iter().map(payload).sum()
}

/// The begin of a client: a function that connects to a server as soon as that listens.
const CONNECT: &str = "
import os, socket, sys, time
def connect():
    while True:
        try:
            return socket.create_connection((sys.argv[1], int(sys.argv[2])))
        except ConnectionRefusedError:
            time.sleep(0.01)
";

/// A server for this many connections: each begins with 8 bytes that say how many bytes it wants,
/// and gets them when it has ended. With a further argument each is a process's.
const SERVER: &str = "
import os, socket, sys
listener = socket.create_server(('', int(sys.argv[1])), backlog=100)
for _ in range(int(sys.argv[2])):
    peer, _ = listener.accept()
    if len(sys.argv) > 3 and os.fork():
        peer.close()
        continue
    wanted = int.from_bytes(peer.recv(8, socket.MSG_WAITALL), 'big')
    while peer.recv(65536):
        pass
    peer.sendall(bytes(wanted))
    peer.close()
    if len(sys.argv) > 3:
        os._exit(0)
";

const CLIENT: &str = "
for number in range(int(sys.argv[3])):
    peer = connect()
    peer.sendall((2000 + number).to_bytes(8, 'big') + bytes(1000))
    peer.shutdown(socket.SHUT_WR)
    got = 0
    while data := peer.recv(65536):
        got += len(data)
    assert got == 2000 + number
    peer.close()
";

/// There is no sampler in these worlds: every account comes from the program's calls and from the
/// kernel as it destroys the sockets.
#[test]
fn connections_shorter_than_a_sample_are_accounted_to_the_byte() {
    if !inside("connections_shorter_than_a_sample_are_accounted_to_the_byte") {
        return;
    }
    for protocol in [Protocol::Tcp, Protocol::Mptcp] {
        for forks in [false, true] {
            let world = World::new();
            let script = format!("{CONNECT}{CLIENT}");
            let client = ["python3", "-c", &script, "{server}", "{port}", "20"];
            let server = ["python3", "-c", SERVER, "{port}", "20", "fork"];
            let server = &server[..if forks { 6 } else { 5 }];
            run(&world, &[command(protocol, &client, server)]);
            let (mut clients, servers) = (sockets(&world, "client"), sockets(&world, "server"));
            // The others were refused before the server listened.
            clients.retain(|row| row["bytes_sent"] != 0);
            let case = format!("{protocol:?}, forks: {forks}");
            assert_eq!((clients.len(), servers.len()), (20, 20), "{case}");
            assert_eq!(sent(&clients), 20 * 1008, "{case}");
            assert_eq!(sent(&servers), 20 * 2000 + (0..20).sum::<i64>(), "{case}");
            let is_mptcp = protocol == Protocol::Mptcp;
            assert!(
                clients.iter().all(|row| row["token"].is_u64() == is_mptcp),
                "{case}"
            );
            assert!(clients.iter().all(|row| row["start_ns"].is_u64()), "{case}");
            assert!(
                servers.iter().all(|row| row["start_ns"].is_null()),
                "{case}"
            );
        }
    }
}

#[test]
fn a_program_that_dies_without_closing_has_its_account() {
    if !inside("a_program_that_dies_without_closing_has_its_account") {
        return;
    }
    check_server_of_a_client_that_dies(["python3", "-c", SERVER, "{port}", "1"]);
}

/// The server is killed as its client has ended; it has read nothing until then.
#[test]
fn a_program_that_is_killed_before_it_reads_has_its_account() {
    if !inside("a_program_that_is_killed_before_it_reads_has_its_account") {
        return;
    }
    let script = "
import socket, sys, time
peer, _ = socket.create_server(('', int(sys.argv[1]))).accept()
time.sleep(600)
";
    check_server_of_a_client_that_dies(["python3", "-c", script, "{port}", "1"]);
}

/// Runs a client that sends 5008 bytes and dies, and looks at the account of its server's socket.
fn check_server_of_a_client_that_dies(server: [&str; 5]) {
    let script = "
peer = connect()
peer.sendall(bytes(8) + bytes(5000))
os._exit(0)
";
    let script = format!("{CONNECT}{script}");
    for protocol in [Protocol::Tcp, Protocol::Mptcp] {
        let world = World::new();
        let client = ["python3", "-c", &script, "{server}", "{port}"];
        run(&world, &[command(protocol, &client, &server)]);
        let own = sockets(&world, "server");
        assert_eq!(own.len(), 1, "{protocol:?}");
        // The client's kernel sent a FIN, which counts as a byte where it was received.
        let received = own[0]["bytes_received"].as_i64().unwrap();
        assert!(
            (5008..=5009).contains(&received),
            "{protocol:?}: {received}"
        );
    }
}

#[test]
fn two_programs_of_one_host_keep_their_sockets_apart() {
    if !inside("two_programs_of_one_host_keep_their_sockets_apart") {
        return;
    }
    // Neither uses the port of its flow.
    let script = "
import socket, sys, threading
listener = socket.create_server(('', int(sys.argv[1])))
def take():
    peer, _ = listener.accept()
    while peer.recv(65536):
        pass
    peer.close()
take()
";
    let leave = "
peer = connect()
peer.sendall(bytes(int(sys.argv[3])))
peer.close()
";
    let leave = format!("{CONNECT}{leave}");
    let world = World::new();
    let flow = |name: &str, port: &str, size: &str, client: usize| {
        let argv = if client == 0 {
            vec!["python3", "-c", &leave, "10.0.1.1", port, size]
        } else {
            vec!["python3", "-c", script, port]
        };
        let mut flow = command(Protocol::Tcp, &argv, &[]);
        (flow.name, flow.client, flow.server) = (name.to_owned(), client, 1 - client);
        flow
    };
    let flows = [
        flow("take one", "7001", "", 1),
        flow("take two", "7002", "", 1),
        flow("one", "7001", "1000", 0),
        flow("two", "7002", "2000", 0),
    ];
    run(&world, &flows);
    for (name, size) in [("one", 1000), ("two", 2000)] {
        let mut own = sockets(&world, "client");
        own.retain(|row| row["traffic"] == name && row["bytes_sent"] != 0);
        assert_eq!(own.len(), 1, "{name}");
        assert_eq!(sent(&own), size);
    }
}

#[test]
fn a_server_that_becomes_a_daemon_serves() {
    if !inside("a_server_that_becomes_a_daemon_serves") {
        return;
    }
    // It leaves the process group of its parent after that has ended, as daemon(3) does.
    let script = "
import os, socket, sys, time
if os.fork():
    os._exit(0)
time.sleep(0.2)
os.setsid()
peer, _ = socket.create_server(('', int(sys.argv[1]))).accept()
while peer.recv(65536):
    pass
";
    let client = "
peer = connect()
peer.sendall(bytes(1000))
peer.close()
";
    let client = format!("{CONNECT}{client}");
    let world = World::new();
    let client = ["python3", "-c", &client, "{server}", "{port}"];
    let server = ["python3", "-c", script, "{port}"];
    run(&world, &[command(Protocol::Tcp, &client, &server)]);
    assert_eq!(sent(&sockets(&world, "client")), 1000);
    let programs = world.rows("programs");
    let server = programs.iter().find(|row| row["side"] == "server").unwrap();
    let client = programs.iter().find(|row| row["side"] == "client").unwrap();
    assert_eq!(
        (&server["ended"], &server["status"]),
        (&"itself".into(), &0.into())
    );
    assert!(server["end_ns"].as_u64() < client["start_ns"].as_u64());
}
