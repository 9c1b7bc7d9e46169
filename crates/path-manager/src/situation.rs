//! What a path manager knows of the host and its connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::Nanos;

/// Both ends of a subflow, this host's first.
pub(crate) type Pair = (SocketAddr, SocketAddr);

/// What is known of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// This host accepted it.
    pub(crate) server_side: bool,
    /// The ends of its initial subflow.
    pub(crate) initial: Pair,
    /// Its subflows that are established, and those whose SYN has left but for their ports.
    pub(crate) subflows: BTreeMap<Pair, Subflow>,
    /// Those that were ordered to be closed, and of which the kernel has not told yet.
    pub(crate) closing: BTreeSet<Pair>,
    /// Addresses that the peer announced, by their ids.
    pub(crate) announced: BTreeMap<u8, SocketAddr>,
    /// Addresses that were announced to the peer.
    pub(crate) told: Vec<IpAddr>,
    /// Bytes that it has carried, both ways together.
    pub(crate) bytes: u64,
    /// Ids of this host's addresses: once given, an id stays with its address.
    pub(crate) ids: BTreeMap<IpAddr, u8>,
    /// Addresses whose path was lost, and until when another is preferred.
    pub(crate) avoided: BTreeMap<IpAddr, Nanos>,
}

/// What is known of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subflow {
    /// Retransmission timeouts in a row.
    pub(crate) timeouts: u8,
}

impl Connection {
    /// One that has just become established.
    pub(crate) fn new(initial: Pair, server_side: bool) -> Self {
        Self {
            server_side,
            initial,
            subflows: BTreeMap::from([(initial, Subflow::default())]),
            closing: BTreeSet::new(),
            announced: BTreeMap::new(),
            told: Vec::new(),
            bytes: 0,
            ids: BTreeMap::new(),
            avoided: BTreeMap::new(),
        }
    }

    /// Addresses of the peer: that of the initial subflow, then those that it announced.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let initial = self.initial.1;
        let announced = self.announced.values().copied();
        std::iter::once(initial).chain(announced.filter(move |remote| *remote != initial))
    }

    /// How many subflows go from an address to an end of the peer.
    pub(crate) fn between(&self, local: IpAddr, remote: SocketAddr) -> usize {
        let pairs = self.subflows.keys();
        pairs
            .filter(|pair| pair.0.ip() == local && pair.1 == remote)
            .count()
    }
}
