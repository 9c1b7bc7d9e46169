//! Translates addresses and ports (RFC 4787 for UDP, RFC 5382 for TCP, RFC 5508 for ICMP):
//! endpoint-independent mapping, address- and port-dependent filtering.
//!
//! A mapping keeps the inner port where that is free, and lasts as long as the run.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use mptcplab_link::Nanos;

use crate::fields::{Endpoint, Flow, Side, set_endpoint};
use crate::{Directed, Middlebox};

/// The ports that are given out where a host's own is taken (RFC 6335: the dynamic ports).
const DYNAMIC_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// The box.
#[derive(Debug)]
pub(crate) struct Nat {
    /// Packets in this direction come from inside.
    outwards: usize,
    /// Its outer address.
    address: IpAddr,
    /// Outer port by protocol and inner endpoint.
    outer: BTreeMap<(u8, Endpoint), u16>,
    /// Inner endpoint by protocol and outer port.
    inner: BTreeMap<(u8, u16), Endpoint>,
    /// Protocol, outer port and outside endpoint to which something was sent: those may answer.
    answers: BTreeSet<(u8, u16, Endpoint)>,
}

impl Nat {
    /// `inside` is the end of the link that is behind the box.
    pub(crate) fn new(inside: usize, address: IpAddr) -> Self {
        Self {
            outwards: inside,
            address,
            outer: BTreeMap::new(),
            inner: BTreeMap::new(),
            answers: BTreeSet::new(),
        }
    }

    /// The outer port of an inner endpoint, a new one where it has none; `None` where all are taken.
    fn map(&mut self, protocol: u8, inside: Endpoint) -> Option<u16> {
        if let Some(&port) = self.outer.get(&(protocol, inside)) {
            return Some(port);
        }
        let is_free = |&port: &u16| !self.inner.contains_key(&(protocol, port));
        let port = std::iter::once(inside.port)
            .chain(DYNAMIC_PORTS)
            .find(is_free)?;
        self.outer.insert((protocol, inside), port);
        self.inner.insert((protocol, port), inside);
        Some(port)
    }
}

impl Middlebox for Nat {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        if packet.source().is_ipv4() != self.address.is_ipv4() {
            return out.push((direction, packet));
        }
        let Some(flow) = Flow::of(&packet) else {
            return;
        };
        let protocol = flow.protocol;
        if direction == self.outwards {
            let Some(port) = self.map(protocol, flow.source) else {
                return;
            };
            self.answers.insert((protocol, port, flow.destination));
            let address = self.address;
            set_endpoint(&mut packet, Side::Source, Endpoint { address, port });
        } else {
            let port = flow.destination.port;
            let is_answer = flow.destination.address == self.address
                && self.answers.contains(&(protocol, port, flow.source));
            let (true, Some(&inside)) = (is_answer, self.inner.get(&(protocol, port))) else {
                return;
            };
            set_endpoint(&mut packet, Side::Destination, inside);
        }
        out.push((direction, packet));
    }
}
