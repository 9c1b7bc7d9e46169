//! Opening connections and subflows (RFC 8684, sections 3.1 and 3.2).

use mptcplab_wire::Segment;
use mptcplab_wire::keys::{Key, join_hmac, join_hmac_in_ack, join_hmac_in_syn_ack};
use mptcplab_wire::option::{Capable, Join, MptcpOption};

use super::connection::{Change, Connection, Mode};
use super::numbers::DataNumbers;
use super::signals::{self, reason};
use super::subflow::Stage;
use crate::Nanos;
use crate::endpoint::{Event, SubflowId};

/// First pause before the third ACK of a join is sent again; doubled each time.
const JOIN_ACK_NS: Nanos = 1_000_000_000;

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
/// extension that nobody has defined.
fn is_spoken(capable: &Capable) -> bool {
    capable.version == 1 && capable.hmac && !capable.extension
}

fn join_ack(segment: &Segment) -> Option<[u8; 20]> {
    segment
        .options
        .mptcp
        .iter()
        .find_map(|option| match option {
            MptcpOption::Join(Join::Ack { hmac }) => Some(*hmac),
            _ => None,
        })
}

impl Connection {
    /// The SYN that opened this connection.
    pub(super) fn take_capable_syn(&mut self, syn: &Segment) {
        match capable(syn) {
            Some(capable) if is_spoken(capable) && self.config.enabled => {
                self.counters.capable_syn_received += 1;
                self.checksum |= capable.checksum;
                if capable.no_initial_address {
                    self.addresses.deny_first();
                }
            }
            // TCP was asked for, or an MPTCP that is not spoken here: no fallback is told, as none
            // was offered.
            _ => self.mode = Mode::Fallback,
        }
    }

    /// Looks at the segment that ends a handshake before TCP does. False: it is dropped.
    pub(super) fn passes_handshake(&mut self, index: usize, segment: &Segment) -> bool {
        let subflow = &self.subflows[index];
        let ends = segment.flags.ack && !segment.flags.syn && !segment.flags.rst;
        if subflow.stage != Stage::Opening || subflow.initiated_here || !ends {
            return true;
        }
        if subflow.is_first() {
            // Data that overtook the keys: TCP will bring it again, after them.
            let overtook = segment
                .options
                .mptcp
                .iter()
                .any(|option| matches!(option, MptcpOption::Dss(_)));
            return self.mode == Mode::Fallback || capable(segment).is_some() || !overtook;
        }
        // TCP answers what anybody could have sent.
        if !subflow.tcp.would_establish(segment) {
            return true;
        }
        self.counters.join_ack_received += 1;
        let expected = self.remote_key.map(|remote| {
            let hmac = join_hmac(remote, self.local_key, subflow.peer_nonce, subflow.nonce);
            join_hmac_in_ack(&hmac)
        });
        let genuine = expected.is_some() && join_ack(segment) == expected;
        if genuine && self.wants_subflow(index) {
            return true;
        }
        if genuine {
            self.counters.join_rejected += 1;
        } else {
            self.counters.join_ack_hmac_failures += 1;
        }
        let subflow = &mut self.subflows[index];
        subflow.signals.reset = Some(signals::reset(reason::PROHIBITED, false));
        subflow.closing = true;
        subflow.pending = true;
        subflow.tcp.abort();
        false
    }

    /// An application that has written all it will has no use for a further subflow, where there
    /// is one to bring it over. (Linux takes none at all then: `mptcp_can_accept_new_subflow`.)
    fn wants_subflow(&self, index: usize) -> bool {
        let mut others = (0..self.subflows.len()).filter(|place| *place != index);
        !self.sender.is_shut()
            || !others.any(|other| {
                let other = &self.subflows[other];
                other.may_send() && !other.tcp.is_timed_out()
            })
    }

    /// The handshake of a subflow's TCP is complete.
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

    /// The SYN/ACK of MP_CAPABLE.
    fn on_first_syn_ack(&mut self, segment: &Segment) {
        self.event(Event::Connected { id: self.id });
        let key = capable(segment)
            .filter(|capable| is_spoken(capable) && self.subflows[0].syns > 0)
            .and_then(|capable| capable.sender_key.map(|key| (*capable, Key(key))));
        match key {
            Some((capable, key)) => {
                self.counters.capable_syn_ack_received += 1;
                self.checksum |= capable.checksum;
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

    /// The third ACK of MP_CAPABLE, or the data that stands for it.
    fn on_first_ack(&mut self, segment: &Segment) {
        self.event(Event::Accepted {
            port: self.tuple.local.port(),
            id: self.id,
        });
        if self.mode == Mode::Opening {
            let keys = capable(segment).filter(|capable| {
                is_spoken(capable) && capable.receiver_key == Some(self.local_key.0)
            });
            match keys.and_then(|capable| capable.sender_key) {
                Some(key) => {
                    self.counters.capable_ack_received += 1;
                    self.speak(Key(key));
                    self.confirmed = true;
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
        self.counters.established = u64::from(!self.sender.is_shut());
        let window = first.tcp.send_window_bytes();
        self.sender.open_window(window);
        self.sum_send_buffers();
    }

    fn tell_first_subflow(&mut self) {
        self.event(Event::SubflowEstablished {
            id: self.id,
            subflow: SubflowId(0),
            tuple: self.tuple,
            initiated_here: self.initiated_here,
        });
        if self.confirmed {
            self.want_paths = true;
        }
    }

    /// Both keys are known: MPTCP is spoken.
    fn speak(&mut self, key: Key) {
        self.remote_key = Some(key);
        self.mode = Mode::Multipath;
        self.receiver
            .set_numbers(DataNumbers::new(key.initial_data_sequence()));
        self.subflows[0].tcp.share_window(true);
    }

    /// The peer has shown that it has the keys.
    pub(super) fn confirm(&mut self, _now: Nanos) {
        self.confirmed = true;
        self.want_paths = true;
        self.changes
            .extend(self.ordered.drain(..).map(Change::Join));
    }

    /// The SYN/ACK of a join.
    fn on_join_syn_ack(&mut self, now: Nanos, index: usize, segment: &Segment) {
        let join = segment
            .options
            .mptcp
            .iter()
            .find_map(|option| match option {
                MptcpOption::Join(Join::SynAck {
                    backup,
                    address_id,
                    hmac,
                    nonce,
                }) => Some((*backup, *address_id, *hmac, *nonce)),
                _ => None,
            });
        let (Some((backup, address_id, hmac, nonce)), Some(remote)) = (join, self.remote_key)
        else {
            self.reset_subflow(now, index, reason::MPTCP_ERROR);
            return;
        };
        if self.failed.is_some() {
            // The peer is becoming TCP, which a further subflow would prevent.
            self.reset_subflow(now, index, reason::PROHIBITED);
            return;
        }
        self.counters.join_syn_ack_received += 1;
        self.counters.join_backup_syn_ack_received += u64::from(backup);
        let subflow = &mut self.subflows[index];
        let expected = join_hmac(remote, self.local_key, nonce, subflow.nonce);
        if join_hmac_in_syn_ack(&expected) != hmac {
            self.counters.join_syn_ack_hmac_failures += 1;
            self.reset_subflow(now, index, reason::MPTCP_ERROR);
            return;
        }
        subflow.peer_nonce = nonce;
        subflow.backup_for_peer = backup;
        subflow.remote_id = address_id;
        subflow.stage = Stage::PreEstablished;
        subflow.join_timer = Some((now + JOIN_ACK_NS, 2 * JOIN_ACK_NS));
        // With the third ACK the peer may divide its data among the subflows.
        self.linear = false;
    }

    /// Any acceptable segment with an option of MPTCP after the third ACK shows that the peer got
    /// it.
    pub(super) fn leave_pre_established(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        // The SYN/ACK itself brought it there.
        let answered = subflow.join_ack_sent;
        if subflow.stage == Stage::PreEstablished && answered {
            subflow.join_timer = None;
            self.on_subflow_ready(now, index);
        }
    }

    /// The third ACK of a join is sent again.
    pub(super) fn repeat_join(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        let Some((_, pause)) = subflow.join_timer else {
            return;
        };
        if subflow.stage != Stage::PreEstablished || subflow.is_over() {
            subflow.join_timer = None;
            return;
        }
        if pause > 32 * JOIN_ACK_NS {
            self.reset_subflow(now, index, reason::UNSPECIFIED);
            return;
        }
        subflow.join_timer = Some((now + pause, 2 * pause));
        subflow.request_ack();
    }

    /// A joined subflow can carry data.
    fn on_subflow_ready(&mut self, now: Nanos, index: usize) {
        self.linear = false;
        self.fail_no_longer(now);
        let subflow = &mut self.subflows[index];
        subflow.stage = Stage::Established;
        let (tuple, initiated_here) = (subflow.tcp.tuple(), subflow.initiated_here);
        let id = SubflowId(subflow.id);
        self.sum_send_buffers();
        self.addresses.works(&tuple);
        self.given_up_at = None;
        self.event(Event::SubflowEstablished {
            id: self.id,
            subflow: id,
            tuple,
            initiated_here,
        });
        self.reschedule = true;
        self.want_paths = true;
        // What failed while there was no other way has one now.
        for other in 0..self.subflows.len() {
            if self.subflows[other].tcp.is_timed_out() {
                self.on_subflow_timeout(other);
            }
        }
    }
}
