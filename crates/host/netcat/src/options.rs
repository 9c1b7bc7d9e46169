//! The command's options.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Multipath TCP (RFC 8684); TCP where the kernel has none.
    Mptcp,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Protocol {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mptcp => "mptcp",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

impl Family {
    /// Tells whether `address` is of this family.
    pub(crate) fn has(self, address: IpAddr) -> bool {
        match self {
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}

/// A path for a subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The user's name of it: `wifi`, an interface, an address.
    pub name: String,
    /// The interface, or an address of this host.
    pub from: String,
    /// Used only while no other path works.
    pub backup: bool,
}

/// The subflows of a connection besides the initial one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubflowOptions {
    /// One from every other address that has a route of its own to the peer.
    pub all: bool,
    /// One over each of these.
    pub paths: Vec<Path>,
    /// Open and close them as their addresses come and go.
    pub follow: bool,
}

impl SubflowOptions {
    /// Tells whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.all || self.follow || !self.paths.is_empty()
    }
}

/// The command's options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Transport protocol.
    pub protocol: Protocol,
    /// Host to connect to; address to listen at, every one where there is none.
    pub host: Option<String>,
    /// Ports in the order in which they are tried; more than one to scan only.
    pub ports: Vec<u16>,
    /// Wait for connections instead of opening one.
    pub listen: bool,
    /// Listen again after a client.
    pub keep: bool,
    /// Connect, say so, and send nothing.
    pub scan: bool,
    /// Restricts addresses to one family.
    pub family: Option<Family>,
    /// Address to connect from.
    pub source: Option<IpAddr>,
    /// Port to connect from.
    pub source_port: Option<u16>,
    /// Timeout of connecting, and of a connection on which nothing moves.
    pub timeout_ms: Option<u64>,
    /// Print more messages.
    pub verbose: bool,
    /// Read standard input.
    pub reads_input: bool,
    /// Shut down the sending side at the end of input.
    pub half_close: bool,
    /// Time until the end after EOF on input; without end where there is none.
    pub quit_after_ms: Option<u64>,
    /// The subflows of an MPTCP connection.
    pub subflows: SubflowOptions,
    /// Write the account to standard error, as one JSON object.
    pub json: bool,
    /// Write the account to this file, as one JSON object.
    pub json_file: Option<PathBuf>,
}

impl Options {
    /// [`Options::timeout_ms`] as a duration.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }

    /// [`Options::quit_after_ms`] as a duration.
    pub(crate) fn quit_after(&self) -> Option<Duration> {
        self.quit_after_ms.map(Duration::from_millis)
    }

    /// Tells whether an address of the peer may be used.
    pub(crate) fn wants(&self, address: IpAddr) -> bool {
        self.family.is_none_or(|family| family.has(address))
            && self
                .source
                .is_none_or(|source| source.is_ipv4() == address.is_ipv4())
    }
}
