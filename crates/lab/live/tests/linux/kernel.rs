//! The kernel's side: a namespace with TUN devices, and an application in it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use std::{fs, thread};

use mptcplab_engine_kernel::netns::NetNs;
use mptcplab_engine_kernel::node::kernel_flags;
use mptcplab_engine_kernel::sysctl;
use mptcplab_linux::path_manager::PathManager;
use mptcplab_linux::rtnetlink::Rtnetlink;
use mptcplab_live::Tun;
use mptcplab_plan::{Node, Prefix};
use socket2::{Domain, Protocol, Socket, Type};

use crate::content;

/// Streams of bytes: what the kernel's application sends, and what ours does.
pub(crate) const KERNEL_STREAM: u8 = 0x5a;
/// See [`KERNEL_STREAM`].
pub(crate) const OUR_STREAM: u8 = 0xc3;
/// Port of whichever side listens.
pub(crate) const PORT: u16 = 5001;
/// A read that gets nothing for so long fails: nothing will come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host of the kernel.
pub(crate) struct Kernel {
    netns: NetNs,
}

/// Task of the kernel's application on its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// Sends so many bytes, then the end; reads to the end.
    Exchange(u64),
    /// Reads so many bytes and then aborts the connection.
    AbortAfter(u64),
}

/// The kernel's application, at work.
pub(crate) type Work = thread::JoinHandle<io::Result<u64>>;

impl Kernel {
    /// Builds the host `node` in a namespace of its own: a device for each interface, and routes by
    /// source address.
    pub(crate) fn new(node: &Node) -> (Self, Vec<Tun>) {
        let netns = NetNs::create().expect("root in its user namespace may make one");
        let devices = netns.run(|| build(node)).expect("the namespace is ours");
        (Self { netns }, devices.expect("the host can be built"))
    }

    /// A counter of the namespace, such as `MPTcpExtMPJoinSynAckRx`; 0 where this kernel has no
    /// such counter.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let text = self
            .netns
            .run(|| fs::read_to_string("/proc/thread-self/net/netstat"));
        let text = text.unwrap().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let values = lines.chunks(2).flat_map(|lines| {
            let group = lines[0].split(':').next().unwrap_or_default();
            let names = lines[0].split_whitespace().skip(1);
            let values = lines[1].split_whitespace().skip(1);
            names
                .zip(values)
                .map(move |(name, value)| (format!("{group}{name}"), value))
        });
        let mut values = values.filter(|(found, _)| found == name);
        values.next().map_or(0, |(_, value)| value.parse().unwrap())
    }

    /// Speaks with the path manager.
    pub(crate) fn path_manager<T: Send>(
        &self,
        ask: impl FnOnce(&mut PathManager) -> io::Result<T> + Send,
    ) -> T {
        let asked = self.netns.run(|| ask(&mut PathManager::open()?));
        asked.unwrap().expect("the path manager agrees")
    }

    /// Connects from an address.
    pub(crate) fn connect(&self, local: IpAddr, remote: IpAddr, deed: Deed) -> Work {
        let netns = self.netns.clone();
        thread::spawn(move || {
            netns.enter()?;
            let socket = socket(local)?;
            socket.bind(&SocketAddr::new(local, 0).into())?;
            socket.connect(&SocketAddr::new(remote, PORT).into())?;
            act(socket.into(), deed)
        })
    }

    /// Listens on every address, and takes one connection.
    pub(crate) fn listen(&self, family_of: IpAddr, deed: Deed) -> Work {
        let netns = self.netns.clone();
        let wildcard: IpAddr = match family_of {
            IpAddr::V4(_) => [0; 4].into(),
            IpAddr::V6(_) => [0; 16].into(),
        };
        let open = move || {
            let socket = socket(wildcard)?;
            socket.bind(&SocketAddr::new(wildcard, PORT).into())?;
            socket.listen(1)?;
            io::Result::Ok(TcpListener::from(socket))
        };
        let listener = self.netns.run(open).unwrap().expect("the port is free");
        thread::spawn(move || {
            netns.enter()?;
            let (stream, _) = listener.accept()?;
            act(stream, deed)
        })
    }
}

/// Makes the devices of a host and sets it up, in the namespace of the calling thread.
fn build(node: &Node) -> io::Result<Vec<Tun>> {
    for (name, value) in [
        ("net.ipv4.conf.all.rp_filter", "0"),
        ("net.ipv4.conf.default.rp_filter", "0"),
        ("net.mptcp.enabled", "1"),
        (
            "net.mptcp.checksum_enabled",
            if node.mptcp.checksum { "1" } else { "0" },
        ),
    ] {
        sysctl::set(name, value)?;
    }
    let mut rtnetlink = Rtnetlink::open()?;
    let mut devices = Vec::new();
    for (number, interface) in node.interfaces.iter().enumerate() {
        let device = Tun::open(&interface.name, interface.mtu as u16)?;
        let (index, table) = (device.index()?, 100 + number as u32);
        for &prefix in &interface.addresses {
            rtnetlink.add_address(index, prefix.address, prefix.length)?;
            let everything = Prefix::all(prefix.address).network();
            rtnetlink.add_route(table, everything, None, Some(index), 1)?;
            rtnetlink.add_source_rule(prefix.address, table)?;
        }
        devices.push(device);
    }
    let mut path_manager = PathManager::open()?;
    path_manager.set_limits(
        node.mptcp.limit_subflows,
        node.mptcp.limit_add_addr_accepted,
    )?;
    for interface in &node.interfaces {
        if let Some(flags) = interface.endpoint {
            for prefix in &interface.addresses {
                path_manager.add_endpoint(prefix.address, kernel_flags(flags))?;
            }
        }
    }
    Ok(devices)
}

fn socket(family_of: IpAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(SocketAddr::new(family_of, 0));
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::MPTCP))?;
    // The one that every kernel has and allows.
    socket.set_tcp_congestion(b"reno")?;
    Ok(socket)
}

/// Does the deed, and gives how many bytes came.
fn act(stream: TcpStream, deed: Deed) -> io::Result<u64> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    match deed {
        Deed::Exchange(bytes) => thread::scope(|scope| {
            let writer = scope.spawn(|| {
                send(&stream, bytes)?;
                stream.shutdown(Shutdown::Write)
            });
            let received = receive(&stream, u64::MAX)?;
            writer.join().expect("it does not panic")?;
            Ok(received)
        }),
        Deed::AbortAfter(bytes) => {
            let received = receive(&stream, bytes)?;
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
            Ok(received)
        }
    }
}

fn send(mut stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let mut chunk = vec![0; 1 << 16];
    let mut at = 0;
    while at < bytes {
        let length = (bytes - at).min(chunk.len() as u64) as usize;
        content::fill(KERNEL_STREAM, at, &mut chunk[..length]);
        stream.write_all(&chunk[..length])?;
        at += length as u64;
    }
    Ok(())
}

/// Reads to the end, or `limit` bytes at least.
fn receive(mut stream: &TcpStream, limit: u64) -> io::Result<u64> {
    let mut chunk = vec![0; 1 << 16];
    let mut at = 0;
    while at < limit {
        let length = stream.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        if !content::is_exact(OUR_STREAM, at, &chunk[..length]) {
            return Err(io::Error::other(format!(
                "other bytes than were sent, after {at}"
            )));
        }
        at += length as u64;
    }
    Ok(at)
}
