//! Counters and backlog of a link.

use serde::{Deserialize, Serialize};

/// Fates of the packets of one direction so far. Bytes are those of IP packets.
///
/// At any time, with [`Backlog`]: offered + duplicated = delivered + dropped (all four) + queued +
/// in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets offered, those refused included.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets handed out by [`Link::poll`](crate::Link::poll), copies included.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped on arrival by a limit of the queue.
    pub dropped_queue: u64,
    /// Packets dropped by the queue discipline.
    pub dropped_aqm: u64,
    /// Packets lost after serialisation.
    pub dropped_loss: u64,
    /// Packets dropped because the direction was or went down.
    pub dropped_down: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Packets held back; one with its copy counts once.
    pub reordered: u64,
}

/// Where the packets of one direction are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Packets that wait for the serialiser.
    pub queued_packets: u64,
    /// Bytes of these IP packets.
    pub queued_bytes: u64,
    /// Packets in serialisation (one at most) or on their way.
    pub in_flight_packets: u64,
}
