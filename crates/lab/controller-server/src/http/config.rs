//! The setting up of the API.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

/// The API over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// Address and port at which it is served.
    pub listen: SocketAddr,
    /// It is served by TLS with these; without, by plain TCP, on the loopback alone.
    #[serde(default)]
    pub tls: Option<HttpTls>,
    /// A file with the token that each request must have; needed beyond the loopback.
    #[serde(default)]
    pub token: Option<PathBuf>,
    /// Charts for the page; without, it has drawings and tables alone.
    #[serde(default)]
    pub charts: Option<PageParts>,
    /// Bounds of what peers can take.
    #[serde(default)]
    pub limits: HttpLimits,
}

/// The parts of a page that draw its charts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageParts {
    /// The text of the script, all of it.
    pub script: String,
    /// The text of the style sheet of what the script makes.
    pub style: String,
}

/// Files of TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpTls {
    /// The certificate that peers are shown, with those between it and its authority.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Bounds of what peers of the API can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpLimits {
    /// Connections. Where there are more, the oldest is closed.
    pub peers: usize,
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Time in which a request is to come, the handshake of TLS included, ms.
    pub request_ms: u64,
    /// Time in which its answer is to be read, ms.
    pub answer_ms: u64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            peers: 32,
            request_bytes: 8 << 10,
            request_ms: 10_000,
            answer_ms: 30_000,
        }
    }
}
