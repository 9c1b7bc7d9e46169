//! Links and the middleboxes in them.

use std::net::IpAddr;

use mptcplab_link::LinkConfig;
use serde::{Deserialize, Serialize};

/// A link between two interfaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name, unique in the plan.
    pub name: String,
    /// Its two ends; direction 0 carries packets from `ends[0]` to `ends[1]`.
    pub ends: [InterfaceRef; 2],
    /// Parameters of the link model.
    pub config: LinkConfig,
    /// Let the hosts hand over large segments (TSO): for fast links.
    pub offload: bool,
    /// Middleboxes in the link, in the order in which a packet of direction 0 meets them, after its
    /// propagation.
    #[serde(default)]
    pub middleboxes: Vec<Middlebox>,
}

/// A box in a link that interferes with packets beyond what a link does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Middlebox {
    /// Translates addresses and ports (RFC 4787: endpoint-independent mapping, address- and
    /// port-dependent filtering).
    Nat {
        /// The end of the link (0 or 1) whose node is behind it.
        inside: usize,
        /// Its outer address; nodes outside reach it over this link.
        address: IpAddr,
    },
    /// Replaces TCP options by padding.
    StripOptions {
        /// Option kinds; 30 is MPTCP.
        kinds: Vec<u8>,
        /// MPTCP subtypes to strip where 30 is among the kinds; all where empty.
        #[serde(default)]
        mptcp_subtypes: Vec<u8>,
        /// From which segments.
        on: SegmentKind,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Cuts segments with more payload into several, and copies the options to each.
    Split {
        /// Largest payload that passes, bytes.
        payload_bytes: u32,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Joins consecutive segments of a connection, keeping the options of the first.
    Coalesce {
        /// Largest payload of a joined segment, bytes.
        payload_bytes: u32,
        /// Longest wait for a next segment.
        hold_ns: u64,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Acknowledges data in the receiver's name, and sends it again itself when it is lost
    /// behind the box.
    ProxyAck {
        /// The end of the link (0 or 1) towards the sender whose data it acknowledges.
        sender: usize,
    },
    /// Drops segments that carry a TCP option that a firewall of 1999 does not know: any but end,
    /// padding, MSS, window scale, SACK and timestamps.
    DropUnknownOptions {
        /// Of which segments.
        on: SegmentKind,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Takes the payload out of SYNs.
    DropSynData {
        /// Drops such a SYN as a whole.
        segment: bool,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Changes a byte of the payload and corrects the TCP checksum, as an application-level gateway
    /// does.
    ChangePayload {
        /// Probability for each segment with payload.
        probability: f64,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
    /// Flips a bit of a packet and corrects no checksum.
    Corrupt {
        /// Probability for each packet.
        probability: f64,
        /// Its direction; both where `None`.
        direction: Option<usize>,
    },
}

/// A class of segments of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// Neither SYN nor payload.
    Ack,
    /// With payload.
    Data,
    /// Any.
    All,
}

/// An interface of a node, by indices into the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceRef {
    /// Index into [`Plan::nodes`].
    pub node: usize,
    /// Index into [`Node::interfaces`].
    pub interface: usize,
}
