//! The next packet to leave, of whichever subflow.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use mptcplab_wire::Packet;

use super::connection::Connection;
use super::handshake::Mode;
use super::option_writer::{OptionWriter, Spoken};
use super::subflow::Subflow;
use crate::Nanos;
use crate::tcp::OutgoingSegment;

impl Connection {
    /// The next segment to send, as a packet; written in a box of the pool, where it has one.
    pub(crate) fn transmit(
        &mut self,
        now: Nanos,
        hop_limit: u8,
        packet_pool: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        let (index, outgoing) = self.next_segment(now)?;
        Some(self.write_packet(now, index, outgoing, hop_limit, packet_pool.pop_back()))
    }

    /// The next segment to send, and the index of its subflow.
    fn next_segment(&mut self, now: Nanos) -> Option<(usize, OutgoingSegment)> {
        loop {
            for index in 0..self.subflows.len() {
                if !self.subflows[index].pending {
                    continue;
                }
                let subflow = &mut self.subflows[index];
                if let Some(outgoing) = subflow.tcp.next_segment(now) {
                    if subflow.tcp.take_widened() {
                        self.sum_send_buffers(None);
                        self.offer_room();
                    }
                    return Some((index, outgoing));
                }
                subflow.pending = false;
            }
            if !self.scheduling.take_request() || !self.schedule(now) {
                break;
            }
        }
        if self.subflows.iter().any(Subflow::is_gone) {
            self.forget_gone();
        }
        None
    }

    /// The packet of what a subflow is to send.
    fn write_packet(
        &mut self,
        now: Nanos,
        index: usize,
        outgoing: OutgoingSegment,
        hop_limit: u8,
        reused: Option<Box<Packet>>,
    ) -> Box<Packet> {
        let subflow = &mut self.subflows[index];
        let spoken = match self.handshake.mode() {
            Mode::Fallback => Spoken::Tcp,
            Mode::Multipath if self.handshake.is_confirmed() => Spoken::Multipath,
            _ => Spoken::Unconfirmed,
        };
        // Data that waits for the infinite mapping takes room that the data level does not count.
        let held_bytes = if self.fallback.awaits_infinite_mapping() {
            subflow.mappings.pending_bytes() as u64
        } else {
            0
        };
        let waiting = subflow.signals.len();
        let mut writer = OptionWriter {
            local_key: self.handshake.local_key(),
            remote_key: self.handshake.remote_key(),
            spoken,
            checksum: self.handshake.checksum(),
            deny_join_initial_address: self.config.deny_join_initial_address,
            short_numbers: self.config.short_numbers,
            acknowledgement: self.receiver.acknowledgement(),
            long_ack_bytes: self.long_acks.then(|| subflow.tcp.segment_bytes()),
            window: self.receiver.window(held_bytes),
            fin: self.sender.fin_to_signal(),
            first: subflow.id == 0,
            initiated_here: subflow.initiated_here,
            stage: subflow.stage,
            local: subflow.local,
            signals: &mut subflow.signals,
            syns: &mut subflow.syns,
            capable_syns: self.config.syns_before_fallback,
            fallback: &mut self.fallback,
            join: &mut subflow.join,
            advertised: false,
            reset_left: false,
        };
        let segment = subflow.tcp.write(now, outgoing, &mut writer);
        let OptionWriter {
            advertised,
            reset_left,
            ..
        } = writer;
        if advertised {
            let window_bytes = subflow.tcp.advertised_window_bytes();
            self.receiver.advertised(window_bytes);
        }
        // Signals that had no room, beside data or another option, go with an acknowledgement.
        // Those that an acknowledgement of their own could not carry wait.
        let left = subflow.signals.len();
        if left > 0 && (left < waiting || !segment.payload.is_empty()) {
            subflow.tcp.request_ack();
        }
        if reset_left {
            self.count_reset(&segment);
        }
        segment.into_boxed_packet(hop_limit, reused)
    }
}
