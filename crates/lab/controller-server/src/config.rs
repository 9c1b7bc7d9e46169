//! The setting up of a server, as JSON has it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mptcplab_controller::{PortRef, TransferSize};
use serde::{Deserialize, Serialize};

use crate::error::StartError;
use crate::http::HttpConfig;

/// Half intervals of discovery in which links are found after a switch has connected, before a port may
/// be one of hosts. A switch may lose the first frames, to entries that it kept from before it had
/// rules.
const SETTLE_HALVES: u64 = 5;

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address and port at which switches connect.
    pub listen: SocketAddr,
    /// Switches connect by TLS with these; without, by plain TCP.
    pub tls: Option<TlsFiles>,
    /// Whether plain TCP is served beyond the loopback, too.
    #[serde(default)]
    pub plain_tcp: bool,
    /// The name of the policy.
    pub policy: String,
    /// Rates of links that are not the speeds of their ports.
    #[serde(default)]
    pub link_rates: Vec<LinkRate>,
    /// Sizes of transfers known beforehand.
    #[serde(default)]
    pub sizes: Vec<Size>,
    /// Whether the sizes of other transfers are learned.
    #[serde(default)]
    pub learn_sizes: bool,
    /// Whether the policy may have a connection of MPTCP whose size was told be one of TCP.
    #[serde(default)]
    pub tcp_fallback: bool,
    /// Time between two frames by which links are found and missed, ns; `None`: a second.
    #[serde(default)]
    pub link_probe_ns: Option<u64>,
    /// Bounds of what switches can take.
    #[serde(default)]
    pub limits: Limits,
    /// The API over HTTP, if it is served.
    #[serde(default)]
    pub http: Option<HttpConfig>,
}

/// Files of TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The authority that has signed the switches' certificates.
    pub ca: PathBuf,
    /// The certificate that switches are shown, with those between it and its authority.
    pub cert: PathBuf,
    /// Its key; without, it stands in the file of the certificate.
    pub key: Option<PathBuf>,
}

/// The rate of a link, or of a host's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRate {
    /// The number of a switch's datapath.
    pub datapath: u64,
    /// The number of its port at the link.
    pub port: u32,
    /// The rate of both directions, bit/s.
    pub bits_per_second: u64,
}

/// The size of the transfers of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Address and port of the server.
    pub server: SocketAddr,
    /// Bytes of each transfer.
    pub bytes: u64,
}

/// Bounds of what switches, and others that connect, can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections. Where there are more, the address with the most of them loses one; of its
    /// own address a new one is closed at once, unless one has no features or is idle.
    pub connections: usize,
    /// Connections that have not said their features. Where there are more, the address with the
    /// most of them loses its oldest.
    pub unknown: usize,
    /// Time in which a connection is to say its features, the handshake of TLS included, ms.
    pub unknown_ms: u64,
    /// Bytes of a message from a switch.
    pub message_bytes: u16,
    /// Bytes that wait until a switch reads them.
    pub unread_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            unknown: 512,
            unknown_ms: 10_000,
            message_bytes: u16::MAX,
            unread_bytes: 8 << 20,
        }
    }
}

impl Limits {
    pub(crate) fn unknown_time(&self) -> Duration {
        Duration::from_millis(self.unknown_ms)
    }
}

impl Config {
    /// Reads JSON.
    ///
    /// # Errors
    ///
    /// Text that is no configuration.
    pub fn parse(json: &str) -> Result<Self, StartError> {
        serde_json::from_str(json).map_err(|error| StartError::Config(error.to_string()))
    }

    /// The controller's part, with a new key for frames of discovery and a new seed.
    pub(crate) fn controller(&self) -> Result<mptcplab_controller::Config, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        let base = mptcplab_controller::Config::default();
        let interval_ns = self.link_probe_ns;
        let discovery_interval_ns = interval_ns.unwrap_or(base.discovery_interval_ns);
        let rates = self.link_rates.iter();
        let sizes = self.sizes.iter();
        Ok(mptcplab_controller::Config {
            key,
            seed: getrandom::u64()?,
            link_rates_bps: rates
                .map(|rate| (PortRef::new(rate.datapath, rate.port), rate.bits_per_second))
                .collect(),
            sizes: sizes
                .map(|size| TransferSize {
                    server: size.server.ip(),
                    port: size.server.port(),
                    bytes: size.bytes,
                })
                .collect(),
            learn_sizes: self.learn_sizes,
            tcp_fallback: self.tcp_fallback,
            is_master: true,
            settle_ns: SETTLE_HALVES * discovery_interval_ns / 2,
            discovery_interval_ns,
            ..base
        })
    }
}
