//! Place of a segment.

/// An end of a connection. The client is the end that opened it: of a subflow too, whichever end
/// opened that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Opened the connection.
    Client,
    /// Was connected to.
    Server,
}

impl Side {
    /// Returns the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Place of a segment: connection, subflow and sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the connection, from 0 in the order in which they became known. The tables have
    /// others where that is not the order of first packets.
    pub connection: u32,
    /// Number of the subflow in its connection, from 0 in the order of first packets.
    pub subflow: u32,
    /// End that sent it.
    pub from: Side,
}
