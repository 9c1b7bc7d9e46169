//! MP_CAPABLE (RFC 8684, section 3.1; RFC 6824, section 3.1 for version 0).

use mptcplab_wire::option::Capable;

use super::registry::{Registry, Seen};
use super::subflow::Phase;

impl Registry {
    /// An option of MPTCP after the handshake: it was not in vain.
    pub(super) fn confirm(&mut self, seen: Seen) {
        let connection = self.connection(seen);
        if !connection.confirmed && connection.fallback.is_none() && !seen.segment.flags.rst {
            connection.confirmed = true;
            self.meet(seen.index);
        }
    }

    /// MP_CAPABLE, of the first subflow only.
    pub(super) fn take_capable(&mut self, seen: Seen, capable: &Capable) {
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
                self.learn_keys(seen, capable);
                self.confirm(seen);
            }
        }
    }
}
