//! Reports of a server: what happens to channels, and the events of the controller.

use std::net::SocketAddr;
use std::{fmt, io};

use mptcplab_controller::Event;
use mptcplab_openflow::DecodeError;

/// Something that happened. A channel is a connection of a switch, by a number that no other one has
/// at the time.
#[derive(Debug)]
pub enum Report {
    /// The server listens.
    Listening {
        /// The address.
        address: SocketAddr,
        /// Whether switches connect by TLS.
        is_tls: bool,
        /// The name of the policy.
        policy: String,
    },
    /// The API is served.
    ListeningHttp {
        /// The address.
        address: SocketAddr,
        /// Whether it is served by TLS.
        is_tls: bool,
    },
    /// A connection was accepted.
    Opened {
        /// The channel.
        channel: u32,
        /// The address of the other end.
        peer: SocketAddr,
    },
    /// A switch has said its features.
    Features {
        /// The channel.
        channel: u32,
        /// The number of the switch's datapath.
        datapath: u64,
    },
    /// A channel has ended.
    Ended {
        /// The channel.
        channel: u32,
        /// The reason.
        reason: Ended,
    },
    /// Connections cannot be accepted, or are closed at once.
    NotAccepted(io::Error),
    /// An event of the controller.
    Event(Event),
}

/// The reason why a channel has ended.
#[derive(Debug)]
pub enum Ended {
    /// The switch has closed it.
    ByPeer,
    /// The controller has closed it: another version of OpenFlow, a datapath that has a channel
    /// already, too many switches, or no answer.
    ByController,
    /// The switch has not said its features in time.
    NoFeatures,
    /// Too many others have not said their features either.
    Crowded,
    /// Another one took its place, as there are too many.
    NoRoom,
    /// The switch does not read what it is sent.
    NotRead,
    /// Bytes have come that are no OpenFlow.
    Malformed(DecodeError),
    /// The connection or TLS has failed.
    Failed(io::Error),
    /// The server ends.
    Stopped,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByPeer => f.write_str("closed by the switch"),
            Self::ByController => f.write_str("closed by the controller"),
            Self::NoFeatures => f.write_str("no features in time"),
            Self::Crowded => f.write_str("too many without features"),
            Self::NoRoom => f.write_str("another one took its place"),
            Self::NotRead => f.write_str("the switch does not read"),
            Self::Malformed(error) => error.fmt(f),
            Self::Failed(error) => error.fmt(f),
            Self::Stopped => f.write_str("the controller ends"),
        }
    }
}
