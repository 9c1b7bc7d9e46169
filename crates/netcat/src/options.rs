//! What the command was asked for.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// Above UDP or TCP, or several TCP connections at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Multipath TCP (RFC 8684); TCP where the kernel has none.
    Mptcp,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Protocol {
    /// As messages have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mptcp => "mptcp",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// A family of addresses, where only one is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Family {
    /// IPv4 only.
    #[serde(rename = "4")]
    V4,
    /// IPv6 only.
    #[serde(rename = "6")]
    V6,
}

impl Family {
    /// Whether `address` is of it.
    pub(crate) fn has(self, address: IpAddr) -> bool {
        match self {
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}

/// A path that a subflow shall take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// What the user calls it: `wifi`, an interface, an address.
    pub name: String,
    /// The interface, or an address of this host.
    pub from: String,
    /// Use it only while no other path works.
    pub backup: bool,
}

/// Which subflows a connection shall have besides the one that it begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wishes {
    /// One from every other address that has a route of its own to the peer.
    pub all: bool,
    /// One over each of these.
    pub paths: Vec<Path>,
    /// Open and close them as their addresses come and go.
    pub follow: bool,
}

impl Wishes {
    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.all || self.follow || !self.paths.is_empty()
    }
}

/// The command's options, as one JSON object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// What to speak.
    pub protocol: Protocol,
    /// Whom to connect to; the address to listen at, every one where there is none.
    pub host: Option<String>,
    /// Ports in the order in which they are tried; more than one to scan only.
    pub ports: Vec<u16>,
    /// Wait for connections instead of opening one.
    pub listen: bool,
    /// Listen again after a client.
    pub keep: bool,
    /// Connect, say so, and send nothing.
    pub scan: bool,
    /// Where only one family of addresses is wanted.
    pub family: Option<Family>,
    /// Address to connect from.
    pub source: Option<IpAddr>,
    /// Port to connect from.
    pub source_port: Option<u16>,
    /// How long a connection may take to come about, and how long nothing may move.
    pub timeout_ms: Option<u64>,
    /// Tell what happens.
    pub verbose: bool,
    /// Read standard input.
    pub reads_input: bool,
    /// Shut down the sending side at the end of input.
    pub half_close: bool,
    /// How long to go on after the end of input; without end where there is none.
    pub quit_after_ms: Option<u64>,
    /// The subflows of an MPTCP connection.
    pub subflows: Wishes,
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

    /// Whether an address of the peer may be used.
    pub(crate) fn wants(&self, address: IpAddr) -> bool {
        self.family.is_none_or(|family| family.has(address))
            && self
                .source
                .is_none_or(|source| source.is_ipv4() == address.is_ipv4())
    }
}
