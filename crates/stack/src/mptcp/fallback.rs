//! Back to TCP, and what data does that cannot be used: of a wrong checksum, or without a mapping
//! (RFC 8684, sections 3.3.1 and 3.7).

use mptcplab_wire::Segment;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};

use super::connection::{Connection, Mode};
use super::signals::{self, reason};
use crate::Nanos;
use crate::endpoint::Event;
use crate::tcp::State;

/// Data segments that carry the infinite mapping: the first may be lost.
const INFINITE_MAPPINGS: u8 = 8;

/// MP_FAILs that are answered after the fallback: more than its sender repeats.
const MAX_LATE_ANSWERS: u8 = 16;

/// First pause before MP_FAIL is said again; doubled each time.
const FAIL_NS: Nanos = 1_000_000_000;
/// Beyond this pause the subflow is given up (`TCP_RTO_MAX`).
const MAX_FAIL_NS: Nanos = 120_000_000_000;

/// MP_FAIL was sent, and is said again until the peer falls back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) repeat_at: Nanos,
    pause: Nanos,
}

impl Connection {
    /// TCP is spoken from now on. The bytes of the first subflow are the data.
    pub(super) fn fall_back(&mut self, reason: &'static str) {
        if self.mode == Mode::Fallback {
            return;
        }
        self.mode = Mode::Fallback;
        self.failed = None;
        self.sender.forget_again();
        self.event(Event::Fallback {
            id: self.id,
            reason,
        });
        for subflow in &mut self.subflows {
            if !subflow.is_first() {
                // A join that is being opened: none was established.
                subflow.closing = true;
                subflow.pending = true;
                subflow.tcp.abort();
                continue;
            }
            subflow.tcp.share_window(false);
            subflow.pending = true;
            while let Some((offset, data)) = subflow.mappings.take_raw() {
                self.receiver.insert_all(offset - 1, data);
            }
            let acknowledged = subflow.tcp.acknowledged().saturating_sub(1);
            self.sender.release(acknowledged);
        }
        if self.receiver.ready_bytes() > 0 {
            self.tell_readable();
        }
        self.reschedule = true;
    }

    /// A mapping's checksum is wrong. With one subflow the connection becomes TCP, by the peer's
    /// infinite mapping; else the subflow is closed, and others bring the data.
    pub(super) fn on_checksum_failure(&mut self, now: Nanos, index: usize, data: Option<u64>) {
        self.counters.checksum_errors += 1;
        if self.may_become_tcp(index) {
            self.fail(now, index);
        } else {
            self.counters.fail_sent += 1;
            let offset = data.unwrap_or(self.receiver.next());
            let fail = self.fail_at(offset);
            self.reset_subflow(now, index, reason::MIDDLEBOX);
            self.subflows[index].signals.reset = Some(fail);
        }
    }

    /// Data without a mapping, though mapped data follows it, or too much for a mapping to come. The
    /// connection becomes TCP where it can, as after a wrong checksum: the bytes are there, only
    /// their places were lost. Else the subflow is of no use where there is another (section 3.3.1).
    /// One that stands alone is better slow than none: what has no mapping is dropped, and sent
    /// again as it is not acknowledged at the level of data. True where more can be delivered.
    pub(super) fn goes_on_without_mapping(&mut self, now: Nanos, index: usize) -> bool {
        if self.may_become_tcp(index) {
            self.counters.mapping_missing += 1;
            self.fail(now, index);
            return false;
        }
        // The bytes of the subflow are not the data any more.
        self.linear = false;
        if !self.has_other(index) && self.subflows[index].mappings.drop_unmapped() {
            return true;
        }
        self.counters.mapping_missing += 1;
        self.reset_subflow(now, index, reason::MIDDLEBOX);
        false
    }

    /// The bytes of this subflow are the data, so that TCP can be spoken on it.
    fn may_become_tcp(&self, index: usize) -> bool {
        self.linear && self.subflows[index].is_first()
    }

    /// Another subflow works.
    fn has_other(&self, index: usize) -> bool {
        let mut subflows = self.subflows.iter().enumerate();
        subflows.any(|(place, other)| place != index && other.is_open() && !other.stalled)
    }

    /// MP_FAIL on the only subflow: what it brings from now on waits until the peer answers by the
    /// infinite mapping.
    pub(super) fn fail(&mut self, now: Nanos, index: usize) {
        self.counters.fail_sent += 1;
        self.failed = Some(Failure {
            repeat_at: now + FAIL_NS,
            pause: 2 * FAIL_NS,
        });
        self.say_fail(index);
    }

    /// A second subflow has been opened while the first one waits for the infinite mapping, which
    /// the peer can give no more: the other brings the data.
    pub(super) fn fail_no_longer(&mut self, now: Nanos) {
        if self.failed.take().is_some()
            && let Some(index) = self.index_of(0)
        {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }

    fn fail_at(&self, offset: u64) -> MptcpOption {
        MptcpOption::Fail {
            data_sequence: self.receiver.numbers().wire(offset),
        }
    }

    /// MP_FAIL on the next acknowledgement.
    pub(super) fn say_fail(&mut self, index: usize) {
        let fail = self.fail_at(self.receiver.next());
        self.subflows[index].signals.push(fail);
        self.subflows[index].request_ack();
    }

    /// The infinite mapping has not come: the peer may not know.
    pub(super) fn on_fail_timeout(&mut self, now: Nanos) {
        let Some(failure) = &mut self.failed else {
            return;
        };
        failure.repeat_at = now + failure.pause;
        failure.pause *= 2;
        let given_up = failure.pause > MAX_FAIL_NS;
        let Some(index) = self.index_of(0) else {
            self.failed = None;
            return;
        };
        if given_up {
            self.failed = None;
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        } else {
            self.say_fail(index);
        }
    }

    /// MP_FAIL: the peer could not use what was sent.
    pub(super) fn on_fail(&mut self, now: Nanos, index: usize) {
        self.counters.fail_received += 1;
        if !self.may_become_tcp(index) {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
            return;
        }
        self.counters.fail_sent += u64::from(self.failed.is_none());
        self.map_without_end();
        self.fall_back("the peer could not use what came");
        self.answer_fail(index);
    }

    /// The infinite mapping stands on the next data: from the last byte that is known to have come
    /// whole (section 3.7), which is the first that is not acknowledged.
    fn map_without_end(&mut self) {
        let acknowledged = self.sender.acknowledged();
        self.infinite = Some(Dss {
            data_fin: false,
            acknowledgement: None,
            mapping: Some(Mapping {
                data_sequence: DataNumber::Long(self.sender.numbers().wire(acknowledged)),
                subflow_sequence: (acknowledged as u32).wrapping_add(1),
                bytes: 0,
                checksum: self.checksum.then_some(0),
            }),
        });
        self.infinite_left = INFINITE_MAPPINGS;
        self.counters.infinite_map_sent += 1;
    }

    /// Options do not come through to this end. They may do so in the other direction: the peer
    /// is told by the infinite mapping on the next data (section 3.7).
    pub(super) fn fall_back_without_options(&mut self) {
        self.counters.mapping_missing += 1;
        self.map_without_end();
        self.fall_back("a segment had no DSS option");
    }

    /// Whether the peer may speak TCP without this end's knowledge: it does no longer where it has
    /// acknowledged data at the level of data, as that had a mapping. To such a peer a FIN is the
    /// end of all data.
    pub(super) fn peer_may_speak_tcp(&self, index: usize) -> bool {
        self.subflows[index].is_first() && self.sender.acknowledged() == 0
    }

    /// After a fallback, a mapping of a peer that has not fallen back: the bytes of the subflow
    /// must still be the data, in order. Where it has sent something twice they are not.
    pub(super) fn verify_linear(&mut self, now: Nanos, index: usize, segment: &Segment) {
        if self.remote_key.is_none() || self.closed.is_some() {
            return;
        }
        let numbers = self.receiver.numbers();
        let near = self.subflows[index].tcp.received();
        let twice = |option: &MptcpOption| match option {
            MptcpOption::Dss(Dss {
                mapping: Some(mapping),
                data_fin,
                ..
            }) if mapping.bytes > u16::from(*data_fin) => {
                let distance = mapping.subflow_sequence.wrapping_sub(near as u32) as i32;
                let start = near.wrapping_add_signed(i64::from(distance));
                let place = start.wrapping_sub(1);
                numbers.offset(mapping.data_sequence, place) != Some(place)
            }
            _ => false,
        };
        if segment.options.mptcp.iter().any(twice) {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }

    /// The receiver of MP_FAIL answers with its own and with the infinite mapping.
    fn answer_fail(&mut self, index: usize) {
        let Some(infinite) = self.infinite else {
            return;
        };
        self.say_fail(index);
        self.subflows[index]
            .signals
            .push(MptcpOption::Dss(infinite));
    }

    /// MP_FAIL after a fallback: the peer has not got the answer. Where checksums failed both ways,
    /// the answer may be answered in turn; so there is an end to it.
    pub(super) fn answer_late_fail(&mut self, index: usize, segment: &Segment) {
        let fail = |option: &MptcpOption| matches!(option, MptcpOption::Fail { .. });
        if self.late_answers < MAX_LATE_ANSWERS && segment.options.mptcp.iter().any(fail) {
            self.late_answers += 1;
            self.answer_fail(index);
        }
    }

    /// The infinite mapping: what follows is TCP. Where the bytes of the subflow are not the data,
    /// the peer and this end cannot agree.
    pub(super) fn on_infinite_mapping(&mut self, now: Nanos, index: usize) {
        self.counters.infinite_map_received += 1;
        if self.may_become_tcp(index) {
            self.fall_back("the peer sent an infinite mapping");
        } else {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }

    /// Closes a subflow at once, with a reason for the peer.
    pub(super) fn reset_subflow(&mut self, now: Nanos, index: usize, reason: u8) {
        let subflow = &mut self.subflows[index];
        if subflow.tcp.state() == State::Closed {
            return;
        }
        subflow.signals.reset = Some(signals::reset(reason, false));
        subflow.path_is_unfit = reason == reason::MIDDLEBOX;
        subflow.pending = true;
        let progress = subflow.tcp.abort();
        if let Some(why) = progress.closed {
            self.on_subflow_closed(now, index, why);
        }
    }

    /// Counts what a RST that leaves says.
    pub(super) fn count_reset(&mut self, segment: &Segment) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Reset(_) => self.counters.reset_sent += 1,
                MptcpOption::FastClose { .. } => self.counters.fast_close_sent += 1,
                _ => {}
            }
        }
    }

    /// Options of a RST that was taken. After one for good no subflow is opened on the same path
    /// (RFC 8684, section 3.6); MP_FAIL tells of a path that spoils data.
    pub(super) fn read_reset_options(&mut self, index: usize, segment: &Segment) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Reset(reset) => {
                    self.counters.reset_received += 1;
                    self.subflows[index].path_is_unfit |= !reset.transient;
                }
                MptcpOption::Fail { .. } => {
                    self.counters.fail_received += 1;
                    self.subflows[index].path_is_unfit = true;
                }
                MptcpOption::FastClose { receiver_key } => {
                    self.on_fast_close(*receiver_key);
                }
                _ => {}
            }
        }
    }
}
