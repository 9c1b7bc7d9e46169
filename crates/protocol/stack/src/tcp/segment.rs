//! Segments as they leave: header fields and options, and what leaving means for the receiver's
//! side of the connection.

use mptcplab_wire::{Flags, MAX_OPTION_BYTES, Options, Segment};

use super::Tcp;
use super::extension::{Carrier, Extension};
use super::outgoing_segment::OutgoingSegment;
use super::timers::Timer;
use crate::Nanos;

/// Option bytes of a selective acknowledgement with `blocks` blocks, padded.
const fn sack_bytes(blocks: usize) -> usize {
    4 + 8 * blocks
}

impl Tcp {
    /// The segment as it leaves.
    pub(crate) fn write(
        &mut self,
        now: Nanos,
        outgoing: OutgoingSegment,
        extension: &mut impl Extension,
    ) -> Segment {
        match outgoing.carrier {
            Carrier::Syn | Carrier::SynAck => self.write_syn(now, outgoing.carrier, extension),
            Carrier::Reset => self.write_reset(now, extension),
            _ => self.write_synchronised(now, outgoing, extension),
        }
    }

    /// A segment of a synchronised connection, with the ACK that every segment carries.
    fn write_synchronised(
        &mut self,
        now: Nanos,
        outgoing: OutgoingSegment,
        extension: &mut impl Extension,
    ) -> Segment {
        let mut flags = Flags {
            ack: true,
            psh: outgoing.ends_push(self.snd.has_queued()),
            fin: outgoing.fin,
            ..Flags::default()
        };
        let ecn = self.ecn.mark(&mut flags, outgoing.new_data);
        let mut segment = Segment {
            source: self.tuple.local,
            destination: self.tuple.remote,
            sequence: self.snd.wire(outgoing.offset),
            acknowledgement: self.receiver.wire(self.receiver.next()),
            flags,
            window: self.offer(extension),
            urgent: 0,
            options: Options {
                timestamps: self.options.timestamps(now),
                ..Options::default()
            },
            ecn,
            payload: outgoing.payload,
        };
        let room = MAX_OPTION_BYTES - self.options.timestamps_bytes();
        extension.options(outgoing.carrier, room, &mut segment.options);
        if self.options.sack() && self.receiver.has_sack_blocks() {
            self.add_sack(&mut segment.options);
        }
        self.due.ack = false;
        self.due.handshake_ack = false;
        self.timers.clear(Timer::DelayedAck);
        self.timers.clear(Timer::CompressedAck);
        self.receiver.on_ack_sent();
        segment
    }

    /// Lets the owner add options.
    pub(super) fn extend(
        &self,
        carrier: Carrier,
        extension: &mut impl Extension,
        options: &mut Options,
    ) {
        let room = MAX_OPTION_BYTES.saturating_sub(options.encoded_bytes());
        extension.options(carrier, room, options);
    }

    fn add_sack(&mut self, options: &mut Options) {
        let room = MAX_OPTION_BYTES.saturating_sub(options.encoded_bytes());
        let count = (1..=4)
            .rev()
            .find(|&blocks| sack_bytes(blocks) <= room)
            .unwrap_or(0);
        options.sack.extend(self.receiver.sack_blocks(count));
    }

    /// The window field of a segment.
    fn offer(&mut self, extension: &impl Extension) -> u16 {
        let before = self.receiver.advertised_bytes();
        let window = self.receiver.advertise(extension.shared_window());
        match (before, window) {
            (1.., 0) => self.counters.zero_windows += 1,
            (0, 1..) => self.counters.reopened_windows += 1,
            _ => {}
        }
        window
    }
}
