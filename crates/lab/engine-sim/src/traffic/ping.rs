//! ICMP echo (RFC 792, RFC 4443).

use std::collections::BTreeMap;

use bytes::Bytes;
use mptcplab_plan::Traffic;
use mptcplab_record::Latency;
use mptcplab_wire::{EchoKind, Packet};

use crate::Nanos;
use crate::network::Network;

/// Time to wait for replies after the last request.
const GRACE_NS: Nanos = 2_000_000_000;

/// Requests and their answers.
#[derive(Clone, Debug)]
pub(super) struct Ping {
    interval_ns: Nanos,
    count: u32,
    payload: Bytes,
    identifier: u16,
    /// Number of the next request.
    sequence: u32,
    /// The time at which it is due, or after the last one the end of waiting for replies.
    due: Nanos,
    /// Requests without an answer, by the number in the packet.
    outstanding: BTreeMap<u16, (u32, Nanos)>,
}

impl Ping {
    /// The first request is due at `begin`.
    pub(super) fn new(
        begin: Nanos,
        identifier: u16,
        interval_ns: Nanos,
        count: u32,
        payload_bytes: u32,
    ) -> Self {
        Self {
            interval_ns,
            count,
            payload: vec![0; payload_bytes as usize].into(),
            identifier,
            sequence: 0,
            due: begin,
            outstanding: BTreeMap::new(),
        }
    }

    pub(super) fn deadline(&self) -> Nanos {
        self.due
    }

    /// Sends a request that is due; says whether the flow has ended.
    pub(super) fn go(&mut self, network: &mut Network, traffic: &Traffic) -> bool {
        if self.sequence == self.count {
            let is_over = self.outstanding.is_empty() || self.due <= network.now;
            if is_over {
                self.give_up(network, traffic);
            }
            return is_over;
        }
        if self.due > network.now {
            return false;
        }
        let number = self.sequence as u16;
        // The number is used again after 65,536 requests: its earlier one is given up.
        let lost = self
            .outstanding
            .insert(number, (self.sequence, network.now));
        if let Some((sequence, t_ns)) = lost {
            write(network, traffic, sequence, t_ns, None);
        }
        let source = traffic.source;
        // A request that cannot be sent, as without a route, is a lost one.
        if let Some(source) = source.or_else(|| network.source_for(traffic.client, traffic.target))
        {
            let (kind, payload) = (EchoKind::Request, self.payload.clone());
            let (id, target) = (self.identifier, traffic.target);
            let packet = Packet::echo(source, target, kind, id, number, payload);
            network.send(traffic.client, Box::new(packet));
        }
        self.sequence += 1;
        self.due += if self.sequence == self.count {
            GRACE_NS
        } else {
            self.interval_ns
        };
        false
    }

    /// Takes an echo reply; says whether it answers a request of this flow.
    pub(super) fn take(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        packet: &Packet,
    ) -> bool {
        let Some(echo) = packet.as_echo() else {
            return false;
        };
        if echo.kind != EchoKind::Reply || echo.id != self.identifier {
            return false;
        }
        let Some((sequence, t_ns)) = self.outstanding.remove(&echo.sequence) else {
            return false;
        };
        write(network, traffic, sequence, t_ns, Some(network.now - t_ns));
        true
    }

    /// Writes the rows of the requests that had no answer.
    pub(super) fn give_up(&mut self, network: &mut Network, traffic: &Traffic) {
        for (sequence, t_ns) in std::mem::take(&mut self.outstanding).into_values() {
            write(network, traffic, sequence, t_ns, None);
        }
    }
}

fn write(
    network: &mut Network,
    traffic: &Traffic,
    sequence: u32,
    t_ns: Nanos,
    rtt_ns: Option<Nanos>,
) {
    let row = Latency {
        traffic: &traffic.name,
        kind: "ping",
        sequence,
        t_ns,
        rtt_ns,
    };
    network.recorder.write(row);
}
