//! One end of a connection, and the role that it plays.

use std::fmt::Debug;
use std::net::SocketAddr;

use bytes::Bytes;
use dyn_clone::DynClone;
use mptcplab_plan::{Protocol, Way};
use mptcplab_record::{Delivery, Frame, Latency};
use mptcplab_stack::ConnectionId;
use mptcplab_traffic::{Bin, Content, Deliveries};

use crate::Nanos;
use crate::network::Network;
use mptcplab_traffic::Failure;

/// The protocol logic of one end of a connection.
pub(super) trait Role: Debug + DynClone + Send + Sync {
    /// Advances as far as possible: the connection has been established, there is data to read or
    /// room to write, or the deadline has come.
    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure>;

    /// The time at which it advances by itself.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    /// Whether its program has nothing to do before the other end has spoken.
    fn listens(&self) -> bool {
        false
    }

    /// Whether its program still sleeps until something comes, once payload has come.
    fn sleeps(&self, _: Protocol) -> bool {
        false
    }

    /// The operation that fails with the connection, in the kernel engine's words.
    fn operation(&self) -> &'static str {
        "receive"
    }

    /// Writes its last rows where the conversation ends before the role is done.
    fn abandon(&mut self, end: &mut End<'_>) {
        let _ = end;
    }
}

dyn_clone::clone_trait_object!(Role);

/// The progress of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits for the connection, or for its deadline.
    Waiting,
    /// It goes on in the next call of the system that its program makes.
    NextCall,
    /// It is done.
    Done,
}

/// The result of reading.
#[derive(Debug)]
pub(super) enum Input {
    Bytes(Bytes),
    /// The other end sends no more.
    End,
}

/// The account of a transfer's receiver.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) index: u32,
    pub(super) way: Way,
    pub(super) deliveries: Deliveries,
    /// Payload of the transfer.
    pub(super) content: Content,
    /// Received bytes are compared with the content.
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
    pub(super) fn finish(&mut self, network: &mut Network, traffic: &str) {
        let bin = self.deliveries.finish();
        self.write_bin(network, traffic, bin);
    }

    fn write_bin(&self, network: &mut Network, traffic: &str, bin: Option<Bin>) {
        if let Some(Bin { t_ns, bytes }) = bin {
            let row = Delivery {
                traffic,
                index: self.index,
                way: self.way,
                t_ns,
                bytes,
            };
            network.recorder.write(row);
        }
    }
}

/// One end of a connection while its role advances.
pub(super) struct End<'a> {
    pub(super) network: &'a mut Network,
    pub(super) traffic: &'a str,
    pub(super) node: usize,
    pub(super) id: ConnectionId,
    /// The client's address of the server.
    pub(super) target: SocketAddr,
    /// Everything from the other end has been received.
    pub(super) has_finished: bool,
    pub(super) account: &'a mut Account,
}

impl End<'_> {
    pub(super) fn now(&self) -> Nanos {
        self.network.now
    }

    /// Reads at most `most` bytes; `None` where there are none yet.
    pub(super) fn read(&mut self, most: usize) -> Option<Input> {
        match self.network.read(self.node, self.id, most) {
            Some(bytes) => Some(Input::Bytes(bytes)),
            None => self.has_finished.then_some(Input::End),
        }
    }

    /// Writes some of `bytes`, as much as there is room for.
    pub(super) fn write(&mut self, bytes: Bytes) -> usize {
        self.network.write(self.node, self.id, bytes)
    }

    /// Closes the sending direction.
    pub(super) fn finish(&mut self) {
        self.network.shutdown(self.node, self.id);
    }

    /// Content of the transfer from `offset` on, at most `limit` bytes.
    pub(super) fn content(&self, offset: u64, limit: u64) -> Bytes {
        self.account.content.from(offset, limit)
    }

    /// Accounts for payload that has just been received.
    pub(super) fn take(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let account = &mut *self.account;
        let offset = account.deliveries.bytes;
        let bin = account
            .deliveries
            .record(self.network.now, payload.len() as u64);
        account.write_bin(self.network, self.traffic, bin);
        match account.is_compared {
            true => account.content.check(offset, payload),
            false => Ok(()),
        }
    }

    /// Writes a row of a frame that was made at a time and has just been received.
    pub(super) fn write_frame(&mut self, sequence: u64, t_ns: Nanos) {
        let row = Frame {
            traffic: self.traffic,
            way: self.account.way,
            sequence,
            t_ns,
            delay_ns: self.network.now - t_ns,
        };
        self.network.recorder.write(row);
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
        self.network.recorder.write(row);
    }
}

/// Bytes that wait until there is room to write them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending(Bytes);

impl Pending {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// Whether all has been written.
    pub(super) fn is_written(&self) -> bool {
        self.0.is_empty()
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
