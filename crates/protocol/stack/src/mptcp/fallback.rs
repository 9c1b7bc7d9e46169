//! Fallback to TCP (RFC 8684, section 3.7), and its condition: the bytes of the first subflow are
//! the data.

use mptcplab_wire::option::Dss;

use super::connection::Connection;
use crate::Nanos;
use crate::event::Event;

/// Data segments that carry the infinite mapping: the first may be lost.
const INFINITE_MAPPINGS: u8 = 8;

/// MP_FAILs that are answered after the fallback: more than its sender repeats.
const MAX_LATE_ANSWERS: u8 = 16;

/// First pause before MP_FAIL is said again; doubled each time.
const FAIL_NS: Nanos = 1_000_000_000;
/// Beyond this pause the subflow is given up (`TCP_RTO_MAX`).
const MAX_FAIL_NS: Nanos = 120_000_000_000;

/// Repetition of an MP_FAIL that was sent, until the peer falls back.
#[derive(Clone, Copy, Debug)]
struct Failure {
    repeat_at: Nanos,
    pause: Nanos,
}

/// State of a fallback.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    /// The bytes of the first subflow are the data, in order: no end could use another subflow,
    /// and nothing was sent twice. Then the connection can become plain TCP.
    linear: bool,
    /// A checksum failed on the only subflow: what it brings waits for the infinite mapping.
    failure: Option<Failure>,
    /// The infinite mapping that answered the peer's MP_FAIL.
    infinite: Option<Dss>,
    /// Data segments that are still to carry it.
    infinite_left: u8,
    /// MP_FAILs that were answered after the fallback.
    late_answers: u8,
    /// Bytes that the application read after the fallback.
    plain_read: u64,
}

impl Default for Fallback {
    fn default() -> Self {
        Self {
            linear: true,
            failure: None,
            infinite: None,
            infinite_left: 0,
            late_answers: 0,
            plain_read: 0,
        }
    }
}

impl Fallback {
    /// Whether the bytes of the first subflow are the data.
    pub(super) fn is_linear(&self) -> bool {
        self.linear
    }

    /// Notes whether the bytes of the first subflow still are the data; once not, never again.
    #[inline]
    pub(super) fn keep_linear(&mut self, linear: bool) {
        self.linear &= linear;
    }

    /// Whether MP_FAIL was sent, and the infinite mapping has not come.
    #[inline]
    pub(super) fn awaits_infinite_mapping(&self) -> bool {
        self.failure.is_some()
    }

    /// Awaits the infinite mapping, as MP_FAIL is sent.
    pub(super) fn await_infinite_mapping(&mut self, now: Nanos) {
        self.failure = Some(Failure {
            repeat_at: now + FAIL_NS,
            pause: 2 * FAIL_NS,
        });
    }

    /// Awaits the infinite mapping no longer. True where it was awaited.
    pub(super) fn end_failure(&mut self) -> bool {
        self.failure.take().is_some()
    }

    /// When MP_FAIL is to be repeated.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.failure.map(|failure| failure.repeat_at)
    }

    /// Sets the time of the next MP_FAIL. False where it was repeated long enough.
    pub(super) fn repeat(&mut self, now: Nanos) -> bool {
        let Some(failure) = &mut self.failure else {
            return false;
        };
        failure.repeat_at = now + failure.pause;
        failure.pause *= 2;
        failure.pause <= MAX_FAIL_NS
    }

    /// Puts an infinite mapping on the next data segments.
    pub(super) fn set_infinite_mapping(&mut self, mapping: Dss) {
        self.infinite = Some(mapping);
        self.infinite_left = INFINITE_MAPPINGS;
    }

    /// The infinite mapping that was sent.
    pub(super) fn infinite_mapping(&self) -> Option<Dss> {
        self.infinite
    }

    /// The infinite mapping for a data segment that leaves.
    pub(super) fn take_infinite_mapping(&mut self) -> Option<Dss> {
        self.infinite_left = self.infinite_left.checked_sub(1)?;
        self.infinite
    }

    /// Whether an MP_FAIL after the fallback is answered. Where checksums failed both ways, the
    /// answer may be answered in turn; so there is an end to it.
    pub(super) fn takes_late_answer(&mut self) -> bool {
        let takes = self.late_answers < MAX_LATE_ANSWERS;
        self.late_answers += u8::from(takes);
        takes
    }

    /// Counts bytes that the application read from the subflow.
    pub(super) fn count_plain_read(&mut self, bytes: u64) {
        self.plain_read += bytes;
    }

    /// Bytes that the application read after the fallback.
    pub(super) fn plain_read(&self) -> u64 {
        self.plain_read
    }
}

impl Connection {
    /// Speaks TCP from now on. The bytes of the first subflow are the data.
    pub(super) fn fall_back(&mut self, reason: &'static str) {
        if self.handshake.is_fallback() {
            return;
        }
        self.handshake.speak_tcp();
        self.fallback.end_failure();
        self.sender.forget_again();
        self.event(Event::Fallback {
            id: self.id,
            reason,
        });
        for subflow in self.subflows.iter_mut() {
            if !subflow.is_first() {
                // A join that is being opened: none was established.
                subflow.end.close();
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
        self.scheduling.request();
    }

    /// The bytes of this subflow are the data, so that TCP can be spoken on it.
    pub(super) fn may_become_tcp(&self, index: usize) -> bool {
        self.fallback.is_linear() && self.subflows[index].is_first()
    }

    /// Whether the peer may speak TCP without this end's knowledge: it does no longer where it has
    /// acknowledged data at the level of data, as that had a mapping. To such a peer a FIN is the
    /// end of all data.
    pub(super) fn peer_may_speak_tcp(&self, index: usize) -> bool {
        self.subflows[index].is_first() && self.sender.acknowledged() == 0
    }
}
