//! A download over paths that nothing else uses, by the stack itself: a client and a server with one
//! link for each path between them, in virtual time of their own. It knows what no formula does: which
//! acknowledgement ends slow start, which segment is lost, and whether a join comes before everything
//! is written.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::Bytes;
use mptcplab_link::{Delivery, DirectionConfig, Link, LinkConfig, QueueConfig, Rate};
use mptcplab_stack::{
    ConnectionId, EndpointFlags, Event, HostConfig, HostStack, Limits, LocalAddress, MptcpConfig,
    Protocol, SocketOptions,
};
use mptcplab_wire::Packet;

use super::ModelPath;

/// Nanoseconds of virtual time.
type Nanos = u64;

const CLIENT: usize = 0;
const SERVER: usize = 1;
const SERVER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const PORT: u16 = 80;
/// Largest IP packet, bytes.
const MTU: u32 = 1500;
/// Packets that the queue of a path holds at least; others hold what their path carries in a round trip.
const LEAST_QUEUE: f64 = 16.0 * MTU as f64;
/// Parts of a packet that are data, by TCP and by MPTCP.
const OF_TCP: f64 = 1448.0 / MTU as f64;
const OF_MPTCP: f64 = 1420.0 / MTU as f64;
/// Links of Gigabit Ethernet to hosts, and hosts that wake up, add this to each way, s. The controller
/// does not know it, and which segment is lost at the end of a transfer may hang on it: the mean of these
/// counts.
const HOSTS_S: [f64; 3] = [220e-6, 165e-6, 275e-6];
/// Bytes of a download over several paths that is carried out with each of these; another one with the
/// first.
const SHORT: u64 = 2_000_000;
/// The time in which a program answers.
const PROGRAM_NS: Nanos = 20_000;
/// Bytes of a request, and of the head of an answer, which programs write before its content.
const REQUEST: usize = 68;
const HEAD: usize = 63;
/// Bytes that a program writes at once.
const WRITE: usize = 1 << 16;
static ZEROS: [u8; WRITE] = [0; WRITE];
/// Bytes of a download that is carried out to its end. A longer one goes on as it did in the second half
/// of so many.
const LONG: u64 = 10_000_000;
/// Subflows beside the first one at most.
const SUBFLOWS: u32 = 8;

/// Seconds from the first SYN to the last byte of a download over paths, the first of which has the
/// first subflow; the others are opened when it is established. `None` where it is not below a limit.
pub(super) fn completion_s(
    bytes: u64,
    paths: &[ModelPath],
    protocol: Protocol,
    limit_s: f64,
) -> Option<f64> {
    let rate: f64 = paths.iter().map(|path| path.rate).sum();
    let part = match protocol {
        Protocol::Tcp => OF_TCP,
        Protocol::Mptcp => OF_MPTCP,
    };
    // The first byte comes two round trips after the SYN.
    if 2.0 * paths.first()?.round_trip_s + bytes as f64 / (part * rate) >= limit_s {
        return None;
    }
    let hosts_s = match bytes <= SHORT && paths.len() > 1 {
        true => &HOSTS_S[..],
        false => &HOSTS_S[..1],
    };
    let count = hosts_s.len() as f64;
    let mut sum_s = 0.0;
    for host_s in hosts_s {
        sum_s += with_hosts_s(bytes, paths, protocol, *host_s, count * limit_s - sum_s)?;
    }
    Some(sum_s / count).filter(|time_s| *time_s < limit_s)
}

/// The same where hosts and their links add so much to each way.
fn with_hosts_s(
    bytes: u64,
    paths: &[ModelPath],
    protocol: Protocol,
    host_s: f64,
    limit_s: f64,
) -> Option<f64> {
    let whole = bytes.min(LONG);
    // An infinite limit is beyond all times that there are.
    let limit_ns = (limit_s * 1e9) as Nanos;
    let mut download = Download::new(whole, paths, protocol, host_s);
    let half_ns = download.run(HEAD as u64 + whole / 2, limit_ns)?;
    let whole_ns = download.run(HEAD as u64 + whole, limit_ns)?;
    let of_half_s = (whole_ns - half_ns) as f64 / 1e9;
    let more = (bytes - whole) as f64 / (whole - whole / 2).max(1) as f64;
    Some(whole_ns as f64 / 1e9 + more * of_half_s)
}

/// A download that goes on.
struct Download {
    now: Nanos,
    /// Client and server.
    hosts: [HostStack; 2],
    /// One for each path; packets of the client go in its first direction.
    links: Vec<Link<Box<Packet>>>,
    /// When the program of each host acts, if it does.
    acts_at: [Option<Nanos>; 2],
    client: ConnectionId,
    server: Option<ConnectionId>,
    /// Bytes of the request that the server has not read, and of its answer that it has not written.
    unread: usize,
    unwritten: u64,
    /// The head of the answer is written.
    is_answering: bool,
    /// Bytes that have come to the client.
    come: u64,
}

impl Download {
    fn new(bytes: u64, paths: &[ModelPath], protocol: Protocol, host_s: f64) -> Self {
        let host = |seed| HostStack::new(config(), seed);
        let mut hosts = [host(1), host(2)];
        let addresses: Vec<LocalAddress> = (0..paths.len()).map(client_address).collect();
        hosts[CLIENT].set_addresses(0, &addresses);
        hosts[SERVER].set_addresses(0, &[local(SERVER_ADDRESS, None)]);
        let options = SocketOptions {
            protocol,
            ..SocketOptions::default()
        };
        hosts[SERVER].listen(PORT, options.clone());
        let remote = SocketAddr::new(SERVER_ADDRESS, PORT);
        let client = hosts[CLIENT].connect(0, addresses[0].address, remote, options);
        Self {
            now: 0,
            hosts,
            links: paths.iter().map(|path| link(path, host_s)).collect(),
            acts_at: [None; 2],
            client,
            server: None,
            unread: REQUEST,
            unwritten: bytes,
            is_answering: false,
            come: 0,
        }
    }

    /// Lets time pass until so many bytes have come, and gives when; `None` at the limit.
    fn run(&mut self, bytes: u64, limit_ns: Nanos) -> Option<Nanos> {
        loop {
            self.hear();
            if self.come >= bytes {
                return Some(self.now);
            }
            self.transmit();
            self.now = self.next().filter(|next| *next < limit_ns)?;
            self.deliver();
            for host in [CLIENT, SERVER] {
                let deadline = self.hosts[host].next_deadline();
                if deadline.is_some_and(|deadline| deadline <= self.now) {
                    self.hosts[host].on_deadline(self.now);
                }
                if self.acts_at[host].is_some_and(|at| at <= self.now) {
                    self.acts_at[host] = None;
                    self.act(host);
                }
            }
        }
    }

    /// When something happens next.
    fn next(&self) -> Option<Nanos> {
        let links = self.links.iter().filter_map(Link::next_deadline);
        let hosts = self.hosts.iter().filter_map(HostStack::next_deadline);
        let programs = self.acts_at.iter().flatten().copied();
        links.chain(hosts).chain(programs).min()
    }

    /// Hands over what has arrived.
    fn deliver(&mut self) {
        let Self {
            now, hosts, links, ..
        } = self;
        for link in links {
            link.poll_each(*now, |delivery: Delivery<Box<Packet>>| {
                hosts[1 - delivery.direction].receive(*now, *delivery.packet);
            });
        }
    }

    /// Sends what the hosts have ready, by the path of the client's address.
    fn transmit(&mut self) {
        for host in [CLIENT, SERVER] {
            while let Some(packet) = self.hosts[host].transmit(self.now) {
                let address = match host {
                    CLIENT => packet.source(),
                    _ => packet.destination(),
                };
                if let Some(link) = path_of(address).and_then(|path| self.links.get_mut(path)) {
                    let ip_bytes = packet.ip_bytes() as u32;
                    // A packet that does not fit into the queue is lost.
                    let _ = link.offer(host, self.now, ip_bytes, packet);
                }
            }
        }
    }

    /// Takes the events of the hosts: a program that sleeps acts a while later.
    fn hear(&mut self) {
        let later = Some(self.now + PROGRAM_NS);
        while let Some(event) = self.hosts[CLIENT].poll_event() {
            match event {
                Event::Connected { .. } => self.acts_at[CLIENT] = later,
                Event::Readable { .. } => self.read(),
                _ => {}
            }
        }
        while let Some(event) = self.hosts[SERVER].poll_event() {
            match event {
                Event::Accepted { id, .. } => self.server = Some(id),
                Event::Readable { .. } => self.acts_at[SERVER] = later,
                Event::Writable { .. } => self.write(),
                _ => {}
            }
        }
    }

    /// Reads what has come to the client.
    fn read(&mut self) {
        while let Some(bytes) = self.hosts[CLIENT].read(self.now, self.client, usize::MAX) {
            self.come += bytes.len() as u64;
        }
    }

    /// Lets a program act: the client asks; the server reads the request, writes the head of the answer,
    /// and then the rest.
    fn act(&mut self, host: usize) {
        if host == CLIENT {
            let request = Bytes::from_static(&ZEROS[..REQUEST]);
            self.hosts[CLIENT].write(self.now, self.client, request);
            return;
        }
        let Some(id) = self.server else {
            return;
        };
        if self.is_answering {
            return self.write();
        }
        while let Some(bytes) = self.hosts[SERVER].read(self.now, id, usize::MAX) {
            self.unread = self.unread.saturating_sub(bytes.len());
        }
        if self.unread == 0 {
            self.is_answering = true;
            let head = Bytes::from_static(&ZEROS[..HEAD]);
            self.hosts[SERVER].write(self.now, id, head);
            self.acts_at[SERVER] = Some(self.now + PROGRAM_NS);
        }
    }

    /// Writes what the server's buffer takes, and closes behind the last of it.
    fn write(&mut self) {
        let Some(id) = self.server else {
            return;
        };
        while self.unwritten > 0 {
            let length = self.unwritten.min(WRITE as u64) as usize;
            let part = Bytes::from_static(&ZEROS[..length]);
            let taken = self.hosts[SERVER].write(self.now, id, part);
            self.unwritten -= taken as u64;
            if taken < length {
                return;
            }
        }
        self.hosts[SERVER].shutdown(self.now, id);
    }
}

/// Settings of both hosts.
fn config() -> HostConfig {
    HostConfig {
        mptcp: MptcpConfig {
            limits: Limits {
                subflows: SUBFLOWS,
                add_addr_accepted: SUBFLOWS,
                subflows_per_pair: 1,
            },
            ..MptcpConfig::default()
        },
        ..HostConfig::default()
    }
}

/// The address of the client on a path, which it announces and opens a subflow from.
fn client_address(path: usize) -> LocalAddress {
    let address = Ipv4Addr::new(10, 0, 1, path as u8 + 1);
    let endpoint = EndpointFlags {
        signal: true,
        subflow: true,
        ..EndpointFlags::default()
    };
    local(address.into(), Some(endpoint))
}

fn local(address: IpAddr, endpoint: Option<EndpointFlags>) -> LocalAddress {
    LocalAddress {
        address,
        mtu: MTU,
        endpoint,
    }
}

/// The path of an address of the client.
fn path_of(address: IpAddr) -> Option<usize> {
    let IpAddr::V4(address) = address else {
        return None;
    };
    usize::from(address.octets()[3]).checked_sub(1)
}

/// The link of a path.
fn link(path: &ModelPath, host_s: f64) -> Link<Box<Packet>> {
    let queue = (path.rate * path.round_trip_s).max(LEAST_QUEUE);
    let direction = DirectionConfig {
        rate: Rate::Fixed {
            bits_per_second: (8.0 * path.rate).max(1.0) as u64,
        },
        delay_ns: ((path.round_trip_s / 2.0 + host_s) * 1e9) as Nanos,
        queue: QueueConfig {
            limit_bytes: Some(queue as u64),
            ..QueueConfig::default()
        },
        ..DirectionConfig::default()
    };
    let config = LinkConfig {
        directions: [direction.clone(), direction],
        ..LinkConfig::default()
    };
    Link::new(&config, 0).expect("a fixed rate that is not 0, and a delay, are valid")
}

#[cfg(test)]
mod tests;
