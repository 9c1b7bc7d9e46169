//! MP_FAIL and the infinite mapping that answers it (RFC 8684, section 3.7).

use mptcplab_wire::Segment;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};

use super::connection::Connection;
use super::signals::reason;
use crate::Nanos;

impl Connection {
    /// Says MP_FAIL on the only subflow: its data from now on waits until the peer answers by the
    /// infinite mapping.
    pub(super) fn fail(&mut self, now: Nanos, index: usize) {
        self.counters.fail_sent += 1;
        self.fallback.await_infinite_mapping(now);
        self.say_fail(index);
    }

    /// Resets the first subflow, as another was opened while it waits for the infinite mapping,
    /// which the peer can give no more: the other brings the data.
    pub(super) fn fail_no_longer(&mut self, now: Nanos) {
        if self.fallback.end_failure()
            && let Some(index) = self.subflows.index_of(0)
        {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }

    pub(super) fn fail_at(&self, offset: u64) -> MptcpOption {
        MptcpOption::Fail {
            data_sequence: self.receiver.numbers().wire(offset),
        }
    }

    /// Puts MP_FAIL on the next acknowledgement.
    pub(super) fn say_fail(&mut self, index: usize) {
        let fail = self.fail_at(self.receiver.next());
        self.subflows[index].signals.push(fail);
        self.subflows[index].request_ack();
    }

    /// Says MP_FAIL again, as the infinite mapping has not come: the peer may not know.
    pub(super) fn on_fail_timeout(&mut self, now: Nanos) {
        let goes_on = self.fallback.repeat(now);
        let first = self.subflows.index_of(0);
        if !goes_on || first.is_none() {
            self.fallback.end_failure();
        }
        match first {
            Some(index) if goes_on => self.say_fail(index),
            Some(index) => self.reset_subflow(now, index, reason::MIDDLEBOX),
            None => {}
        }
    }

    /// Takes MP_FAIL: the peer could not use the data.
    pub(super) fn on_fail(&mut self, now: Nanos, index: usize) {
        self.counters.fail_received += 1;
        if !self.may_become_tcp(index) {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
            return;
        }
        self.counters.fail_sent += u32::from(!self.fallback.awaits_infinite_mapping());
        self.map_without_end();
        self.fall_back("the peer could not use what came");
        self.answer_fail(index);
    }

    /// Puts the infinite mapping on the next data: from the last byte that is known to have come
    /// whole (section 3.7), which is the first that is not acknowledged.
    fn map_without_end(&mut self) {
        let acknowledged = self.sender.acknowledged();
        self.fallback.set_infinite_mapping(Dss {
            data_fin: false,
            acknowledgement: None,
            mapping: Some(Mapping {
                data_sequence: DataNumber::Long(self.sender.numbers().wire(acknowledged)),
                subflow_sequence: (acknowledged as u32).wrapping_add(1),
                bytes: 0,
                checksum: self.handshake.checksum().then_some(0),
            }),
        });
        self.counters.infinite_map_sent += 1;
    }

    /// Falls back, as options do not come to this end. They may in the other direction: the peer
    /// is told by the infinite mapping on the next data (section 3.7).
    pub(super) fn fall_back_without_options(&mut self) {
        self.counters.mapping_missing += 1;
        self.map_without_end();
        self.fall_back("a segment had no DSS option");
    }

    /// Answers MP_FAIL with another and with the infinite mapping.
    fn answer_fail(&mut self, index: usize) {
        let Some(infinite) = self.fallback.infinite_mapping() else {
            return;
        };
        self.say_fail(index);
        self.subflows[index]
            .signals
            .push(MptcpOption::Dss(infinite));
    }

    /// Answers MP_FAIL after a fallback: the peer has not got the answer before.
    pub(super) fn answer_late_fail(&mut self, index: usize, segment: &Segment) {
        let fail = |option: &MptcpOption| matches!(option, MptcpOption::Fail { .. });
        if segment.options.mptcp.iter().any(fail) && self.fallback.takes_late_answer() {
            self.answer_fail(index);
        }
    }

    /// Takes the infinite mapping: TCP follows. Where the bytes of the subflow are not the data,
    /// the peer and this end cannot agree.
    pub(super) fn on_infinite_mapping(&mut self, now: Nanos, index: usize) {
        self.counters.infinite_map_received += 1;
        if self.may_become_tcp(index) {
            self.fall_back("the peer sent an infinite mapping");
        } else {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }
}
