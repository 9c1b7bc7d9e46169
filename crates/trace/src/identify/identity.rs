//! Identities of connections and subflows: the columns of the tables that identification fills.

use std::net::SocketAddr;

use super::connection::Connection;
use super::fallback::Fallback;
use super::flow::PENDING;
use super::keys;
use super::registry::Registry;
use crate::{Ends, Nanos, Side};

/// Identity of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionIdentity {
    /// It was one of MPTCP, if only for a time. A connection that fell back in its handshake was
    /// not.
    pub mptcp: bool,
    /// Version of MPTCP, also of a connection that only tried it. `None`: it never tried, or the
    /// version does not follow from the captured packets.
    pub version: Option<u8>,
    /// Addresses and ports of the first subflow.
    pub ends: Ends<SocketAddr>,
    /// Key that each end sent.
    pub keys: Ends<Option<u64>>,
    /// Token of that key, by which the other end's MP_JOIN names the connection.
    pub tokens: Ends<Option<u32>>,
    /// Initial data sequence number that follows from that key.
    pub initial_data_sequences: Ends<Option<u64>>,
    /// Data is checksummed, as one end or both required in the handshake.
    pub checksums: Option<bool>,
    /// The handshake was not captured.
    pub inferred: bool,
    /// When the first packet was captured.
    pub start: Nanos,
    /// Why and when it went on as TCP.
    pub fallback: Option<(Fallback, Nanos)>,
    /// Subflows in the order of their numbers.
    pub subflows: Vec<SubflowIdentity>,
}

/// Identity of a subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubflowIdentity {
    /// It was added to the connection.
    pub join: bool,
    /// End that opened it.
    pub opener: Side,
    /// It was opened to an address that was announced by ADD_ADDR before.
    pub announced: bool,
    /// Its handshake was not captured, or its connection was found by other means than its token.
    pub inferred: bool,
    /// Addresses and ports.
    pub ends: Ends<SocketAddr>,
    /// Ids of these addresses, from the handshake; 0 of the first subflow.
    pub address_ids: Ends<Option<u8>>,
    /// Backup flag that each end set, by the handshake and MP_PRIO.
    pub backup: Ends<Option<bool>>,
    /// How often that changed.
    pub priority_changes: u32,
    /// HMACs of the handshake are right; `None`: keys are not known, or none was seen.
    pub hmac_valid: Option<bool>,
    /// When the first packet was captured.
    pub start: Nanos,
    /// When the third ACK was captured.
    pub established: Option<Nanos>,
    /// Time from SYN to third ACK, which is a round trip wherever the capture was made; `None` also
    /// where SYN or SYN/ACK were sent again.
    pub handshake_rtt: Option<Nanos>,
    /// Reason in MP_TCPRST (RFC 8684, section 3.6).
    pub reset_reason: Option<u8>,
}

impl Registry {
    /// Iterates over all connections, in the order in which they became known.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionIdentity> {
        (0..self.connections.len() as u32).map(|connection| self.connection_identity(connection))
    }

    /// Returns the identity of a connection, as the places of segments name it.
    ///
    /// # Panics
    /// Where no place names it.
    pub fn connection_identity(&self, connection: u32) -> ConnectionIdentity {
        let connection = &self.connections[connection as usize];
        let mptcp = connection.is_mptcp();
        let sequence = |side| {
            let version = connection.version?;
            Some(keys::initial_data_sequence(version, connection.keys[side]?))
        };
        ConnectionIdentity {
            mptcp,
            version: connection.version,
            ends: self.ends(connection.first),
            keys: connection.keys,
            tokens: connection.tokens,
            initial_data_sequences: Ends::of(sequence),
            checksums: connection.checksums,
            inferred: connection.inferred,
            start: connection.start,
            fallback: connection.fallback,
            subflows: self
                .indices(connection)
                .map(|index| self.subflow_identity(index, mptcp))
                .collect(),
        }
    }

    fn subflow_identity(&self, index: u32, mptcp: bool) -> SubflowIdentity {
        let subflow = &self.subflows[index as usize];
        let hmacs = [subflow.hmac_valid.client, subflow.hmac_valid.server];
        SubflowIdentity {
            join: subflow.join,
            opener: subflow.opener,
            announced: subflow.announced,
            inferred: subflow.inferred,
            ends: self.ends(index),
            address_ids: Ends::of(|side| subflow.address_ids[side].filter(|_| mptcp)),
            backup: Ends::of(|side| subflow.backup[side].filter(|_| mptcp)),
            priority_changes: subflow.priority_changes,
            hmac_valid: hmacs
                .into_iter()
                .flatten()
                .reduce(|one, other| one && other),
            start: subflow.start,
            established: subflow.established,
            handshake_rtt: subflow
                .established
                .zip(subflow.syn_at.filter(|_| !subflow.repeated))
                .map(|(established, syn)| established.saturating_sub(syn)),
            reset_reason: subflow.reset_reason,
        }
    }

    /// Iterates over the indices of a connection's subflows, in their order.
    pub(super) fn indices(&self, connection: &Connection) -> impl Iterator<Item = u32> {
        let existing = |index| (index != PENDING).then_some(index);
        std::iter::successors(existing(connection.first), move |&index| {
            existing(self.subflows[index as usize].following)
        })
    }

    /// Returns addresses and ports of a flow.
    pub(super) fn ends(&self, index: u32) -> Ends<SocketAddr> {
        let flow = &self.flows[index as usize];
        Ends::of(|side| flow.key.end(flow.side(true) == side))
    }
}
