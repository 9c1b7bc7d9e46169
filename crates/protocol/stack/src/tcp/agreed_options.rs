//! Options of TCP that both ends agreed on in the handshake: selective acknowledgements (RFC 2018)
//! and timestamps (RFC 7323).

use mptcplab_wire::{Segment, Timestamps};

use super::timestamps::TimestampState;
use crate::Nanos;

/// Option bytes of timestamps, padded.
const TIMESTAMPS_BYTES: usize = 12;

/// Options of a connection: those that its SYN offers, and then those that the peer's has too.
#[derive(Clone, Debug)]
pub(crate) struct AgreedOptions {
    sack: bool,
    timestamps: Option<TimestampState>,
}

impl AgreedOptions {
    /// Offers both. TSval begins at `origin`, in steps of at least `granularity_ns`.
    pub(crate) fn offered(granularity_ns: Nanos, origin: u32) -> Self {
        Self {
            sack: true,
            timestamps: Some(TimestampState::new(granularity_ns, origin)),
        }
    }

    /// Takes the options of the peer's SYN or SYN/ACK: drops those that it lacks.
    pub(crate) fn on_syn(&mut self, now: Nanos, syn: &Segment) {
        match (&mut self.timestamps, syn.options.timestamps) {
            (Some(state), Some(timestamps)) => state.set_recent(now, timestamps.value),
            _ => self.timestamps = None,
        }
        self.sack &= syn.options.sack_permitted;
    }

    /// Whether acknowledgements are selective.
    #[inline]
    pub(crate) fn sack(&self) -> bool {
        self.sack
    }

    /// Option bytes that timestamps take in every segment.
    pub(crate) fn timestamps_bytes(&self) -> usize {
        self.timestamps.as_ref().map_or(0, |_| TIMESTAMPS_BYTES)
    }

    /// The option of a segment sent now.
    #[inline]
    pub(crate) fn timestamps(&self, now: Nanos) -> Option<Timestamps> {
        self.timestamps.as_ref().map(|state| state.option(now))
    }

    /// TSval of a segment sent now.
    pub(crate) fn timestamp_value(&self, now: Nanos) -> Option<u32> {
        self.timestamps.as_ref().map(|state| state.value(now))
    }

    /// Takes TSval of a segment that is next in order as TS.Recent.
    #[inline]
    pub(crate) fn set_recent(&mut self, now: Nanos, segment: &Segment) {
        if let (Some(state), Some(timestamps)) = (&mut self.timestamps, segment.options.timestamps)
        {
            state.set_recent(now, timestamps.value);
        }
    }

    /// Whether TSval of a segment is older than TS.Recent, which is young enough to be believed.
    #[inline]
    pub(crate) fn is_old(&self, now: Nanos, segment: &Segment) -> bool {
        self.of(segment)
            .is_some_and(|(state, timestamps)| state.is_old(now, timestamps.value))
    }

    /// Whether TSval of a segment is newer than TS.Recent.
    pub(crate) fn is_newer(&self, segment: &Segment) -> bool {
        self.of(segment)
            .is_some_and(|(state, timestamps)| state.is_newer(timestamps.value))
    }

    /// The time from which on segments have a later timestamp than the one that a segment echoes.
    #[inline]
    pub(crate) fn echo_end(&self, now: Nanos, segment: &Segment) -> Option<Nanos> {
        self.of(segment)
            .map(|(state, timestamps)| state.echo_end(now, timestamps.echo))
    }

    /// Time since the timestamp was sent that a segment echoes, a tick of its clock at least. None
    /// where it was not sent within the last minutes.
    #[inline]
    pub(crate) fn elapsed_ns(&self, now: Nanos, segment: &Segment) -> Option<Nanos> {
        let (state, timestamps) = self.of(segment)?;
        let elapsed = state.elapsed_ns(now, timestamps.echo)?;
        Some(elapsed.max(state.tick_ns()))
    }

    /// The timestamp that a segment echoes, and the whole ticks of its clock since it was sent,
    /// where that is within the last minutes.
    #[inline]
    pub(crate) fn echo(&self, now: Nanos, segment: &Segment) -> Option<(u32, Option<Nanos>)> {
        let (state, timestamps) = self.of(segment)?;
        Some((timestamps.echo, state.elapsed_ns(now, timestamps.echo)))
    }

    /// State and option, where both ends use timestamps.
    #[inline]
    fn of(&self, segment: &Segment) -> Option<(&TimestampState, Timestamps)> {
        self.timestamps.as_ref().zip(segment.options.timestamps)
    }
}
