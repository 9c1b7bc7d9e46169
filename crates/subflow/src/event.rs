//! What happens to the subflows of one connection.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use mptcplab_kernel::event::{self, Event};
use serde::{Deserialize, Serialize};

use crate::error::reset_reason;
use crate::own;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The connection was opened; its handshake is not complete.
    Created,
    /// The connection is established.
    Established,
    /// The connection is closed. Nothing follows.
    Closed,
    /// The peer announced an address (ADD_ADDR).
    AddressAnnounced,
    /// The peer withdrew an address (REMOVE_ADDR).
    AddressRemoved,
    /// An additional subflow is established.
    SubflowEstablished,
    /// A subflow is closed, or could not be opened.
    SubflowClosed,
    /// The peer changed a subflow's priority (MP_PRIO).
    PriorityChanged,
}

/// Something that happened to one connection. What is not known is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubflowEvent {
    /// What happened.
    pub kind: EventKind,
    /// Id of the subflow that it happened to.
    pub subflow: Option<u32>,
    /// The subflow's address and port.
    pub local: Option<SocketAddr>,
    /// The peer's, or the announced address; where no port was announced it has that of the
    /// connection.
    pub remote: Option<SocketAddr>,
    /// Id of the local address.
    pub local_id: Option<u8>,
    /// Id of the remote, announced or withdrawn address.
    pub remote_id: Option<u8>,
    /// The subflow is a backup, for one of the two ends.
    pub backup: Option<bool>,
    /// Why the subflow closed, where it was not in order.
    pub reason: Option<String>,
}

/// Ids of the subflows of one connection by their addresses, those that have gone included.
#[derive(Debug, Default)]
pub struct Names(HashMap<(SocketAddr, SocketAddr), u32>);

impl Names {
    /// Of those that a connection has now.
    pub fn of(socket: impl AsFd) -> Self {
        let mut names = Self::default();
        names.learn(socket);
        names
    }

    fn learn(&mut self, socket: impl AsFd) {
        if let Ok(connection) = own::connection(socket) {
            let named = connection.subflows.iter();
            self.0
                .extend(named.map(|one| ((one.local, one.remote), one.id)));
        }
    }

    /// What the kernel told, for the connection's owner; `socket` tells the ids.
    pub fn tell(&mut self, event: &Event, socket: impl AsFd) -> SubflowEvent {
        self.learn(socket);
        let is_subflow = event.local.is_some();
        let pair = event.local.zip(event.remote);
        SubflowEvent {
            kind: match event.kind {
                event::EventKind::Created => EventKind::Created,
                event::EventKind::Established => EventKind::Established,
                event::EventKind::Closed => EventKind::Closed,
                event::EventKind::Announced => EventKind::AddressAnnounced,
                event::EventKind::Removed => EventKind::AddressRemoved,
                event::EventKind::SubflowEstablished => EventKind::SubflowEstablished,
                event::EventKind::SubflowClosed => EventKind::SubflowClosed,
                event::EventKind::SubflowPriority => EventKind::PriorityChanged,
            },
            subflow: pair.and_then(|pair| self.0.get(&pair).copied()),
            local: event.local,
            remote: event.remote,
            local_id: event.local_id.filter(|_| is_subflow),
            remote_id: event.remote_id,
            backup: event.backup,
            reason: reason(event),
        }
    }
}

/// Why a subflow closed: what the peer said, else what its socket says.
pub(crate) fn reason(event: &Event) -> Option<String> {
    let said = event
        .reset_reason
        .map(|reason| reset_reason(reason).to_owned());
    let error = event.error.filter(|&error| error != 0);
    said.or_else(|| error.map(|error| io::Error::from_raw_os_error(error.into()).to_string()))
}
