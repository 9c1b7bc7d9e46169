//! UDP datagrams at a constant rate, in bursts where asked for: cross traffic.
//!
//! Received payload is written as rows of `deliveries`.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_plan::{Traffic, Way};
use mptcplab_random::Random;
use mptcplab_record::Delivery;
use mptcplab_traffic::datagrams::{Pattern, Schedule, warning};
use mptcplab_traffic::{Bin, Deliveries};
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::network::Network;

/// The datagrams of one way.
#[derive(Clone, Debug)]
pub(super) struct Datagrams {
    way: Way,
    payload: Bytes,
    schedule: Schedule,
    random: Random,
    deliveries: Deliveries,
    /// Datagrams.
    sent: u64,
    received: u64,
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
        Self {
            way,
            payload: vec![0; pattern.payload_bytes(target) as usize].into(),
            schedule: Schedule::new(begin, target, pattern, |mean| random.exponential(mean)),
            random,
            deliveries: Deliveries::default(),
            sent: 0,
            received: 0,
        }
    }

    /// The time at which it sends or ends.
    pub(super) fn deadline(&self) -> Nanos {
        self.schedule.due().unwrap_or(self.schedule.until())
    }

    /// Sends a datagram that is due; says whether it has ended.
    pub(super) fn go(&mut self, network: &mut Network, traffic: &Traffic) -> bool {
        if self.schedule.due().is_some_and(|due| network.now >= due) {
            self.send(network, traffic);
            self.sent += 1;
            self.schedule.advance(|mean| self.random.exponential(mean));
        }
        let is_over = network.now >= self.schedule.until();
        if is_over && let Some(text) = warning(self.sent, self.received) {
            network.warn(&traffic.name, &text);
        }
        is_over
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
            self.received += 1;
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
