//! A node: its interfaces with their addresses, its routes, and the network manager that follows
//! what happens to them.
//!
//! The manager does what that of the kernel engine does (`docs/architecture.md`): an interface that
//! loses its carrier or is set down loses its addresses at once; one that comes back has them again
//! after its address delay. What a host sends from an address leaves by the interface of that
//! address or not at all. A neighbour needs no discovery: what leaves by an interface reaches the
//! other end of its link.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::IpAddr;

use arrayvec::ArrayVec;
use foldhash::fast::FixedState;
use mptcplab_plan as plan;
use mptcplab_plan::{EndpointFlags, Prefix};
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::parcel::Parcel;
use crate::random::{Purpose, Random};
use crate::route::{Table, Way, choose, contains, everything};

/// Metric of the main table's routes over a host's first interface; the others follow. Those of a
/// router are all equally good.
const FIRST_METRIC: u32 = 100;

/// Bytes of the Ethernet header, which an interface counts as the kernel's does.
const ETHERNET_HEADER_BYTES: u64 = 14;

/// What an interface has carried, as the kernel counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterfaceCounters {
    /// Packets received.
    pub(crate) rx_packets: u64,
    /// Packets sent.
    pub(crate) tx_packets: u64,
    /// Their bytes, Ethernet headers included.
    pub(crate) rx_bytes: u64,
    /// Their bytes, Ethernet headers included.
    pub(crate) tx_bytes: u64,
    /// Packets that came while the interface was down.
    pub(crate) rx_dropped: u64,
    /// Packets that were to be sent while it was down, or were larger than its MTU.
    pub(crate) tx_dropped: u64,
}

/// One interface of a node.
#[derive(Debug)]
pub(crate) struct Interface {
    /// `node.interface`.
    pub(crate) subject: String,
    pub(crate) planned: plan::Interface,
    /// The link that it is an end of, and which end.
    pub(crate) line: Option<(usize, usize)>,
    set_up: bool,
    carrier: bool,
    /// Its addresses are usable.
    usable: bool,
    /// When they come back.
    due: Option<Nanos>,
    /// The backup flag of its endpoints, where an event has set it.
    backup: Option<bool>,
    pub(crate) counters: InterfaceCounters,
}

impl Interface {
    /// Set up, and its carrier there.
    pub(crate) fn is_running(&self) -> bool {
        self.set_up && self.carrier
    }

    /// Flags of its MPTCP endpoints, as they are wanted now.
    fn endpoint_flags(&self) -> Option<EndpointFlags> {
        let planned = self.planned.endpoint?;
        let backup = self.backup.unwrap_or(planned.backup);
        Some(EndpointFlags { backup, ..planned })
    }

    /// Counts a packet of so many bytes that comes; says whether the interface takes it.
    pub(crate) fn receives(&mut self, ip_bytes: u32) -> bool {
        if !self.is_running() {
            self.counters.rx_dropped += 1;
            return false;
        }
        self.counters.rx_packets += 1;
        self.counters.rx_bytes += u64::from(ip_bytes) + ETHERNET_HEADER_BYTES;
        true
    }

    /// Counts a packet of so many bytes that is to leave; says whether the interface sends it.
    pub(crate) fn sends(&mut self, ip_bytes: u32) -> bool {
        if !self.is_running() || ip_bytes > self.planned.mtu {
            self.counters.tx_dropped += 1;
            return false;
        }
        self.counters.tx_packets += 1;
        self.counters.tx_bytes += u64::from(ip_bytes) + ETHERNET_HEADER_BYTES;
        true
    }
}

/// Addresses of an interface that have become usable, or are no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressChange {
    pub(crate) interface: usize,
    pub(crate) usable: bool,
}

/// A host remembers 2 to this power ways.
const PLACE_BITS: u32 = 3;

/// A way of packets with these addresses, as they stand in the header.
#[derive(Clone, Debug)]
struct Remembered {
    words: ArrayVec<[u8; 8], 4>,
    interface: Option<usize>,
}

/// Destinations that a router knows at most before it forgets them all.
const MOST_DESTINATIONS: usize = 4096;

/// Where a router sends what is bound to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    Here,
    /// By one of a set of interfaces.
    Set(u32),
    Nowhere,
}

/// What a node does with a packet that has come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// The packet has reached its destination.
    Here,
    /// It leaves by an interface.
    By(usize),
    /// It ends here.
    Nowhere,
}

/// A host or a router.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) is_router: bool,
    pub(crate) interfaces: Vec<Interface>,
    routes: Vec<plan::Route>,
    /// For what has no address of the node as its source, and for what a router forwards.
    main: Table,
    /// For what has an address of the interface as its source; a host's only.
    by_interface: Vec<Table>,
    /// Usable addresses and their interfaces.
    addresses: Vec<(IpAddr, usize)>,
    /// The same, sorted by address.
    by_address: Vec<(IpAddr, usize)>,
    /// The earliest time at which an interface's addresses come back.
    due: Option<Nanos>,
    /// Ways of a host's own packets, at places that their addresses choose.
    remembered: [Option<Remembered>; 1 << PLACE_BITS],
    /// What a router has found for destinations: in large networks the search takes longer than
    /// all else.
    destinations: HashMap<IpAddr, Ahead, FixedState>,
    flow_seed: u64,
}

impl Node {
    /// Node number `index` of a run; its interfaces are up and their addresses usable.
    pub(crate) fn new(planned: &plan::Node, seed: u64, index: usize) -> Self {
        let interface = |interface: &plan::Interface| Interface {
            subject: format!("{}.{}", planned.name, interface.name),
            planned: interface.clone(),
            line: None,
            set_up: true,
            carrier: true,
            usable: true,
            due: None,
            backup: None,
            counters: InterfaceCounters::default(),
        };
        let mut node = Self {
            name: planned.name.clone(),
            is_router: planned.router,
            interfaces: planned.interfaces.iter().map(interface).collect(),
            routes: planned.routes.clone(),
            main: Table::default(),
            by_interface: Vec::new(),
            addresses: Vec::new(),
            by_address: Vec::new(),
            due: None,
            remembered: Default::default(),
            destinations: HashMap::default(),
            flow_seed: Random::new(seed, Purpose::Routes, index).bits(),
        };
        node.make_routes();
        node
    }

    /// `ip link set … up|down`.
    pub(crate) fn set_up(
        &mut self,
        now: Nanos,
        interface: usize,
        up: bool,
    ) -> Option<AddressChange> {
        self.interfaces[interface].set_up = up;
        self.follow(now, interface)
    }

    /// The carrier comes or goes.
    pub(crate) fn set_carrier(
        &mut self,
        now: Nanos,
        interface: usize,
        carrier: bool,
    ) -> Option<AddressChange> {
        self.interfaces[interface].carrier = carrier;
        self.follow(now, interface)
    }

    /// Changes the backup flag of an interface's endpoints, also of those that are still to come;
    /// false where it has none.
    pub(crate) fn set_backup(&mut self, interface: usize, backup: bool) -> bool {
        let interface = &mut self.interfaces[interface];
        interface.backup = Some(backup);
        interface.planned.endpoint.is_some()
    }

    /// When addresses come back.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.due
    }

    fn update_due(&mut self) {
        self.due = self.interfaces.iter().filter_map(|one| one.due).min();
    }

    /// Brings back addresses that are due.
    pub(crate) fn act(&mut self, now: Nanos) -> Vec<AddressChange> {
        let mut changes = Vec::new();
        for interface in 0..self.interfaces.len() {
            let this = &mut self.interfaces[interface];
            if this.due.is_some_and(|due| due <= now) {
                this.due = None;
                this.usable = true;
                changes.push(AddressChange {
                    interface,
                    usable: true,
                });
            }
        }
        if !changes.is_empty() {
            self.update_due();
            self.make_routes();
        }
        changes
    }

    /// Follows a change of an interface's state.
    fn follow(&mut self, now: Nanos, interface: usize) -> Option<AddressChange> {
        let this = &mut self.interfaces[interface];
        if this.is_running() {
            if !this.usable && this.due.is_none() {
                this.due = Some(now.saturating_add(this.planned.address_delay_ns));
                self.update_due();
            }
            return None;
        }
        this.due = None;
        let was_usable = std::mem::replace(&mut this.usable, false);
        self.update_due();
        if !was_usable {
            return None;
        }
        self.make_routes();
        Some(AddressChange {
            interface,
            usable: false,
        })
    }

    /// Makes the tables from what is usable.
    fn make_routes(&mut self) {
        self.main = Table::default();
        self.by_interface = vec![Table::default(); self.interfaces.len()];
        self.addresses.clear();
        self.remembered = Default::default();
        self.destinations.clear();
        for (index, interface) in self.interfaces.iter().enumerate() {
            if !interface.usable {
                continue;
            }
            let metric = match self.is_router {
                true => 0,
                false => FIRST_METRIC + index as u32,
            };
            let own = &mut self.by_interface[index];
            let mut add = |to, metric| {
                let way = Way {
                    to,
                    interface: index,
                    metric,
                };
                own.add(way);
                self.main.add(way);
            };
            for &prefix in &interface.planned.addresses {
                self.addresses.push((prefix.address, index));
                add(prefix, 0);
            }
            for &gateway in &interface.planned.gateways {
                let is_usable = |prefix: &&Prefix| prefix.address.is_ipv4() == gateway.is_ipv4();
                if interface
                    .planned
                    .addresses
                    .iter()
                    .any(|prefix| is_usable(&prefix))
                {
                    add(everything(gateway), metric);
                }
            }
            for route in &self.routes {
                let mut addresses = interface.planned.addresses.iter();
                if addresses.any(|&prefix| contains(prefix, route.via)) {
                    add(route.to, metric);
                }
            }
        }
        self.by_address.clone_from(&self.addresses);
        // Of two interfaces with the same address the first counts.
        self.by_address.sort_by_key(|&(address, _)| address);
    }

    /// Whether a usable address is the node's.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.interface_of(address).is_some()
    }

    /// The interface of a usable address.
    pub(crate) fn interface_of(&self, address: IpAddr) -> Option<usize> {
        let is_it = |&&(own, _): &&(IpAddr, usize)| own == address;
        let found = match self.is_router {
            false => self.by_address.iter().find(is_it),
            // A router may have hundreds.
            true => {
                let place = self.by_address.partition_point(|&(own, _)| own < address);
                self.by_address.get(place).filter(is_it)
            }
        };
        found.map(|&(_, interface)| interface)
    }

    /// Usable addresses with the MTU of their interfaces and the flags of their endpoints.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = (IpAddr, u32, Option<EndpointFlags>)> {
        self.addresses.iter().map(|&(address, interface)| {
            let interface = &self.interfaces[interface];
            (address, interface.planned.mtu, interface.endpoint_flags())
        })
    }

    /// Addresses from which the path manager opens subflows.
    pub(crate) fn subflow_endpoints(&self) -> Vec<IpAddr> {
        self.addresses()
            .filter(|(_, _, flags)| flags.is_some_and(|flags| flags.subflow || flags.fullmesh))
            .map(|(address, ..)| address)
            .collect()
    }

    /// The address from which a program that names none reaches a destination.
    pub(crate) fn source_for(&self, destination: IpAddr) -> Option<IpAddr> {
        let &interface = self.main.interfaces(destination).first()?;
        self.address_on(interface, destination.is_ipv4())
    }

    /// The first usable address of an interface.
    fn address_on(&self, interface: usize, is_ipv4: bool) -> Option<IpAddr> {
        self.addresses
            .iter()
            .find(|&&(address, of)| of == interface && address.is_ipv4() == is_ipv4)
            .map(|&(address, _)| address)
    }

    /// From which address the node reaches which network, where a program names none.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (Prefix, IpAddr)> {
        self.main.networks().filter_map(|(to, interface)| {
            let source = self.address_on(interface, to.address.is_ipv4())?;
            Some((to, source))
        })
    }

    /// Whether something from this address of the node has a way to a destination.
    pub(crate) fn reaches(&self, source: IpAddr, destination: IpAddr) -> bool {
        self.way_between(source, destination).is_some()
    }

    /// The interface by which a packet of the node itself leaves.
    pub(crate) fn way_of_own(&mut self, packet: &Packet) -> Option<usize> {
        if self.is_router {
            let interfaces = self.main.interfaces(packet.destination());
            return choose(interfaces, || packet.flow_hash(self.flow_seed));
        }
        let (words, _) = packet.address_bytes().as_chunks();
        let place = place_of(words);
        if let Some(known) = &self.remembered[place]
            && known.words.iter().eq(words)
        {
            return known.interface;
        }
        let interface = self.way_between(packet.source(), packet.destination());
        self.remembered[place] = Some(Remembered {
            words: words.iter().copied().collect(),
            interface,
        });
        interface
    }

    /// The interface by which a host sends from an address of its own.
    fn way_between(&self, source: IpAddr, destination: IpAddr) -> Option<usize> {
        let interface = self.interface_of(source)?;
        let ways = self.by_interface[interface].interfaces(destination);
        ways.first().copied()
    }

    /// Where a packet goes that has come to the node.
    pub(crate) fn onward(&mut self, parcel: &Parcel) -> Onward {
        let destination = parcel.destination();
        if !self.is_router {
            return match self.has(destination) {
                true => Onward::Here,
                false => Onward::Nowhere,
            };
        }
        match self.ahead(destination) {
            Ahead::Here => Onward::Here,
            Ahead::Nowhere => Onward::Nowhere,
            Ahead::Set(set) => {
                let interfaces = self.main.interfaces_of(set);
                choose(interfaces, || parcel.flow_hash(self.flow_seed))
                    .map_or(Onward::Nowhere, Onward::By)
            }
        }
    }

    /// Where a router sends what is bound to an address.
    fn ahead(&mut self, destination: IpAddr) -> Ahead {
        if let Some(&known) = self.destinations.get(&destination) {
            return known;
        }
        let ahead = match self.main.best_set(destination) {
            _ if self.has(destination) => Ahead::Here,
            Some(set) => Ahead::Set(set),
            None => Ahead::Nowhere,
        };
        if self.destinations.len() >= MOST_DESTINATIONS {
            self.destinations.clear();
        }
        self.destinations.insert(destination, ahead);
        ahead
    }
}

/// Where the way between two addresses is remembered (multiplicative hashing; Knuth, "The Art of
/// Computer Programming", volume 3, section 6.4).
fn place_of(words: &[[u8; 8]]) -> usize {
    let key = words
        .iter()
        .fold(0, |key, &word| key ^ u64::from_be_bytes(word));
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACE_BITS)) as usize
}
