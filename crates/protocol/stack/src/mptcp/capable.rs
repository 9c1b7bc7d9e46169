//! MP_CAPABLE: the handshake of a connection (RFC 8684, section 3.1).

use mptcplab_wire::Segment;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::{Capable, MptcpOption};

use super::connection::{Change, Connection};
use super::handshake::Mode;
use super::numbers::DataNumbers;
use super::subflow::Stage;
use crate::Nanos;
use crate::event::{Event, SubflowId};

/// MP_CAPABLE of a segment.
fn capable(segment: &Segment) -> Option<&Capable> {
    segment
        .options
        .mptcp
        .iter()
        .find_map(|option| match option {
            MptcpOption::Capable(capable) => Some(capable),
            _ => None,
        })
}

/// Whether MPTCP can be spoken with the sender of this option: version 1, HMAC-SHA256, and no
/// extension, as none is defined.
fn is_spoken(capable: &Capable) -> bool {
    capable.version == 1 && capable.hmac && !capable.extension
}

impl Connection {
    /// Takes the SYN that opened this connection.
    pub(super) fn take_capable_syn(&mut self, syn: &Segment) {
        match capable(syn) {
            Some(capable) if is_spoken(capable) && self.config.enabled => {
                self.counters.capable_syn_received += 1;
                self.handshake.require_checksum(capable.checksum);
                if capable.no_initial_address {
                    self.addresses.deny_first();
                }
            }
            // TCP was asked for, or an MPTCP that is not spoken here: no fallback is told, as none
            // was offered.
            _ => self.handshake.speak_tcp(),
        }
    }

    /// Looks at the segment that ends a handshake before TCP does. False: it is dropped.
    pub(super) fn passes_handshake(&mut self, index: usize, segment: &Segment) -> bool {
        let subflow = &self.subflows[index];
        let ends = segment.flags.ack && !segment.flags.syn && !segment.flags.rst;
        if subflow.stage != Stage::Opening || subflow.initiated_here || !ends {
            return true;
        }
        if !subflow.is_first() {
            return self.passes_join(index, segment);
        }
        // Data that overtook the keys: TCP will bring it again, after them.
        let overtook = segment
            .options
            .mptcp
            .iter()
            .any(|option| matches!(option, MptcpOption::Dss(_)));
        self.handshake.is_fallback() || capable(segment).is_some() || !overtook
    }

    /// Follows the complete handshake of a subflow's TCP.
    pub(super) fn on_established(&mut self, now: Nanos, index: usize, segment: &Segment) {
        let subflow = &self.subflows[index];
        match (subflow.is_first(), subflow.initiated_here) {
            (true, true) => self.on_first_syn_ack(segment),
            (true, false) => self.on_first_ack(segment),
            (false, true) => self.on_join_syn_ack(now, index, segment),
            (false, false) => {
                self.subflows[index].request_ack();
                self.on_subflow_ready(now, index);
            }
        }
    }

    /// Takes the SYN/ACK of MP_CAPABLE.
    fn on_first_syn_ack(&mut self, segment: &Segment) {
        self.event(Event::Connected { id: self.id });
        let key = capable(segment)
            .filter(|capable| is_spoken(capable) && self.subflows[0].syns > 0)
            .and_then(|capable| capable.sender_key.map(|key| (*capable, Key(key))));
        match key {
            Some((capable, key)) => {
                self.counters.capable_syn_ack_received += 1;
                self.handshake.require_checksum(capable.checksum);
                if capable.no_initial_address {
                    self.addresses.deny_first();
                }
                self.speak(key);
            }
            // As Linux: `net.mptcp.syn_retrans_before_tcp_fallback` SYNs more than the first.
            None if self.subflows[0].syns > self.config.syns_before_fallback => {
                self.counters.capable_syn_dropped += 1;
                self.fall_back("SYNs with MP_CAPABLE had no answer");
            }
            None => {
                self.counters.fallback_syn_ack += 1;
                self.fall_back("the SYN/ACK had no MP_CAPABLE option");
            }
        }
        self.become_ready();
        self.tell_first_subflow();
    }

    /// Takes the third ACK of MP_CAPABLE, or the data that stands for it.
    fn on_first_ack(&mut self, segment: &Segment) {
        self.event(Event::Accepted {
            port: self.tuple.local.port(),
            id: self.id,
        });
        if self.handshake.mode() == Mode::Opening {
            let keys = capable(segment).filter(|capable| {
                is_spoken(capable) && capable.receiver_key == Some(self.handshake.local_key().0)
            });
            match keys.and_then(|capable| capable.sender_key) {
                Some(key) => {
                    self.counters.capable_ack_received += 1;
                    self.speak(Key(key));
                    self.confirm();
                }
                None => {
                    self.counters.fallback_ack += 1;
                    self.fall_back("the third ACK had no MP_CAPABLE option");
                }
            }
        }
        self.become_ready();
        self.tell_first_subflow();
    }

    fn become_ready(&mut self) {
        let first = &mut self.subflows[0];
        first.stage = Stage::Established;
        self.counters.established = u32::from(!self.sender.is_shut());
        let window = first.tcp.send_window_bytes();
        self.sender.open_window(window);
    }

    fn tell_first_subflow(&mut self) {
        self.event(Event::SubflowEstablished {
            id: self.id,
            subflow: SubflowId(0),
            tuple: self.tuple,
            initiated_here: self.initiated_here,
        });
        if self.handshake.is_confirmed() {
            self.addresses.want_paths();
        }
    }

    /// Speaks MPTCP, as both keys are known.
    fn speak(&mut self, key: Key) {
        self.handshake.speak_multipath(key);
        self.receiver
            .set_numbers(DataNumbers::new(key.initial_data_sequence()));
        self.subflows[0].tcp.share_window(true);
    }

    /// Lets joins and announcements follow, as the peer has shown that it has the keys.
    pub(super) fn confirm(&mut self) {
        self.addresses.want_paths();
        self.changes
            .extend(self.handshake.confirm().map(Change::Join));
    }
}
