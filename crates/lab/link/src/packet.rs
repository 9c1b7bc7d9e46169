//! A packet on its way through the stages of a link.

/// A packet as the stages know it.
#[derive(Clone, Debug)]
pub(crate) struct Packet<T> {
    /// Rank among all packets that the link has taken; a copy has that of its original.
    pub(crate) rank: u64,
    /// Size of the IP packet.
    pub(crate) ip_bytes: u32,
    /// The packet that the caller offered.
    pub(crate) payload: T,
}
