//! Connections of MPTCP that go on as TCP: their SYNs lose MP_CAPABLE on their way.
//!
//! Only the controller can take it out, as a switch of OpenFlow 1.3 changes no options. A SYN that is
//! sent again when the rules are there meets them, and keeps it. That does no harm: where the first one
//! has arrived, the server stays with what it has answered; where that was lost, the answer has MP_CAPABLE,
//! and the connection is one of MPTCP, which the controller sees by that.

use super::waiting::Received;
use crate::controller::Controller;
use crate::events::Event;
use crate::frame::without_capable;
use crate::subflows::Flow;

impl Received {
    /// A SYN without MP_CAPABLE, not that of the switch's buffer; `None` where it has none, or is an
    /// unusual one.
    pub(super) fn without_capable(&self) -> Option<Self> {
        Some(Self {
            buffer: None,
            data: without_capable(&self.data)?,
            ..*self
        })
    }
}

impl Controller {
    /// Whether a connection that is opened may be one of TCP in place of MPTCP. Sizes that are only
    /// learned are not enough: other hosts make them, and there is no way back to MPTCP.
    pub(super) fn may_fall_back(&self, flow: &Flow) -> bool {
        self.config.tcp_fallback && self.sizes.is_told(flow.server())
    }

    /// Has the SYNs of a connection go on without MP_CAPABLE. It counts as one of MPTCP until an answer
    /// without the option has come.
    pub(super) fn fall_back(&mut self, number: u64, flow: Flow) {
        if let Some(connection) = self.table.connection_mut(number) {
            connection.falls_back = true;
        }
        self.note(Event::FallsBack {
            connection: number,
            flow,
        });
    }

    /// A packet of a known subflow as it goes on: a SYN that is sent again as the first one.
    pub(super) fn as_sent_on(&self, number: u64, packet: Received) -> Received {
        let subflow = self.table.subflow(number);
        let connection = subflow.and_then(|subflow| self.table.connection(subflow.connection));
        match connection.filter(|connection| connection.falls_back) {
            Some(_) => packet.without_capable().unwrap_or(packet),
            None => packet,
        }
    }
}
