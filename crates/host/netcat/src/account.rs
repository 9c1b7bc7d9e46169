//! The account of a connection that has ended: what was carried, and over which subflows.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Serialize;

use crate::failure::Failure;

/// Bytes and time of a connection that has ended, and its result.
#[derive(Debug)]
pub(crate) struct Transfer {
    /// Bytes handed to the kernel.
    pub(crate) sent: u64,
    /// Bytes written to standard output.
    pub(crate) received: u64,
    /// From the first to the last of it.
    pub(crate) lasted: Duration,
    /// Success, or the failure that ended it.
    pub(crate) result: Result<(), Failure>,
}

/// The subflows of a connection that has ended.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct SubflowAccount {
    /// Why the connection is not MPTCP; `None` where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plain: Option<String>,
    /// In the order of their ids.
    pub(crate) subflows: Vec<Subflow>,
}

/// One subflow of the account.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Subflow {
    /// Its id in the connection.
    pub(crate) id: u32,
    /// The user's name of its path.
    pub(crate) path: Option<String>,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// When it was first seen, after the connection was there.
    pub(crate) seen_s: f64,
    /// Payload, retransmissions left out.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Its share of the bytes of all subflows, 0 to 1; `None` where there were none.
    pub(crate) share: Option<f64>,
    /// Smoothed round-trip time.
    pub(crate) rtt_us: Option<u32>,
    /// `open`, or `closed` before the connection was.
    pub(crate) state: &'static str,
    /// Why it closed.
    pub(crate) reason: Option<String>,
    /// The figures are those of its whole life.
    pub(crate) complete: bool,
}

impl SubflowAccount {
    /// Marks the subflows as incomplete where their sums are below what the connection carried: the
    /// kernel forgot one of them before its last reading, and it is unknown which.
    pub(crate) fn compare(&mut self, sent: u64, received: u64) {
        let sums = self.subflows.iter().fold((0, 0), |(out, into), one| {
            (out + one.bytes_sent, into + one.bytes_received)
        });
        if sums.0 < sent || sums.1 < received {
            self.subflows
                .iter_mut()
                .for_each(|one| one.complete = false);
        }
    }
}
