//! Programs inside hosts, and the sockets that they get.

mod traffic_world;

use std::process::Command;
use std::time::{Duration, Instant};

use mptcplab_engine_kernel::plan::{Protocol, Traffic, Workload};
use mptcplab_engine_kernel::traffic::{self, Ended};
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;

fn command(protocol: Protocol, argv: &[&str], server_argv: Option<&[&str]>) -> Traffic {
    let owned = |argv: &[&str]| argv.iter().map(|&part| part.to_owned()).collect();
    let (argv, server_argv) = (owned(argv), server_argv.map(owned));
    traffic(
        protocol,
        Workload::Command {
            argv,
            server_argv,
            duration_ns: None,
        },
    )
}

fn run(world: &World, flow: Traffic) {
    assert_eq!(
        traffic::start(&[flow], &world.context).unwrap().wait(LONG),
        Ended::All
    );
}

fn texts(world: &World, stream: &str) -> Vec<String> {
    let rows = world.rows("outputs");
    let rows = rows.iter().filter(|row| row["stream"] == stream);
    rows.map(|row| row["text"].as_str().unwrap().to_owned())
        .collect()
}

fn labels(world: &World) -> Vec<String> {
    world
        .rows("events")
        .iter()
        .map(|row| row["label"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_command_runs_in_its_host_and_its_lines_are_kept() {
    if !inside("a_command_runs_in_its_host_and_its_lines_are_kept") {
        return;
    }
    let world = World::new();
    let script =
        "echo {source} {server}:{port}; ls /sys/class/net >/dev/null; echo wrong >&2; exit 3";
    run(&world, command(Protocol::Tcp, &["sh", "-c", script], None));
    assert_eq!(texts(&world, "stdout"), ["10.0.1.2 10.0.1.1:5001"]);
    assert_eq!(texts(&world, "stderr"), ["wrong"]);
    let warnings = world.rows("warning");
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0]["text"]
            .as_str()
            .unwrap()
            .ends_with("failed: exit status: 3")
    );
    let flow = command(Protocol::Tcp, &["ip", "-brief", "address"], None);
    let world = World::new();
    run(&world, flow);
    let out = texts(&world, "stdout").join("\n");
    assert!(
        out.contains("10.0.1.2/24") && out.contains("10.0.2.2/24"),
        "{out}"
    );
}

#[test]
fn a_program_that_is_not_there_is_named() {
    if !inside("a_program_that_is_not_there_is_named") {
        return;
    }
    let world = World::new();
    run(&world, command(Protocol::Tcp, &["no-such-program"], None));
    let text = &world.rows("warning")[0]["text"];
    let expected = "flow: no-such-program on client could not be run: no such file or directory";
    assert_eq!(text, expected);
}

/// Prints the protocol and congestion control of a socket that was opened without asking for them,
/// whether flags of a socket hold, the protocol of a socket that asks for MPTCP, and of a datagram
/// socket; then the same from a child.
const INSPECT: &str = "
import fcntl, os, socket, subprocess, sys
s = socket.socket()
print(s.getsockopt(socket.SOL_SOCKET, 38), s.getsockopt(6, 13, 16).strip(b'\\0').decode())
s = socket.socket(type=socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
print(bool(fcntl.fcntl(s, fcntl.F_GETFL) & os.O_NONBLOCK), os.get_inheritable(s.fileno()))
print(socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262).getsockopt(socket.SOL_SOCKET, 38))
print(socket.socket(type=socket.SOCK_DGRAM).getsockopt(socket.SOL_SOCKET, 38))
sys.stdout.flush()
if len(sys.argv) < 2:
    subprocess.run([sys.executable, '-c', sys.orig_argv[2], 'child'])
";

#[test]
fn sockets_are_of_the_asked_protocol_also_in_children() {
    if !inside("sockets_are_of_the_asked_protocol_also_in_children") {
        return;
    }
    for (protocol, number) in [(Protocol::Tcp, 6), (Protocol::Mptcp, 262)] {
        let world = World::new();
        let mut flow = command(protocol, &["python3", "-c", INSPECT], None);
        flow.congestion_control = "reno".to_owned();
        run(&world, flow);
        let (first, own) = (format!("{number} reno"), number.to_string());
        let expected = [&first, "True False", &own, "17"];
        assert_eq!(texts(&world, "stdout"), [expected, expected].concat());
    }
}

#[test]
fn the_servers_program_has_its_own_congestion_control() {
    if !inside("the_servers_program_has_its_own_congestion_control") {
        return;
    }
    let world = World::new();
    // It ends when the client's does, so it must listen before and print at once.
    let script = "
import socket, time
s = socket.create_server(('', 5001))
print(s.getsockopt(6, 13, 16).strip(b'\\0').decode(), flush=True)
time.sleep(60)
";
    let client = ["sleep", "0.2"];
    let server: &[&str] = &["python3", "-c", script];
    let mut flow = command(Protocol::Mptcp, &client, Some(server));
    flow.server_congestion_control = "reno".to_owned();
    run(&world, flow);
    assert_eq!(texts(&world, "stdout"), ["reno"]);
}

#[test]
fn a_program_gets_tcp_where_mptcp_is_off() {
    if !inside("a_program_gets_tcp_where_mptcp_is_off") {
        return;
    }
    let world = World::new();
    world.sysctl(0, "mptcp/enabled", "0");
    run(
        &world,
        command(Protocol::Mptcp, &["python3", "-c", INSPECT, "once"], None),
    );
    assert_eq!(texts(&world, "stdout")[0], "6 cubic");
}

#[test]
fn iperf3_is_mptcp_without_knowing_it() {
    if Command::new("iperf3").arg("--version").output().is_err() {
        return println!("skipped iperf3_is_mptcp_without_knowing_it: there is no iperf3");
    }
    if !inside("iperf3_is_mptcp_without_knowing_it") {
        return;
    }
    let world = World::new();
    world.add_endpoint();
    let slow = world.slow_down("50mbit");
    let client = [
        "iperf3", "-c", "{server}", "-p", "{port}", "-B", "{source}", "-n", "4M", "-J",
    ];
    let server: &[&str] = &["iperf3", "-s", "-p", "{port}"];
    let joins = |world: &World| {
        let read = || std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
        let text = world.context.nodes[0].netns.run(read).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("MPTcpExt"));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let mut pairs = names.split(' ').zip(values.split(' '));
        pairs
            .find(|(name, _)| *name == "MPJoinSynAckRx")
            .unwrap()
            .1
            .to_owned()
    };
    run(&world, command(Protocol::Mptcp, &client, Some(server)));
    assert!(
        texts(&world, "stdout")
            .iter()
            .any(|line| line.contains("sum_received"))
    );
    assert!(
        labels(&world)
            .iter()
            .any(|label| label.ends_with("on client: exit status: 0"))
    );
    assert!(
        labels(&world)
            .iter()
            .any(|label| label.ends_with("on server: ended"))
    );
    // A join needs time; over fast interfaces the transfer may be through before.
    assert!(!slow || joins(&world) != "0");
}

#[test]
fn its_time_ends_a_command_without_error_and_takes_its_children() {
    if !inside("its_time_ends_a_command_without_error_and_takes_its_children") {
        return;
    }
    let world = World::new();
    let argv = ["sh", "-c", "sleep 1000 & echo $!; wait"]
        .map(str::to_owned)
        .to_vec();
    let duration_ns = Some(200_000_000);
    let workload = Workload::Command {
        argv,
        server_argv: None,
        duration_ns,
    };
    run(&world, traffic(Protocol::Tcp, workload));
    assert!(world.rows("warning").is_empty());
    let child: i32 = texts(&world, "stdout")[0].parse().unwrap();
    // A process that was killed goes when it is next scheduled; this one would live 1000 s.
    let lives = || {
        let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while lives() {
        assert!(Instant::now() < deadline, "the child lives");
        std::thread::yield_now();
    }
}

#[test]
fn a_server_that_does_not_listen_is_reported_with_its_port() {
    if !inside("a_server_that_does_not_listen_is_reported_with_its_port") {
        return;
    }
    let world = World::new();
    let server: &[&str] = &["sleep", "60"];
    run(&world, command(Protocol::Tcp, &["true"], Some(server)));
    let [warning] = &world.rows("warning")[..] else {
        panic!("one warning, not {:?}", world.rows("warning"))
    };
    let text = warning["text"].as_str().unwrap();
    let expected = "flow: nothing on server listened on TCP port 5001 after 5 s; ";
    assert!(text.starts_with(expected), "{text}");
    assert!(labels(&world).contains(&"true on client: exit status: 0".to_owned()));
}

/// Opens sockets in many processes, without end.
const STORM: &str = "
import os, socket
for _ in range(4):
    os.fork()
while True:
    socket.socket().close()
";

#[test]
fn processes_that_die_within_a_socket_call_do_no_harm() {
    if !inside("processes_that_die_within_a_socket_call_do_no_harm") {
        return;
    }
    for milliseconds in [100, 150, 200] {
        let world = World::new();
        let argv = ["python3", "-c", STORM].map(str::to_owned).to_vec();
        let duration_ns = Some(milliseconds * 1_000_000);
        let workload = Workload::Command {
            argv,
            server_argv: None,
            duration_ns,
        };
        run(&world, traffic(Protocol::Mptcp, workload));
        assert!(
            world.rows("warning").is_empty(),
            "{:?}",
            world.rows("warning")
        );
    }
}
