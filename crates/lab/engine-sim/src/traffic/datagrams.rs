//! UDP datagrams at a constant rate, in bursts where asked for: cross traffic.
//!
//! Received payload is written as rows of `deliveries`.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_plan::{Traffic, Way};
use mptcplab_random::Random;
use mptcplab_record::Delivery;
use mptcplab_traffic::{Bin, Deliveries};
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::network::Network;

const UDP_HEADER_BYTES: u32 = 8;
const IPV4_HEADER_BYTES: u32 = 20;
const IPV6_HEADER_BYTES: u32 = 40;

/// The datagrams of one way.
#[derive(Debug)]
pub(super) struct Datagrams {
    way: Way,
    rate_bps: u64,
    packet_bytes: u32,
    payload: Bytes,
    until: Nanos,
    /// The time of the next datagram.
    due: Nanos,
    /// The begin of the present run of datagrams at the rate, and bytes sent since.
    began: Nanos,
    sent_bytes: u64,
    bursts: Option<Bursts>,
    deliveries: Deliveries,
}

/// Bursts and the pauses between them, both exponentially distributed.
#[derive(Debug)]
struct Bursts {
    on_mean_ns: Nanos,
    off_mean_ns: Nanos,
    /// End of the burst under way.
    end: Nanos,
    random: Random,
}

/// The parameters of a flow's datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) rate_bps: u64,
    pub(super) packet_bytes: u32,
    pub(super) duration_ns: Nanos,
    pub(super) on_off_ns: Option<[Nanos; 2]>,
}

impl Datagrams {
    /// One way of a flow that begins at `begin`, with a burst.
    pub(super) fn new(
        begin: Nanos,
        way: Way,
        target: IpAddr,
        pattern: Pattern,
        mut random: Random,
    ) -> Self {
        let header_bytes = match target {
            IpAddr::V4(_) => IPV4_HEADER_BYTES + UDP_HEADER_BYTES,
            IpAddr::V6(_) => IPV6_HEADER_BYTES + UDP_HEADER_BYTES,
        };
        let payload_bytes = pattern.packet_bytes.saturating_sub(header_bytes);
        let bursts = pattern.on_off_ns.map(|[on_mean_ns, off_mean_ns]| Bursts {
            on_mean_ns,
            off_mean_ns,
            end: begin.saturating_add(random.exponential(on_mean_ns)),
            random,
        });
        Self {
            way,
            rate_bps: pattern.rate_bps.max(1),
            packet_bytes: payload_bytes + header_bytes,
            payload: vec![0; payload_bytes as usize].into(),
            until: begin.saturating_add(pattern.duration_ns),
            due: begin,
            began: begin,
            sent_bytes: 0,
            bursts,
            deliveries: Deliveries::default(),
        }
    }

    /// The time at which it sends or ends.
    pub(super) fn deadline(&self) -> Nanos {
        self.due.min(self.until)
    }

    /// Sends a datagram that is due; says whether it has ended.
    pub(super) fn go(&mut self, network: &mut Network, traffic: &Traffic) -> bool {
        if network.now >= self.until {
            return true;
        }
        if network.now >= self.due {
            self.send(network, traffic);
            self.wait();
        }
        false
    }

    fn send(&mut self, network: &mut Network, traffic: &Traffic) {
        let client = traffic.source;
        let Some(client) = client.or_else(|| network.source_for(traffic.client, traffic.target))
        else {
            return;
        };
        let client = SocketAddr::new(client, traffic.port);
        let server = SocketAddr::new(traffic.target, traffic.port);
        let (node, from, to) = match self.way {
            Way::Down => (traffic.server, server, client),
            Way::Up | Way::Both => (traffic.client, client, server),
        };
        network.send(node, Box::new(Packet::udp(from, to, self.payload.clone())));
    }

    /// Sets when the next datagram is due.
    fn wait(&mut self) {
        self.sent_bytes += u64::from(self.packet_bytes);
        let bits = u128::from(self.sent_bytes) * 8 * 1_000_000_000;
        let span = bits.div_ceil(u128::from(self.rate_bps));
        let span = Nanos::try_from(span).unwrap_or(Nanos::MAX);
        self.due = self.began.saturating_add(span);
        let Some(bursts) = &mut self.bursts else {
            return;
        };
        if self.due >= bursts.end {
            let pause = bursts.random.exponential(bursts.off_mean_ns);
            self.began = bursts.end.saturating_add(pause);
            let burst = bursts.random.exponential(bursts.on_mean_ns);
            bursts.end = self.began.saturating_add(burst);
            self.sent_bytes = 0;
            self.due = self.began;
        }
    }

    /// Takes a datagram that has arrived at a node.
    pub(super) fn take(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        node: usize,
        bytes: usize,
    ) {
        let receiver = match self.way {
            Way::Down => traffic.client,
            Way::Up | Way::Both => traffic.server,
        };
        if node == receiver {
            let bin = self.deliveries.record(network.now, bytes as u64);
            self.write_bin(network, traffic, bin);
        }
    }

    /// Writes the bin that is still open.
    pub(super) fn finish(&mut self, network: &mut Network, traffic: &Traffic) {
        let bin = self.deliveries.finish();
        self.write_bin(network, traffic, bin);
    }

    fn write_bin(&self, network: &mut Network, traffic: &Traffic, bin: Option<Bin>) {
        if let Some(Bin { t_ns, bytes }) = bin {
            let row = Delivery {
                traffic: &traffic.name,
                index: 0,
                way: self.way,
                t_ns,
                bytes,
            };
            network.recorder.write(row);
        }
    }
}
