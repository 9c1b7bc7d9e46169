//! Events of the subflows of one connection.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use mptcplab_linux::event::{self, Event};
use serde::{Deserialize, Serialize};

use crate::error::reset_reason;
use crate::own::{self, Connection};

/// Kind of an event.
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
///
/// A broker, which watches for another process, cannot tell the subflow's id: it must not keep the
/// socket, or the connection would not end when its program closes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubflowEvent {
    /// Kind of an event.
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
    /// The peer wants the subflow to be used as a backup.
    pub backup: Option<bool>,
    /// Why the subflow closed, where it was not by FIN.
    pub reason: Option<String>,
}

impl SubflowEvent {
    /// The kernel's event, without the subflow's id.
    pub fn of(event: &Event) -> Self {
        let is_subflow = event.local.is_some();
        Self {
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
            subflow: None,
            local: event.local,
            remote: event.remote,
            local_id: event.local_id.filter(|_| is_subflow),
            remote_id: event.remote_id,
            backup: event.backup,
            reason: reason(event),
        }
    }
}

/// Ids of the subflows of one connection by their addresses, those that have gone included.
pub(crate) struct Names {
    socket: RawFd,
    token: u32,
    ids: HashMap<(SocketAddr, SocketAddr), u32>,
}

impl Names {
    /// For a connection that is watched by its owner, which may close the socket at any time.
    pub(crate) fn of(socket: BorrowedFd<'_>, connection: &Connection) -> Self {
        let mut names = Self {
            socket: socket.as_raw_fd(),
            token: connection.token,
            ids: HashMap::new(),
        };
        names.learn(connection);
        names
    }

    fn learn(&mut self, connection: &Connection) {
        let named = connection.subflows.iter();
        self.ids
            .extend(named.map(|one| ((one.local, one.remote), one.id)));
    }

    /// Gives an event the id of its subflow.
    pub(crate) fn name(&mut self, mut event: SubflowEvent) -> SubflowEvent {
        // The descriptor may be that of something else by now; the token tells.
        match own::connection(Descriptor(self.socket)) {
            Ok(connection) if connection.token == self.token => self.learn(&connection),
            _ => {}
        }
        let pair = event.local.zip(event.remote);
        event.subflow = pair.and_then(|pair| self.ids.get(&pair).copied());
        event
    }
}

/// The number of a descriptor, open or not.
struct Descriptor(RawFd);

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the number was that of an open descriptor, so it is not -1. It is given to
        // getsockopt(2) and getpeername(2) only, which change nothing of whatever it stands for, and
        // fail where it stands for nothing.
        unsafe { BorrowedFd::borrow_raw(self.0) }
    }
}

/// Gives why a subflow closed: the peer's reason, else the socket's error.
pub(crate) fn reason(event: &Event) -> Option<String> {
    let said = event
        .reset_reason
        .map(|reason| reset_reason(reason).to_owned());
    let error = event.error.filter(|&error| error != 0);
    said.or_else(|| error.map(|error| io::Error::from_raw_os_error(error.into()).to_string()))
}
