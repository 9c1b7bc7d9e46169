//! Events of connections, for the applications of a host.

use core::net::{IpAddr, SocketAddr};

use crate::tcp::{CloseReason, FourTuple};

/// Id of a connection of a host. Ids are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// Id of a subflow of a connection, counted from 0, the first one. Ids are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubflowId(pub u32);

/// Something that happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection that was opened here is established.
    Connected {
        /// The connection.
        id: ConnectionId,
    },
    /// A peer opened a connection to a listening port.
    Accepted {
        /// The listening port.
        port: u16,
        /// The new connection.
        id: ConnectionId,
    },
    /// There is data to read. Told again only after a read found none.
    Readable {
        /// The connection.
        id: ConnectionId,
    },
    /// There is room again after a write that was not taken in full.
    Writable {
        /// The connection.
        id: ConnectionId,
    },
    /// The peer sends no more; what stands ready can still be read.
    Finished {
        /// The connection.
        id: ConnectionId,
    },
    /// The connection is gone. Data that stands ready can be read until it is released.
    Closed {
        /// The connection.
        id: ConnectionId,
        /// Why.
        reason: CloseReason,
    },
    /// A subflow is established, the first one included. The end that opened a further one hears of
    /// it at the SYN/ACK, and sends data on it once the peer has answered the third ACK.
    SubflowEstablished {
        /// The connection.
        id: ConnectionId,
        /// The subflow.
        subflow: SubflowId,
        /// Its addresses.
        tuple: FourTuple,
        /// This end opened it.
        initiated_here: bool,
    },
    /// A subflow is gone.
    SubflowClosed {
        /// The connection.
        id: ConnectionId,
        /// The subflow.
        subflow: SubflowId,
        /// Why.
        reason: CloseReason,
    },
    /// The peer announced an address.
    AddressAnnounced {
        /// The connection.
        id: ConnectionId,
        /// Its id.
        address_id: u8,
        /// The address, and the port where the peer named one.
        address: SocketAddr,
    },
    /// The peer withdrew an address.
    AddressRemoved {
        /// The connection.
        id: ConnectionId,
        /// Its id.
        address_id: u8,
        /// The address, where it was known.
        address: Option<IpAddr>,
    },
    /// Multipath TCP was asked for, and TCP is spoken.
    Fallback {
        /// The connection.
        id: ConnectionId,
        /// Why, in a few words.
        reason: &'static str,
    },
}
