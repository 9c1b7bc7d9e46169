//! One end of a conversation, and its program.

use mptcplab_stack::ConnectionId;

use super::end::Role;
use crate::Nanos;
use crate::network::Network;

/// Index of the client's end; the server's is the other.
pub(super) const CLIENT: usize = 0;
pub(super) const SERVER: usize = 1;

/// The state of one end.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) node: usize,
    /// Its connection, once there is one.
    pub(super) id: Option<ConnectionId>,
    pub(super) role: Box<dyn Role>,
    /// Its role does not advance until it is resumed.
    pub(super) is_paused: bool,
    pub(super) is_established: bool,
    pub(super) has_finished: bool,
    pub(super) is_done: bool,
    /// It was told that it is done.
    told_done: bool,
    /// When its program is awake.
    pub(super) awake_at: Option<Nanos>,
    /// Its program has been awake before.
    pub(super) has_run: bool,
    /// When each additional subflow of its connection was established.
    pub(super) joined_ns: Vec<Nanos>,
}

impl Side {
    pub(super) fn new(node: usize, role: Box<dyn Role>) -> Self {
        Self {
            node,
            id: None,
            role,
            is_paused: false,
            is_established: false,
            has_finished: false,
            is_done: false,
            told_done: false,
            awake_at: None,
            has_run: false,
            joined_ns: Vec::new(),
        }
    }

    /// Lets its program run until it acts.
    pub(super) fn run_until(&mut self, network: &mut Network, at: Nanos) {
        self.awake_at = Some(at);
        network.keep_busy(self.node, at);
    }

    /// Whether it is done; once.
    pub(super) fn take_done_news(&mut self) -> bool {
        self.is_done && !std::mem::replace(&mut self.told_done, true)
    }
}
