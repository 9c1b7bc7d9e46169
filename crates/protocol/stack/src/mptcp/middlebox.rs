//! Data that cannot be used, as something on the path has changed it: with a wrong checksum, or
//! without a mapping (RFC 8684, sections 3.3.1 and 3.7).

use mptcplab_wire::Segment;
use mptcplab_wire::option::{Dss, MptcpOption};

use super::connection::Connection;
use super::signals::reason;
use super::subflow::Stage;
use crate::Nanos;
use crate::tcp::Progress;

impl Connection {
    /// Follows a wrong checksum. With one subflow the connection becomes TCP, by the peer's
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

    /// Data without a mapping, though mapped data follows it, or too much for a mapping to come.
    /// The connection becomes TCP where it can, as after a wrong checksum: the bytes are there,
    /// only their places were lost. Else the subflow is of no use where there is another (section
    /// 3.3.1). One that stands alone is better slow than none: what has no mapping is dropped, and
    /// sent again as it is not acknowledged at the level of data. True where more can be delivered.
    pub(super) fn goes_on_without_mapping(&mut self, now: Nanos, index: usize) -> bool {
        if self.may_become_tcp(index) {
            self.counters.mapping_missing += 1;
            self.fail(now, index);
            return false;
        }
        // The bytes of the subflow are not the data any more.
        self.fallback.keep_linear(false);
        if !self.has_other(index) && self.subflows[index].mappings.drop_unmapped() {
            return true;
        }
        self.counters.mapping_missing += 1;
        self.reset_subflow(now, index, reason::MIDDLEBOX);
        false
    }

    /// Whether another subflow works.
    fn has_other(&self, index: usize) -> bool {
        let mut subflows = self.subflows.iter().enumerate();
        subflows
            .any(|(place, other)| place != index && other.is_open() && !other.tcp.is_timed_out())
    }

    /// A segment without options of MPTCP where there should be some: with data that no mapping
    /// covers, with FIN, or with the first acknowledgement of data. Something on the way removes
    /// them, or the peer has fallen back.
    ///
    /// This end falls back as long as the peer cannot but do the same (RFC 8684, section 3.7):
    /// while neither can have a DATA_ACK. Where the peer may, but no DSS of it has ever come, it is
    /// told by MP_FAIL, and answers that where it speaks TCP already or can do so. Later a peer
    /// that has not fallen back would send again what it finds unacknowledged, which plain TCP
    /// takes for new data: the subflow is reset.
    pub(super) fn miss_options(
        &mut self,
        now: Nanos,
        index: usize,
        segment: &Segment,
        progress: &Progress,
    ) {
        let subflow = &self.subflows[index];
        let alone = self.fallback.is_linear() && subflow.is_first();
        let unacknowledged = self.sender.acknowledged() == 0;
        let acknowledges = progress.acknowledged_bytes > 0 && unacknowledged;
        let unmapped = !segment.payload.is_empty() && !subflow.is_mapped(segment);
        let ends = segment.flags.fin && segment.payload.is_empty();
        if !(acknowledges || unmapped || ends) || subflow.stage != Stage::Established {
            return;
        }
        if alone && unacknowledged && subflow.mappings.is_untouched() {
            self.fall_back_without_options();
        } else if alone && !subflow.dss_seen {
            if !self.fallback.awaits_infinite_mapping() {
                self.counters.mapping_missing += 1;
                self.fail(now, index);
            }
        } else if unmapped || acknowledges || !subflow.dss_seen {
            self.reset_subflow(now, index, reason::MIDDLEBOX);
        }
    }

    /// After a fallback, a mapping of a peer that has not fallen back: the bytes of the subflow
    /// must still be the data, in order. Where it has sent something twice they are not.
    pub(super) fn verify_linear(&mut self, now: Nanos, index: usize, segment: &Segment) {
        if self.handshake.remote_key().is_none() || self.lifetime.has_ended() {
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
}
