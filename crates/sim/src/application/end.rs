//! One end of a connection, and what is spoken on it.

use std::fmt::Debug;
use std::net::SocketAddr;

use bytes::Bytes;
use mptcplab_plan::Way;
use mptcplab_record::{Delivery, Latency};
use mptcplab_stack::endpoint::ConnectionId;
use mptcplab_traffic::{Bin, Content, Deliveries};

use super::failure::Failure;
use crate::Nanos;
use crate::core::Core;

/// What one end of a connection does.
pub(super) trait Role: Debug {
    /// Goes on as far as it can now: the connection has been established, there is something to
    /// read, room to write, or the deadline has come.
    fn go(&mut self, end: &mut End<'_>) -> Result<Progress, Failure>;

    /// When it wants to go on by itself.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    /// What fails where the connection does, in the kernel engine's words.
    fn operation(&self) -> &'static str {
        "receive"
    }

    /// Writes what is left to write: the conversation ends before the role is done.
    fn abandon(&mut self, end: &mut End<'_>) {
        let _ = end;
    }
}

/// How far a role has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits for the connection, or for its deadline.
    Waiting,
    /// It has done its part.
    Done,
}

/// What an end reads.
#[derive(Debug)]
pub(super) enum Input {
    Bytes(Bytes),
    /// The other end sends no more.
    End,
}

/// What the receiver of a transfer got.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) index: u32,
    pub(super) way: Way,
    pub(super) deliveries: Deliveries,
    /// What the transfer carries.
    pub(super) content: Content,
    /// What comes is compared with the content.
    pub(super) is_compared: bool,
}

impl Account {
    pub(super) fn new(index: u32, way: Way, content: Content, is_compared: bool) -> Self {
        Self {
            index,
            way,
            deliveries: Deliveries::default(),
            content,
            is_compared,
        }
    }

    /// Writes the bin that is still open.
    pub(super) fn finish(&mut self, core: &mut Core, traffic: &str) {
        let bin = self.deliveries.finish();
        self.write_bin(core, traffic, bin);
    }

    fn write_bin(&self, core: &mut Core, traffic: &str, bin: Option<Bin>) {
        if let Some(Bin { t_ns, bytes }) = bin {
            let row = Delivery {
                traffic,
                index: self.index,
                way: self.way,
                t_ns,
                bytes,
            };
            core.recorder.write("deliveries", row);
        }
    }
}

/// One end of a connection, while it is spoken on.
pub(super) struct End<'a> {
    pub(super) core: &'a mut Core,
    pub(super) traffic: &'a str,
    pub(super) node: usize,
    pub(super) id: ConnectionId,
    /// The client's address of the server.
    pub(super) target: SocketAddr,
    /// Everything of the other end has come.
    pub(super) has_finished: bool,
    pub(super) account: &'a mut Account,
}

impl End<'_> {
    pub(super) fn now(&self) -> Nanos {
        self.core.now
    }

    /// Reads what there is, at most `most` bytes; `None` where there is nothing yet.
    pub(super) fn read(&mut self, most: usize) -> Option<Input> {
        match self.core.read(self.node, self.id, most) {
            Some(bytes) => Some(Input::Bytes(bytes)),
            None => self.has_finished.then_some(Input::End),
        }
    }

    /// Writes some of `bytes`, as much as there is room for.
    pub(super) fn write(&mut self, bytes: Bytes) -> usize {
        self.core.write(self.node, self.id, bytes)
    }

    /// Nothing more will be written.
    pub(super) fn finish(&mut self) {
        self.core.shutdown(self.node, self.id);
    }

    /// Content of the transfer from `offset` on, at most `limit` bytes.
    pub(super) fn content(&self, offset: u64, limit: u64) -> Bytes {
        self.account.content.from(offset, limit)
    }

    /// Takes payload that has just been received.
    pub(super) fn take(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let account = &mut *self.account;
        let offset = account.deliveries.bytes;
        let bin = account
            .deliveries
            .record(self.core.now, payload.len() as u64);
        account.write_bin(self.core, self.traffic, bin);
        let differs =
            |place: u64| Failure::Other(format!("byte {place} is not the one that was sent"));
        let wrong = account
            .is_compared
            .then(|| account.content.first_difference(offset, payload));
        wrong.flatten().map_or(Ok(()), |place| Err(differs(place)))
    }

    /// Writes a row of `latencies`.
    pub(super) fn write_latency(&mut self, sequence: u32, t_ns: Nanos, rtt_ns: Option<Nanos>) {
        let row = Latency {
            traffic: self.traffic,
            kind: "request_response",
            sequence,
            t_ns,
            rtt_ns,
        };
        self.core.recorder.write("latencies", row);
    }
}

/// Bytes that wait until there is room to write them.
#[derive(Debug, Default)]
pub(super) struct Pending(Bytes);

impl Pending {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// Writes as much as there is room for; says whether that was all.
    pub(super) fn flush(&mut self, end: &mut End<'_>) -> bool {
        if !self.0.is_empty() {
            let taken = end.write(self.0.clone());
            self.0 = self.0.slice(taken..);
        }
        self.0.is_empty()
    }
}
