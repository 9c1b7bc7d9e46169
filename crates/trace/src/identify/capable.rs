//! MP_CAPABLE (RFC 8684, section 3.1; RFC 6824, section 3.1 for version 0).

use mptcplab_wire::option::Capable;

use super::registry::{Registry, Seen};
use super::subflow::Phase;
use crate::{Event, Side};

impl Registry {
    /// Confirms the connection as one of MPTCP: an option came after the handshake, be it in an
    /// RST.
    pub(super) fn confirm(&mut self, seen: Seen) {
        let connection = self.connection(seen);
        if !connection.confirmed && connection.fallback.is_none() {
            connection.confirmed = true;
            self.index_addresses(seen.index);
        }
    }

    /// Takes a MP_CAPABLE, of the first subflow only.
    pub(super) fn take_capable(&mut self, seen: Seen, capable: &Capable, events: &mut Vec<Event>) {
        let flags = seen.segment.flags;
        if self.subflow(seen).join {
            return;
        }
        let phase = self.subflow(seen).phase;
        let from = seen.from;
        let connection = self.connection(seen);
        let checksums = connection.checksums.unwrap_or(false) || capable.checksum;
        connection.checksums = Some(checksums);
        match (flags.syn, flags.ack) {
            (true, false) => {
                connection.offered = true;
                connection.version.get_or_insert(capable.version);
                // Of version 0. It names nothing before the connection is accepted.
                connection.keys[from] = connection.keys[from].or(capable.sender_key);
            }
            (true, true) if phase == Phase::SynAck && !connection.accepted => {
                connection.accepted = true;
                connection.version = Some(capable.version);
                self.learn_keys(seen, capable);
            }
            (true, true) => {}
            (false, _) => {
                if !connection.accepted && !connection.confirmed {
                    connection.version = Some(capable.version);
                }
                self.report_changed_keys(seen, capable, events);
                self.learn_keys(seen, capable);
                self.confirm(seen);
            }
        }
    }

    /// Adds an event where the third ACK, or its retransmission, has another key of an end than the
    /// one that came first, which stays.
    fn report_changed_keys(&self, seen: Seen, capable: &Capable, events: &mut Vec<Event>) {
        let known = &self.connections[seen.connection as usize].keys;
        let new = [
            (seen.from, capable.sender_key),
            (seen.from.other(), capable.receiver_key),
        ];
        for (side, new) in new {
            if let (Some(known), Some(new)) = (known[side], new)
                && known != new
            {
                let of = match side {
                    Side::Client => "client",
                    Side::Server => "server",
                };
                let text = format!("key of the {of} {new:#018x}, before it was {known:#018x}");
                self.report(seen, "key_changed", text, events);
            }
        }
    }
}
