//! Segments that arrive, and the progress of the subflow's TCP that follows.

use alloc::boxed::Box;

use bytes::Bytes;
use mptcplab_wire::Segment;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};

use super::connection::Connection;
use super::mappings::{Delivery, Map, Proof};
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::tcp::{Progress, State};

impl Connection {
    /// Takes a segment for a subflow. True where it must be answered by a RST that is made from
    /// it alone (RFC 9293, section 3.10.7.1).
    pub(crate) fn receive(&mut self, now: Nanos, subflow: SubflowId, segment: &Segment) -> bool {
        let Some(index) = self.subflows.index_of(subflow.0) else {
            return false;
        };
        if !self.passes_handshake(index, segment) {
            return false;
        }
        self.look_at_paths(index);
        let subflow = &mut self.subflows[index];
        subflow.pending = true;
        if self.handshake.is_multipath() {
            let pending = subflow.mappings.pending_bytes() as u64;
            let promised = self.receiver.window(pending).promised_bytes;
            subflow.tcp.admit_promised(segment, promised);
        }
        let progress = subflow.tcp.receive(now, segment, &self.paths);
        self.follow(now, index, &progress, Some(segment));
        progress.answer_with_reset
    }

    /// Takes a router's error about a segment of a subflow.
    pub(crate) fn on_unreachable(&mut self, now: Nanos, subflow: SubflowId, sequence: u32) {
        if let Some(index) = self.subflows.index_of(subflow.0) {
            let progress = self.subflows[index].tcp.on_unreachable(sequence);
            self.follow(now, index, &progress, None);
        }
    }

    /// Follows what happened to a subflow, by a segment or by a deadline.
    pub(super) fn follow(
        &mut self,
        now: Nanos,
        index: usize,
        progress: &Progress,
        segment: Option<&Segment>,
    ) {
        self.scheduling.request();
        if progress.established
            && let Some(segment) = segment
        {
            self.on_established(now, index, segment);
        }
        if let Some(segment) = segment {
            if progress.accepted {
                self.read_options(now, index, segment, progress);
            } else if segment.flags.rst && progress.closed.is_some() {
                self.read_reset_options(index, segment);
            }
        }
        if progress.acknowledged_bytes > 0 {
            self.on_subflow_acknowledged(now, index);
        }
        if progress.readable {
            self.pull(now, index);
        }
        if progress.finished {
            if self.fallback.awaits_infinite_mapping() && self.fallback.is_linear() {
                // A peer that had not fallen back would wait for its data to be acknowledged.
                self.fall_back("the peer closed after MP_FAIL");
            }
            self.on_subflow_finished(now, index);
        }
        if let Some(reason) = progress.closed {
            self.on_subflow_closed(now, index, reason);
        }
        self.after_data(now);
        self.follow_wish_for_paths(now);
    }

    fn read_options(&mut self, now: Nanos, index: usize, segment: &Segment, progress: &Progress) {
        if !self.handshake.is_multipath() {
            self.answer_late_fail(index, segment);
            self.verify_linear(now, index, segment);
            return;
        }
        if segment.options.mptcp.is_empty() {
            self.miss_options(now, index, segment, progress);
            return;
        }
        self.leave_pre_established(now, index);
        let mut carries_data_options = false;
        for option in &segment.options.mptcp {
            // One of them may have ended all.
            if !self.handshake.is_multipath() || self.lifetime.has_ended() {
                return;
            }
            carries_data_options |=
                !matches!(option, MptcpOption::Join(_) | MptcpOption::Priority { .. });
            match option {
                MptcpOption::Dss(dss) => {
                    let has_data = !segment.payload.is_empty();
                    self.read_dss(now, index, dss, has_data);
                }
                MptcpOption::Capable(capable) => self.read_capable_data(index, capable),
                MptcpOption::Join(_) | MptcpOption::Reset(_) => {}
                MptcpOption::AddAddress(address) => self.on_add_address(index, address),
                MptcpOption::RemoveAddress(ids) => {
                    self.on_remove_addresses(now, ids.as_slice());
                }
                // Version 0 named an address in it; that is refused.
                MptcpOption::Priority {
                    backup,
                    address_id: None,
                } => {
                    self.counters.priority_received += 1;
                    self.subflows[index].remote.backup = *backup;
                }
                MptcpOption::Priority { .. } => {}
                MptcpOption::Fail { .. } => self.on_fail(now, index),
                MptcpOption::FastClose { receiver_key } => {
                    self.on_fast_close(*receiver_key);
                }
            }
        }
        if !carries_data_options {
            self.miss_options(now, index, segment, progress);
        }
    }

    fn read_dss(&mut self, now: Nanos, index: usize, dss: &Dss, has_data: bool) {
        let first_dss = !core::mem::replace(&mut self.subflows[index].dss_seen, true);
        if first_dss && !self.handshake.is_confirmed() {
            self.confirm();
        }
        if let Some(number) = dss.acknowledgement {
            let window = self.subflows[index].tcp.send_window_bytes();
            let blocked = self.sender.is_blocked();
            let acknowledged = self.sender.acknowledge(number, window);
            if acknowledged.bytes > 0 || acknowledged.fin {
                self.on_data_acknowledged(now, acknowledged.bytes);
            } else if blocked && acknowledged.window_grew {
                // Data that waited for the window has not waited for an acknowledgement yet.
                self.restart_data_timer(now, false);
            }
        }
        if let Some(mapping) = &dss.mapping {
            if mapping.bytes == 0 {
                // Without data it means nothing, but as the answer to MP_FAIL.
                if has_data || self.fallback.awaits_infinite_mapping() {
                    self.on_infinite_mapping(now, index);
                }
            } else {
                self.read_mapping(index, mapping, dss.data_fin);
            }
        }
    }

    fn read_mapping(&mut self, index: usize, mapping: &Mapping, data_fin: bool) {
        let numbers = self.receiver.numbers();
        let data = numbers.offset(mapping.data_sequence, self.receiver.next());
        let bytes = u32::from(mapping.bytes) - u32::from(data_fin);
        if bytes > 0 && matches!(mapping.data_sequence, DataNumber::Long(_)) {
            self.lengthen_acks();
        }
        let subflow = &mut self.subflows[index];
        if data_fin {
            if let Some(data) = data {
                self.receiver.finish_at(data + u64::from(bytes));
            }
            // One that cannot be acknowledged yet is not answered: where both ends lack data before
            // the other's DATA_FIN, answers that repeat the own one would have no end.
            if bytes > 0 || self.receiver.is_finished() {
                subflow.request_ack();
            }
        }
        let near = subflow.tcp.received();
        let distance = mapping.subflow_sequence.wrapping_sub(near as u32) as i32;
        let Some(start) = near.checked_add_signed(i64::from(distance)) else {
            return;
        };
        // Data that was sent twice or is meant for another subflow cannot become plain TCP.
        self.fallback
            .keep_linear(bytes == 0 || data == start.checked_sub(1));
        let data_sequence = data.map_or(0, |data| numbers.wire(data));
        let proof = self.handshake.checksum().then(|| {
            Box::new(Proof {
                data_sequence,
                mapping: *mapping,
            })
        });
        // Without a DATA_FIN or beside it; subflow sequence number 0 has no data.
        if start > 0 {
            subflow.mappings.declare(Map {
                start,
                bytes,
                data,
                proof,
            });
        }
    }

    /// Reads MP_CAPABLE with data, a mapping of the first bytes.
    fn read_capable_data(&mut self, index: usize, capable: &mptcplab_wire::option::Capable) {
        let Some(bytes) = capable.data_bytes else {
            return;
        };
        if !self.subflows[index].is_first() {
            return;
        }
        let number = self.receiver.numbers().wire(0);
        let mapping = Mapping {
            data_sequence: DataNumber::Long(number),
            subflow_sequence: 1,
            bytes,
            checksum: capable.data_checksum,
        };
        self.read_mapping(index, &mapping, false);
    }

    /// Takes what the subflow received in order to where it belongs.
    pub(super) fn pull(&mut self, now: Nanos, index: usize) {
        if self.handshake.is_fallback() {
            self.tell_readable();
            return;
        }
        let subflow = &mut self.subflows[index];
        while let Some((offset, data)) = subflow.tcp.take_received(now, usize::MAX) {
            subflow.mappings.push(offset, data);
        }
        if self.fallback.awaits_infinite_mapping() {
            self.say_fail(index);
            return;
        }
        while let Some(delivery) = self.subflows[index].mappings.next() {
            match delivery {
                Delivery::Data(offset, data) => self.take_data(offset, data),
                Delivery::Corrupt(data) => {
                    self.on_checksum_failure(now, index, data);
                    return;
                }
                Delivery::Unmapped => {
                    if !self.goes_on_without_mapping(now, index) {
                        return;
                    }
                }
            }
        }
    }

    fn take_data(&mut self, offset: u64, data: Bytes) {
        let bytes = data.len() as u64;
        let early = offset > self.receiver.next();
        let new = self.receiver.insert(offset, data);
        self.counters.early_data += u32::from(early && new > 0);
        self.counters.duplicate_data += u32::from(new == 0 && bytes > 0);
    }

    /// Tells the application of what has come, and closes where all has come and gone.
    fn after_data(&mut self, now: Nanos) {
        if self.receiver.ready_bytes() > 0 {
            if self.lifetime.is_released() {
                self.abort();
                return;
            }
            self.tell_readable();
        }
        if !self.handshake.is_multipath() {
            return;
        }
        if self.receiver.is_finished() && self.receiver.take_end_news() {
            self.event(Event::Finished { id: self.id });
        }
        self.finish_if_done(now);
    }

    pub(super) fn tell_readable(&mut self) {
        if self.receiver.take_readable_news() {
            self.event(Event::Readable { id: self.id });
        }
    }

    /// Reads from the subflow, which keeps its data after a fallback until the application takes
    /// it.
    pub(super) fn read_plain(&mut self, now: Nanos, max_bytes: usize) -> Option<Bytes> {
        let first = self
            .subflows
            .iter_mut()
            .find(|subflow| subflow.is_first() && subflow.tcp.state() != State::SynSent)?;
        first.pending = true;
        let (_, data) = first.tcp.take_received(now, max_bytes)?;
        self.fallback.count_plain_read(data.len() as u64);
        Some(data)
    }
}
