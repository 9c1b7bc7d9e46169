//! Measures how fast the broker is. Arguments: the user that it serves (`user`: another one than
//! root, which the broker is; `namespace`: both are an ordinary user's, in namespaces of its own),
//! and seconds. Prints a line of JSON: commands a second with a thousand connections open, and how
//! long opening a subflow takes over a path with a round trip of 10 ms, beside connect(2) of TCP.

mod path;

use std::env;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_subflow::{Manager, Open, subflow_ids};
use mptcplab_testbed::Hosts;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

const CONNECTIONS: usize = 1000;
const OPENINGS: usize = 100;
/// Clients that give commands at the same time.
const CLIENTS: usize = 4;
/// A user of no special kind.
const ORDINARY: u32 = 54_321;

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let [whom, seconds] = &words[..] else {
        eprintln!("usage: commands user|namespace SECONDS");
        return Ok(());
    };
    let time = Duration::from_secs_f64(seconds.parse().map_err(io::Error::other)?);
    enter(whom)?;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    )?;
    let folder = Folder::new()?;
    let hosts = Hosts::new(2);
    let client_broker = Broker::start(&hosts, true, &folder)?;
    let _server_broker = Broker::start(&hosts, false, &folder)?;
    let client = if whom == "user" { Some(ORDINARY) } else { None };
    let row = measure(&hosts, &client_broker.socket, client, time)?;
    println!("{row}");
    Ok(())
}

/// Goes to where the measurement takes place.
fn enter(whom: &str) -> io::Result<()> {
    if whom == "user" {
        return Ok(unshare(CloneFlags::CLONE_NEWNET)?);
    }
    if Uid::effective().is_root() {
        let (uid, gid) = (Uid::from_raw(ORDINARY), Gid::from_raw(ORDINARY));
        setgroups(&[])?;
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
        // Its own files in /proc are its own again.
        nix::sys::prctl::set_dumpable(true)?;
    }
    let (uid, gid) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
}

/// Does something on a thread of its own, of another user where there is one.
fn as_user<T: Send>(uid: Option<u32>, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            if let Some(uid) = uid.map(rustix::thread::Uid::from_raw) {
                rustix::thread::set_thread_res_uid(uid, uid, uid).expect("root");
            }
            work()
        });
        worker.join().expect("no panic")
    })
}

fn measure(
    hosts: &Hosts,
    broker: &Path,
    client: Option<u32>,
    time: Duration,
) -> io::Result<serde_json::Value> {
    let listener = hosts.listen(false);
    let pairs: Vec<(TcpStream, TcpStream)> = (0..CONNECTIONS)
        .map(|_| hosts.connect(&listener, false))
        .collect();
    let sockets: Vec<&TcpStream> = pairs.iter().map(|(client, _)| client).collect();
    let one = as_user(client, || commands(broker, &sockets, time));
    let all: f64 = thread::scope(|scope| {
        let parts = sockets.chunks(CONNECTIONS / CLIENTS);
        let clients =
            parts.map(|part| scope.spawn(move || as_user(client, || commands(broker, part, time))));
        let clients: Vec<_> = clients.collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("no panic"))
            .sum()
    });
    let opened = as_user(client, || opens_and_closes(broker, hosts, &sockets, time));
    let _path = path::Path::open(hosts)?;
    let open_ms = as_user(client, || times_to_open(broker, sockets[0]));
    let plain = hosts.server.run(|| TcpListener::bind("0.0.0.0:0"))??;
    let target = SocketAddr::new(path::SERVER.into(), plain.local_addr()?.port());
    let connect = || {
        let begin = Instant::now();
        TcpStream::connect(target).map(|_| begin.elapsed().as_secs_f64() * 1e3)
    };
    let connect_all = || {
        (0..OPENINGS)
            .map(|_| connect())
            .collect::<io::Result<Vec<_>>>()
    };
    let connect_ms = hosts.client.run(connect_all)??;
    Ok(json!({
        "one_client_per_s": one,
        "clients": CLIENTS,
        "all_clients_per_s": all,
        "open_close_per_s": opened,
        "open_ms": open_ms,
        "connect_ms": connect_ms,
    }))
}

/// Changes of priority a second by one client, of one connection after the other.
fn commands(broker: &Path, sockets: &[&TcpStream], time: Duration) -> f64 {
    let mut manager = Manager::broker(broker).expect("a broker");
    let initial: Vec<u32> = sockets
        .iter()
        .map(|socket| subflow_ids(socket).expect("a connection")[0])
        .collect();
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < time {
        let place = count % sockets.len();
        let backup = (count / sockets.len()).is_multiple_of(2);
        let done = manager.set_backup(sockets[place], initial[place], backup);
        done.expect("a command");
        count += 1;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

/// Commands to open and to close a second by one client, over a path without delay.
fn opens_and_closes(broker: &Path, hosts: &Hosts, sockets: &[&TcpStream], time: Duration) -> f64 {
    let mut manager = Manager::broker(broker).expect("a broker");
    let open_command = Open::from(SocketAddr::new(hosts.client_address(2, false), 0));
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < time {
        let socket = sockets[count % sockets.len()];
        let id = manager
            .open_subflow(socket, &open_command)
            .expect("a command");
        manager.close_subflow(socket, id).expect("a command");
        count += 1;
    }
    2.0 * count as f64 / begin.elapsed().as_secs_f64()
}

/// How long it takes to open a subflow over the slow path, milliseconds.
fn times_to_open(broker: &Path, socket: &TcpStream) -> Vec<f64> {
    let mut manager = Manager::broker(broker).expect("a broker");
    let open_command = Open {
        remote: Some(SocketAddr::new(path::SERVER.into(), 0)),
        ..Open::from(SocketAddr::new(path::CLIENT.into(), 0))
    };
    let mut open = || {
        let begin = Instant::now();
        let id = manager
            .open_subflow(socket, &open_command)
            .expect("a command");
        let taken = begin.elapsed();
        manager.close_subflow(socket, id).expect("a command");
        taken.as_secs_f64() * 1e3
    };
    (0..OPENINGS).map(|_| open()).collect()
}

/// A folder that goes with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("mptcplab-commands-{}", std::process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A broker that goes with this.
struct Broker {
    child: Child,
    socket: PathBuf,
}

impl Broker {
    fn start(hosts: &Hosts, is_client: bool, folder: &Folder) -> io::Result<Self> {
        let name = if is_client {
            "client.sock"
        } else {
            "server.sock"
        };
        let socket = folder.0.join(name);
        let rule = json!({
            "place": "bench", "users": "all", "groups": "all", "interfaces": ["*"],
            "max_subflows": 256, "backup": true, "announce": "any", "options": [],
            "congestion_controls": null,
        });
        let limits = json!({"requests_per_second": 1_000_000});
        let told = json!({
            "socket": socket, "policy": {"rules": [rule]}, "limits": limits, "quiet": true
        });
        let netns = if is_client {
            &hosts.client
        } else {
            &hosts.server
        };
        let start = || {
            Command::new(env!("CARGO_BIN_EXE_mptcplab-broker"))
                .stdin(Stdio::piped())
                .spawn()
        };
        let mut child = netns.run(start)??;
        let stdin = child.stdin.take().expect("a pipe");
        serde_json::to_writer(stdin, &told)?;
        let broker = Self { child, socket };
        while Manager::broker(&broker.socket).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(broker)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
