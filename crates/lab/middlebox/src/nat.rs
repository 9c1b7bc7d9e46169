//! Translates addresses and ports (RFC 4787 for UDP, RFC 5382 for TCP, RFC 5508 for ICMP):
//! endpoint-independent mapping, address- and port-dependent filtering.
//!
//! A mapping keeps the inner port where that is free, and lasts as long as the run. ICMP errors
//! pass where they are about a packet of a mapping. What is neither of TCP and UDP nor an echo or an
//! error of ICMP does not pass.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use mptcplab_link::Nanos;

use mptcplab_wire::Packet;

use crate::flow::{Endpoint, Flow, Side, set_address, set_endpoint};
use crate::icmp_error::Cause;
use crate::{Directed, Middlebox};

/// The ports that are given out where a host's own is taken (RFC 6335: the dynamic ports).
const DYNAMIC_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// The box.
#[derive(Clone, Debug)]
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

    /// The inner end of a flow that comes from outside, where that is an answer.
    fn inside_of(&self, answer: Flow) -> Option<Endpoint> {
        let (protocol, port) = (answer.protocol, answer.destination.port);
        let is_answer = answer.destination.address == self.address
            && self.answers.contains(&(protocol, port, answer.source));
        let inside = self.inner.get(&(protocol, port));
        inside.copied().filter(|_| is_answer)
    }

    /// Translates a packet; says whether it goes on.
    fn translate(&mut self, direction: usize, flow: Flow, packet: &mut Packet) -> Option<()> {
        if direction == self.outwards {
            let port = self.map(flow.protocol, flow.source)?;
            let answer = (flow.protocol, port, flow.destination);
            self.answers.insert(answer);
            let address = self.address;
            set_endpoint(packet, Side::Source, Endpoint { address, port });
        } else {
            set_endpoint(packet, Side::Destination, self.inside_of(flow)?);
        }
        Some(())
    }

    /// Translates an ICMP error and the packet within it; says whether it goes on.
    fn translate_error(&self, direction: usize, cause: Cause, error: &mut Packet) -> Option<()> {
        let flow = cause.flow()?;
        let address = self.address;
        if direction == self.outwards {
            let &port = self.outer.get(&(flow.protocol, flow.destination))?;
            let outside = Endpoint { address, port };
            let answer = Flow {
                destination: outside,
                ..flow
            };
            self.inside_of(answer)?;
            cause.translate(Side::Destination, outside, error);
            set_address(error, Side::Source, address);
        } else {
            let inside = self.inside_of(flow.reversed())?;
            cause.translate(Side::Source, inside, error);
            set_address(error, Side::Destination, inside.address);
        }
        Some(())
    }
}

impl Middlebox for Nat {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        if packet.source().is_ipv4() != self.address.is_ipv4() {
            return out.push((direction, packet));
        }
        let goes_on = match (Flow::of(&packet), Cause::of(&packet)) {
            (Some(flow), _) => self.translate(direction, flow, &mut packet),
            (None, Some(cause)) => self.translate_error(direction, cause, &mut packet),
            (None, None) => None,
        };
        out.extend(goes_on.map(|()| (direction, packet)));
    }

    fn passes_unread(&self) -> bool {
        false
    }
}
