//! UDP datagrams at a constant rate, in bursts where asked for: cross traffic.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::thread;

use mptcplab_random::{Purpose, Random};
use mptcplab_traffic::Deliveries;
use mptcplab_traffic::datagrams::{Pattern, Schedule, warning};
use nix::poll::PollFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::flow::Flow;
use super::stop::{Stop, Wake, wait_on};
use crate::plan::Way;

/// Largest IP packet.
const READ_LENGTH: usize = 65_536;
/// Room for datagrams that wait for their reader, as far as the system grants it.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// The sockets of both ends, and the address of the client's.
struct Ends {
    client: Socket,
    server: Socket,
    client_address: SocketAddr,
}

/// Sends each way until the flow's time is over.
pub(super) fn run(flow: &Flow, way: Way, pattern: Pattern) {
    let result = Ends::open(flow).and_then(|ends| {
        thread::scope(|scope| {
            let each = way.each().iter().enumerate();
            let ways = each.map(|(index, &way)| {
                let ends = &ends;
                scope.spawn(move || exchange(flow, ends, way, index, pattern))
            });
            let ways: Vec<_> = ways.collect();
            ways.into_iter().try_for_each(|way| {
                way.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    });
    if let Err(error) = result {
        flow.warn(&format!("datagrams ended: {error}"));
    }
}

impl Ends {
    fn open(flow: &Flow) -> io::Result<Self> {
        let target = flow.target();
        let server = flow.server.netns.run(|| open(target))??;
        let open_client = || -> io::Result<Socket> {
            let any = match target.ip() {
                IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            };
            let source = flow.traffic.source.unwrap_or(any);
            let socket = open(SocketAddr::new(source, flow.traffic.port))?;
            socket.connect(&target.into())?;
            Ok(socket)
        };
        let client = flow.client.netns.run(open_client)??;
        let client_address = client.local_addr()?.as_socket();
        let client_address = client_address.ok_or_else(|| io::Error::other("no local address"))?;
        Ok(Self {
            client,
            server,
            client_address,
        })
    }
}

/// A socket at an address of the calling thread's namespace.
fn open(address: SocketAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Sends one way, and accounts for what arrives, each on a thread of its own.
fn exchange(flow: &Flow, ends: &Ends, way: Way, index: usize, pattern: Pattern) -> io::Result<()> {
    let mut random = Random::new(flow.seed, Purpose::Datagrams, index);
    let target = flow.traffic.target;
    let begin = flow.recorder.now();
    let schedule = Schedule::new(begin, target, pattern, |mean| random.exponential(mean));
    let until_ns = schedule.until();
    let payload = vec![0; pattern.payload_bytes(target) as usize];
    let (from, to, peer) = match way {
        Way::Down => (&ends.server, &ends.client, ends.client_address),
        Way::Up | Way::Both => (&ends.client, &ends.server, flow.target()),
    };
    let failed = &Stop::new()?;
    thread::scope(|scope| {
        let receiving = scope.spawn(move || receive(flow, to, way, until_ns, failed));
        let sent = send(flow, from, peer, &payload, schedule, random);
        if sent.is_err() {
            failed.request("the sender has failed");
        }
        let received = receiving
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let text = warning(sent?, received?);
        if let Some(text) = text.filter(|_| flow.stop.reason().is_none()) {
            flow.warn(&text);
        }
        Ok(())
    })
}

/// Sends every datagram at its time, or as soon as possible after that; gives how many.
fn send(
    flow: &Flow,
    socket: &Socket,
    peer: SocketAddr,
    payload: &[u8],
    mut schedule: Schedule,
    mut random: Random,
) -> io::Result<u64> {
    let mut sent = 0;
    while let Some(due_ns) = schedule.due() {
        let (clock, due) = (flow.recorder.clock(), Some(flow.instant(due_ns)));
        if let Wake::Stopped(_) = wait_on(clock, None, &[&flow.stop], due)? {
            break;
        }
        // A datagram that cannot be sent, as without a route, is a lost one.
        let _ = socket.send_to(payload, &peer.into());
        sent += 1;
        schedule.advance(|mean| random.exponential(mean));
    }
    Ok(sent)
}

/// Accounts for what arrives until the flow's time is over; gives how many.
fn receive(
    flow: &Flow,
    socket: &Socket,
    way: Way,
    until_ns: u64,
    failed: &Stop,
) -> io::Result<u64> {
    let mut deliveries = Deliveries::default();
    let mut received = 0;
    let stops = [&flow.stop, failed];
    let until = Some(flow.instant(until_ns));
    loop {
        let readable = Some((socket.as_fd(), PollFlags::POLLIN));
        if wait_on(flow.recorder.clock(), readable, &stops, until)? != Wake::Ready {
            break;
        }
        read_waiting(socket, &stops, |length| {
            let now_ns = flow.recorder.now();
            if now_ns < until_ns {
                received += 1;
                flow.write_bin(0, way, deliveries.record(now_ns, length));
            }
            now_ns < until_ns
        });
        if flow.recorder.now() >= until_ns {
            break;
        }
    }
    flow.write_bin(0, way, deliveries.finish());
    Ok(received)
}

/// Reads the datagrams that wait and those that come meanwhile, until `take`, which gets the length
/// of each, says that it was the last, or a stop is requested.
fn read_waiting(mut socket: &Socket, stops: &[&Stop], mut take: impl FnMut(u64) -> bool) {
    let mut buffer = vec![0; READ_LENGTH];
    let is_stopped = || stops.iter().any(|stop| stop.reason().is_some());
    while !is_stopped()
        && let Ok(length) = socket.read(&mut buffer)
    {
        if !take(length as u64) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_that_come_without_end_do_not_keep_the_reader_from_a_stop() {
        let socket = open((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let own = socket.local_addr().unwrap();
        let stop = Stop::new().unwrap();
        socket.send_to(&[0; 5], &own).unwrap();
        let mut lengths = Vec::new();
        read_waiting(&socket, &[&stop], |length| {
            lengths.push(length);
            socket.send_to(&[0; 5], &own).unwrap();
            if lengths.len() == 3 {
                stop.request("enough");
            }
            lengths.len() < 10
        });
        assert_eq!(lengths, [5; 3]);
    }
}
