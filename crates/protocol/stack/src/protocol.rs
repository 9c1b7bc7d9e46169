//! Transports of a socket.

/// Transport to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Plain TCP.
    #[default]
    Tcp,
    /// Multipath TCP, or TCP where the peer or the path does not want it.
    Mptcp,
}
