//! Readings of a program's sockets as it connects and closes them.

use socket2::{Protocol, Socket, Type};

use crate::record::Recorder;
use crate::telemetry::accounts::Owner;
use crate::telemetry::{NodeContext, write_final_samples};

/// The receiver of readings of a program's sockets.
#[derive(Clone)]
pub(super) struct Watch {
    pub(super) owner: Owner,
    pub(super) node: NodeContext,
    pub(super) recorder: Recorder,
}

impl Watch {
    /// Notes that the program is about to connect or else to close a socket. Of one that it shares
    /// with another process this may not be the last state.
    pub(super) fn look(&self, socket: &Socket, connects: bool) {
        let accounts = &self.node.accounts;
        let protocol = socket.protocol().ok().flatten();
        let is_mptcp = protocol == Some(Protocol::MPTCP);
        if !is_mptcp && protocol != Some(Protocol::TCP)
            || socket.r#type().ok() != Some(Type::STREAM)
        {
            return;
        }
        let Ok(cookie) = socket.cookie() else { return };
        if connects {
            let t_ns = self.recorder.now();
            return accounts.book(|book| book.connecting(cookie, &self.owner, t_ns));
        }
        let is_bound = || {
            let local = socket
                .local_addr()
                .ok()
                .and_then(|address| address.as_socket());
            local.is_some_and(|address| address.port() != 0)
        };
        if socket.is_listener().unwrap_or(true) || !is_bound() {
            return;
        }
        let Ok(state) = write_final_samples(&self.recorder, &self.node, socket) else {
            return;
        };
        accounts.book(|book| match (state.token, state.pair) {
            (Some(token), _) => book.closing_connection(token, cookie, &self.owner),
            (None, Some(pair)) => book.closing(pair, (!is_mptcp).then_some(cookie), &self.owner),
            (None, None) => {}
        });
    }
}
