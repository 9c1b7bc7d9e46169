//! The path manager's view of its connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use mptcplab_paths::{Attempts, Path, Pauses};

use crate::Nanos;

/// For how long a path is left alone on which a subflow failed or closed.
const PAUSES: Pauses = Pauses {
    first: 200_000_000,
    longest: 30_000_000_000,
};

/// Both ends of a subflow, this host's first.
pub(crate) type Pair = (SocketAddr, SocketAddr);

/// State of a connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionView {
    /// This host accepted it.
    pub(crate) server_side: bool,
    /// The ends of its initial subflow.
    pub(crate) initial: Pair,
    /// Its subflows that are established, and those whose SYN has left but for their ports.
    pub(crate) subflows: BTreeMap<Pair, SubflowView>,
    /// Those that are being closed; the kernel's event is still to come.
    pub(crate) closing: BTreeSet<Pair>,
    /// Addresses that the peer announced, by their ids.
    pub(crate) peer_addresses: BTreeMap<u8, SocketAddr>,
    /// Addresses that were announced to the peer.
    pub(crate) announced: Vec<IpAddr>,
    /// Bytes that it has carried, in both directions.
    pub(crate) bytes: u64,
    /// Ids of this host's addresses: once given, an id stays with its address.
    pub(crate) ids: BTreeMap<IpAddr, u8>,
    /// Subflows that were asked for, and paths on which some failed.
    pub(crate) attempts: Attempts,
    /// Addresses whose path was lost, and until when other paths are preferred.
    pub(crate) avoided: BTreeMap<IpAddr, Nanos>,
}

/// State of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubflowView {
    /// Retransmission timeouts in a row.
    pub(crate) timeouts: u8,
}

impl ConnectionView {
    /// A connection that has just been established.
    pub(crate) fn new(initial: Pair, server_side: bool) -> Self {
        Self {
            server_side,
            initial,
            subflows: BTreeMap::from([(initial, SubflowView::default())]),
            closing: BTreeSet::new(),
            peer_addresses: BTreeMap::new(),
            announced: Vec::new(),
            bytes: 0,
            ids: BTreeMap::new(),
            attempts: Attempts::new(PAUSES),
            avoided: BTreeMap::new(),
        }
    }

    /// Addresses of the peer: that of the initial subflow, then those that it announced.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let initial = self.initial.1;
        let announced = self.peer_addresses.values().copied();
        std::iter::once(initial).chain(announced.filter(move |remote| *remote != initial))
    }

    /// The path of each of its subflows.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> + '_ {
        self.subflows.keys().map(path_of)
    }
}

/// The addresses of a subflow.
pub(crate) fn path_of((local, remote): &Pair) -> Path {
    Path {
        local: local.ip(),
        remote: *remote,
    }
}
