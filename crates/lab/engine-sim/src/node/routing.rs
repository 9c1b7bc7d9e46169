//! Where packets leave a node: the look-ups of hosts and of routers, which both are cached.

use std::net::IpAddr;

use arrayvec::ArrayVec;
use mptcplab_plan::Prefix;
use mptcplab_wire::Packet;

use super::Node;
use crate::fib::{Table, choose};
use crate::in_flight::PacketInFlight;
use crate::inspect::RouteEntry;

/// A host caches 2 to this power routes.
const SLOT_BITS: u32 = 3;
pub(super) const SLOTS: usize = 1 << SLOT_BITS;

/// The route of packets with these addresses, as they stand in the header.
#[derive(Clone, Debug)]
pub(super) struct CachedRoute {
    words: ArrayVec<[u8; 8], 4>,
    interface: Option<usize>,
}

/// Destinations that a router caches at most before it clears them all.
pub(super) const MOST_DESTINATIONS: usize = 4096;

/// Where a router finds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// At the router itself.
    Local,
    /// Behind one of a set of interfaces.
    Behind(u32),
    Unreachable,
}

/// The fate of a packet that has come to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// The packet has reached its destination.
    Deliver,
    /// It leaves by an interface.
    Forward(usize),
    /// The router has no route to its destination.
    Unreachable,
    /// It is dropped.
    Drop,
}

impl Node {
    /// The address from which a program that names none reaches a destination.
    pub(crate) fn source_for(&self, destination: IpAddr) -> Option<IpAddr> {
        let &interface = self.main.interfaces(destination).first()?;
        self.address_on(interface, destination.is_ipv4())
    }

    /// The first usable address of an interface.
    pub(super) fn address_on(&self, interface: usize, is_ipv4: bool) -> Option<IpAddr> {
        self.addresses
            .iter()
            .find(|&&(address, of)| of == interface && address.is_ipv4() == is_ipv4)
            .map(|&(address, _)| address)
    }

    /// The networks that the node reaches, each with the source address of programs that name none,
    /// then each with every address from which it is reached.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (Prefix, IpAddr)> {
        let every = self.by_interface.iter().flat_map(Table::networks);
        self.main
            .networks()
            .chain(every)
            .filter_map(|(to, interface)| {
                let source = self.address_on(interface, to.address.is_ipv4())?;
                Some((to, source))
            })
    }

    /// The entries of its tables: of a host first the table of each interface, then the main one.
    pub(crate) fn tables(&self) -> Vec<RouteEntry> {
        let of_interfaces = self.by_interface.iter().enumerate();
        let own = of_interfaces.map(|(interface, table)| (Some(interface), table));
        let own = own.filter(|_| !self.is_router);
        own.chain([(None, &self.main)])
            .flat_map(|(table, entries)| {
                entries.entries().map(move |(to, interfaces)| RouteEntry {
                    table,
                    to,
                    interfaces: interfaces.to_vec(),
                })
            })
            .collect()
    }

    /// Whether a packet from this address of the node has a route to a destination.
    pub(crate) fn reaches(&self, source: IpAddr, destination: IpAddr) -> bool {
        self.interface_between(source, destination).is_some()
    }

    /// The interface by which a packet of the node itself leaves.
    pub(crate) fn output_interface(&mut self, packet: &Packet) -> Option<usize> {
        if self.is_router {
            let interfaces = self.main.interfaces(packet.destination());
            return choose(interfaces, || packet.flow_hash(self.flow_seed));
        }
        let (words, _) = packet.address_bytes().as_chunks();
        let slot = slot_of(words);
        if let Some(cached) = &self.cache[slot]
            && cached.words.iter().eq(words)
        {
            return cached.interface;
        }
        let interface = self.interface_between(packet.source(), packet.destination());
        self.cache[slot] = Some(CachedRoute {
            words: words.iter().copied().collect(),
            interface,
        });
        interface
    }

    /// The neighbour to which a packet for a destination goes that leaves by an interface.
    pub(crate) fn next_hop(&self, interface: usize, destination: IpAddr) -> Option<IpAddr> {
        let planned = &self.interfaces[interface].planned;
        let is_reached = |address| planned.addresses.iter().any(|own| own.contains(address));
        if is_reached(destination) {
            return Some(destination);
        }
        let routes = self.routes.iter();
        let own = routes.filter(|route| route.to.contains(destination) && is_reached(route.via));
        let nearest = own
            .max_by_key(|route| route.to.length)
            .map(|route| route.via);
        let mut gateways = planned.gateways.iter().copied();
        nearest.or_else(|| gateways.find(|via| via.is_ipv4() == destination.is_ipv4()))
    }

    /// The interface by which a host sends from an address of its own.
    fn interface_between(&self, source: IpAddr, destination: IpAddr) -> Option<usize> {
        let interface = self.interface_of(source)?;
        let interfaces = self.by_interface[interface].interfaces(destination);
        interfaces.first().copied()
    }

    /// Decides what becomes of a packet that has come to the node.
    pub(crate) fn forwarding(&mut self, in_flight: &PacketInFlight) -> Forwarding {
        let destination = in_flight.destination();
        if !self.is_router {
            return match self.has(destination) {
                true => Forwarding::Deliver,
                false => Forwarding::Drop,
            };
        }
        match self.look_up(destination) {
            Destination::Local => Forwarding::Deliver,
            Destination::Unreachable => Forwarding::Unreachable,
            Destination::Behind(set) => {
                let interfaces = self.main.interfaces_of(set);
                choose(interfaces, || in_flight.flow_hash(self.flow_seed))
                    .map_or(Forwarding::Drop, Forwarding::Forward)
            }
        }
    }

    /// Looks up where a router finds an address.
    fn look_up(&mut self, destination: IpAddr) -> Destination {
        if let Some(&cached) = self.destinations.get(&destination) {
            return cached;
        }
        let found = match self.main.best_set(destination) {
            _ if self.has(destination) => Destination::Local,
            Some(set) => Destination::Behind(set),
            None => Destination::Unreachable,
        };
        if self.destinations.len() >= MOST_DESTINATIONS {
            self.destinations.clear();
        }
        self.destinations.insert(destination, found);
        found
    }
}

/// The cache slot of the route between two addresses (multiplicative hashing; Knuth, "The Art of
/// Computer Programming", volume 3, section 6.4).
fn slot_of(words: &[[u8; 8]]) -> usize {
    let key = words
        .iter()
        .fold(0, |key, &word| key ^ u64::from_be_bytes(word));
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as usize
}
