//! MP_JOIN, both sides: opening and accepting a further subflow, the HMACs by which both ends show
//! that they have the keys, and the third ACK (RFC 8684, section 3.2).

use alloc::sync::Arc;

use mptcplab_wire::keys::{Key, join_hmac, join_hmac_in_ack, join_hmac_in_syn_ack};
use mptcplab_wire::option::{Join, MptcpOption};
use mptcplab_wire::{Options, Segment};

use super::ack_length::dss_bytes;
use super::connection::Connection;
use super::option_writer::OptionWriter;
use super::signals::{self, reason};
use super::subflow::{JoinEnd, Stage};
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::path_manager;
use crate::tcp::{Carrier, FourTuple, Tcp, TcpConfig};

/// First pause before the third ACK of a join is sent again; doubled each time.
const JOIN_ACK_NS: Nanos = 1_000_000_000;

/// Handshake of a further subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinHandshake {
    /// Random numbers: this end's and the peer's.
    nonce: u32,
    peer_nonce: u32,
    /// When the third ACK is sent again, and the time between (RFC 8684, section 3.2).
    timer: Option<(Nanos, Nanos)>,
    /// The third ACK was sent.
    ack_sent: bool,
    /// The flag `backup` of the local address, when the handshake began.
    address_was_backup: bool,
}

impl JoinHandshake {
    /// When the third ACK is sent again.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.timer.map(|(at, _)| at)
    }

    /// HMAC that the other end shows: it is keyed by that end's key first (section 3.2).
    fn peer_hmac(&self, peer: Key, own: Key) -> [u8; 32] {
        join_hmac(peer, own, self.peer_nonce, self.nonce)
    }

    /// HMAC that this end shows.
    fn own_hmac(&self, own: Key, peer: Key) -> [u8; 32] {
        join_hmac(own, peer, self.nonce, self.peer_nonce)
    }
}

/// HMAC of the third ACK of a join.
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
    /// Opens a subflow that [`Change::Join`](super::Change::Join) asked for.
    pub(crate) fn join(
        &mut self,
        now: Nanos,
        join: path_manager::Join,
        tuple: FourTuple,
        initial: u32,
        nonce: u32,
    ) -> SubflowId {
        let (config, reserve_bytes) = self.join_config(&tuple);
        let tcp = Tcp::connect(now, &config, reserve_bytes, tuple, initial);
        let subflow = self.subflows.join(tcp, true);
        subflow.local = JoinEnd {
            address_id: self.addresses.local_id(tuple.local.ip()),
            backup: join.backup,
        };
        subflow.remote.address_id = self.addresses.remote_id(tuple.remote).unwrap_or(0);
        subflow.join.nonce = nonce;
        subflow.join.address_was_backup = self.addresses.is_backup(tuple.local.ip());
        self.counters.join_syn_sent += 1;
        self.addresses.attempts.answered(tuple.path());
        SubflowId(subflow.id)
    }

    /// Settings of a further subflow's TCP, and the room that it leaves for options: its address may
    /// have an MTU of its own.
    fn join_config(&self, tuple: &FourTuple) -> (Arc<TcpConfig>, u32) {
        let mut config = Arc::clone(&self.tcp);
        let mss = self.addresses.mss(tuple.local.ip(), config.mss);
        if mss != config.mss {
            Arc::make_mut(&mut config).mss = mss;
        }
        (config, dss_bytes(self.long_acks))
    }

    /// Answers the SYN of a MP_JOIN that names this connection's token. `Err` is the option of the
    /// RST that refuses it.
    pub(crate) fn accept_join(
        &mut self,
        now: Nanos,
        tuple: FourTuple,
        syn: &Segment,
        initial: u32,
        nonce: u32,
    ) -> Result<SubflowId, MptcpOption> {
        self.counters.join_syn_received += 1;
        let join = syn.options.mptcp.iter().find_map(|option| match option {
            MptcpOption::Join(Join::Syn {
                backup,
                address_id,
                nonce,
                ..
            }) => Some((*backup, *address_id, *nonce)),
            _ => None,
        });
        let ready = self.handshake.is_multipath() && self.handshake.remote_key().is_some();
        let Some((backup, address_id, peer_nonce)) = join.filter(|_| ready && !self.is_closing())
        else {
            return Err(signals::reset(reason::MPTCP_ERROR, false));
        };
        if self.subflows.additional() >= self.config.limits.subflows {
            self.counters.join_rejected += 1;
            return Err(signals::reset(reason::PROHIBITED, true));
        }
        self.counters.join_backup_syn_received += u32::from(backup);
        let (config, reserve_bytes) = self.join_config(&tuple);
        let tcp = Tcp::accept(now, &config, reserve_bytes, tuple, initial, syn);
        let subflow = self.subflows.join(tcp, false);
        subflow.local = JoinEnd {
            address_id: self.addresses.local_id(tuple.local.ip()),
            backup: self.addresses.is_backup(tuple.local.ip()),
        };
        subflow.remote = JoinEnd { address_id, backup };
        subflow.join.nonce = nonce;
        subflow.join.peer_nonce = peer_nonce;
        subflow.join.address_was_backup = subflow.local.backup;
        Ok(SubflowId(subflow.id))
    }

    /// Takes the SYN/ACK of a join: its HMAC shows that the peer has the keys.
    pub(super) fn on_join_syn_ack(&mut self, now: Nanos, index: usize, segment: &Segment) {
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
        let (Some((backup, address_id, hmac, nonce)), Some(remote)) =
            (join, self.handshake.remote_key())
        else {
            self.reset_subflow(now, index, reason::MPTCP_ERROR);
            return;
        };
        if self.fallback.awaits_infinite_mapping() {
            // The peer is becoming TCP, which a further subflow would prevent.
            self.reset_subflow(now, index, reason::PROHIBITED);
            return;
        }
        self.counters.join_syn_ack_received += 1;
        self.counters.join_backup_syn_ack_received += u32::from(backup);
        let subflow = &mut self.subflows[index];
        subflow.join.peer_nonce = nonce;
        let expected = subflow.join.peer_hmac(remote, self.handshake.local_key());
        if join_hmac_in_syn_ack(&expected) != hmac {
            self.counters.join_syn_ack_hmac_failures += 1;
            self.reset_subflow(now, index, reason::MPTCP_ERROR);
            return;
        }
        subflow.remote = JoinEnd { address_id, backup };
        subflow.stage = Stage::PreEstablished;
        subflow.join.timer = Some((now + JOIN_ACK_NS, 2 * JOIN_ACK_NS));
        // With the third ACK the peer may divide its data among the subflows.
        self.fallback.keep_linear(false);
        self.tell_established(index);
    }

    /// Looks at the third ACK of a MP_JOIN before TCP does: its HMAC shows that the peer has the
    /// keys. False: it is dropped, and the subflow reset.
    pub(super) fn passes_join(&mut self, index: usize, segment: &Segment) -> bool {
        let subflow = &self.subflows[index];
        // TCP answers a segment that is not of this subflow's handshake, which any host could send.
        if !subflow.tcp.would_establish(segment) {
            return true;
        }
        self.counters.join_ack_received += 1;
        let expected = self.handshake.remote_key().map(|remote| {
            let hmac = subflow.join.peer_hmac(remote, self.handshake.local_key());
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
        subflow.end.close();
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

    /// Any acceptable segment with an option of MPTCP after the third ACK shows that the peer got
    /// it.
    pub(super) fn leave_pre_established(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        // The SYN/ACK itself brought it there.
        let answered = subflow.join.ack_sent;
        if subflow.stage == Stage::PreEstablished && answered {
            subflow.join.timer = None;
            self.on_subflow_ready(now, index);
        }
    }

    /// Sends the third ACK of a join again.
    pub(super) fn repeat_join(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        let Some((_, pause)) = subflow.join.timer else {
            return;
        };
        if subflow.stage != Stage::PreEstablished || subflow.is_over() {
            subflow.join.timer = None;
            return;
        }
        if pause > 32 * JOIN_ACK_NS {
            self.reset_subflow(now, index, reason::UNSPECIFIED);
            return;
        }
        subflow.join.timer = Some((now + pause, 2 * pause));
        subflow.request_ack();
    }

    /// Uses a joined subflow for data.
    pub(super) fn on_subflow_ready(&mut self, now: Nanos, index: usize) {
        self.fallback.keep_linear(false);
        self.fail_no_longer(now);
        let subflow = &mut self.subflows[index];
        subflow.stage = Stage::Established;
        let (tuple, initiated_here) = (subflow.tcp.tuple(), subflow.initiated_here);
        let id = subflow.id;
        self.sum_send_buffers(Some(id));
        self.addresses.attempts.works(tuple.path());
        self.lifetime.keep();
        if !initiated_here {
            self.tell_established(index);
        }
        self.follow_backup_flag(index);
        self.scheduling.request();
        self.addresses.want_paths();
    }

    /// Gives a joined subflow the flag `backup` of its local address, where that has changed since
    /// the handshake began.
    fn follow_backup_flag(&mut self, index: usize) {
        let subflow = &self.subflows[index];
        let backup = self.addresses.is_backup(subflow.tcp.tuple().local.ip());
        if backup != subflow.join.address_was_backup {
            self.set_backup(SubflowId(subflow.id), backup);
        }
    }

    /// Tells of a joined subflow: the end that opened it when the SYN/ACK has shown the peer's keys,
    /// the other at the third ACK, as Linux does (`mptcp_finish_join`, net/mptcp/protocol.c of
    /// 6.18).
    fn tell_established(&mut self, index: usize) {
        let subflow = &self.subflows[index];
        self.event(Event::SubflowEstablished {
            id: self.id,
            subflow: SubflowId(subflow.id),
            tuple: subflow.tcp.tuple(),
            initiated_here: subflow.initiated_here,
        });
    }
}

impl OptionWriter<'_> {
    /// Adds MP_JOIN to a segment of the handshake, and the usual options to others.
    pub(super) fn join_options(
        &mut self,
        carrier: Carrier,
        room_bytes: usize,
        options: &mut Options,
    ) {
        let Some(remote_key) = self.remote_key else {
            return;
        };
        let hmac = || self.join.own_hmac(self.local_key, remote_key);
        let join = match carrier {
            Carrier::Syn => Join::Syn {
                backup: self.local.backup,
                address_id: self.local.address_id,
                token: remote_key.token(),
                nonce: self.join.nonce,
            },
            Carrier::SynAck => Join::SynAck {
                backup: self.local.backup,
                address_id: self.local.address_id,
                hmac: join_hmac_in_syn_ack(&hmac()),
                nonce: self.join.nonce,
            },
            Carrier::HandshakeAck | Carrier::Ack if self.stage == Stage::PreEstablished => {
                let hmac = join_hmac_in_ack(&hmac());
                self.join.ack_sent = true;
                Join::Ack { hmac }
            }
            _ => return self.data_options(carrier, room_bytes, options),
        };
        options.mptcp.push(MptcpOption::Join(join));
    }
}
