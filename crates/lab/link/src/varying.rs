//! A rate trace as a rate that changes from millisecond to millisecond, for a medium that is shared
//! (see [`Rate::Trace`](crate::Rate::Trace)).

use alloc::vec::Vec;

use crate::Nanos;
use crate::replay::{NANOS_PER_MS, OPPORTUNITY_BYTES};
use crate::serialise::Nanobits;

/// The rate in bits a second of a millisecond with one opportunity.
const OPPORTUNITY_BPS: u64 = OPPORTUNITY_BYTES * 8 * 1000;

/// The rates of the milliseconds of a trace.
#[derive(Clone, Debug)]
pub(crate) struct VaryingRate {
    /// When the trace began.
    origin: Nanos,
    /// Milliseconds that have a rate, in order; the end of the last one is the length of a cycle.
    milliseconds: Vec<Millisecond>,
}

/// A millisecond of the trace that has a rate.
#[derive(Clone, Copy, Debug)]
struct Millisecond {
    /// Its end since the begin of a cycle, in milliseconds.
    end_ms: u64,
    /// Bits per second.
    bps: u64,
}

/// A span with a constant rate.
#[derive(Clone, Copy, Debug)]
struct Span {
    begin: Nanos,
    end: Nanos,
    bps: u64,
}

impl VaryingRate {
    /// Begins a checked trace. What it has at 0 belongs to the last millisecond of the cycle before.
    pub(crate) fn new(opportunities_ms: &[u64], now: Nanos) -> Self {
        let mut milliseconds: Vec<Millisecond> = Vec::new();
        let at_zero = opportunities_ms.partition_point(|&ms| ms == 0);
        let (zero, others) = opportunities_ms.split_at(at_zero);
        for &end_ms in others
            .iter()
            .chain(zero.iter().map(|_| &others[others.len() - 1]))
        {
            match milliseconds.last_mut() {
                Some(last) if last.end_ms == end_ms => {
                    last.bps = last.bps.saturating_add(OPPORTUNITY_BPS);
                }
                _ => milliseconds.push(Millisecond {
                    end_ms,
                    bps: OPPORTUNITY_BPS,
                }),
            }
        }
        Self {
            origin: now,
            milliseconds,
        }
    }

    /// The first moment from this one on that has a rate.
    pub(crate) fn start(&self, moment: Nanos) -> Nanos {
        self.span_from(moment).begin.max(moment)
    }

    /// The rate at a moment; 0 where it has none.
    pub(crate) fn bps_at(&self, moment: Nanos) -> u64 {
        let span = self.span_from(moment.max(self.origin));
        if span.begin <= moment { span.bps } else { 0 }
    }

    /// When some work that begins at `start` ends, rounded up; the work that would have been done
    /// from the exact end to that, and the rate at the end.
    pub(crate) fn end(&self, start: Nanos, mut work: Nanobits) -> (Nanos, Nanobits, u64) {
        let mut moment = start;
        loop {
            let Span { begin, end, bps } = self.span_from(moment);
            let begin = begin.max(moment);
            let room = Nanobits::from(end - begin) * Nanobits::from(bps);
            if work <= room || end == Nanos::MAX {
                let span = work.div_ceil(Nanobits::from(bps));
                let spare = span * Nanobits::from(bps) - work;
                let span = Nanos::try_from(span).unwrap_or(Nanos::MAX);
                return (begin.saturating_add(span), spare, bps);
            }
            work -= room;
            moment = end;
        }
    }

    /// The work of a time.
    pub(crate) fn work(&self, from: Nanos, to: Nanos) -> Nanobits {
        let (mut work, mut moment) = (0, from);
        while moment < to {
            let Span { begin, end, bps } = self.span_from(moment);
            let (begin, end) = (begin.max(moment).min(to), end.min(to));
            work += Nanobits::from(end - begin) * Nanobits::from(bps);
            moment = end;
        }
        work
    }

    /// The millisecond with a rate that a moment, which is not before the origin, is in; else the
    /// next one.
    fn span_from(&self, moment: Nanos) -> Span {
        let length = self.milliseconds[self.milliseconds.len() - 1].end_ms;
        let passed = (moment - self.origin) / NANOS_PER_MS;
        let within = passed % length;
        let next = self
            .milliseconds
            .partition_point(|millisecond| millisecond.end_ms <= within);
        let Millisecond { end_ms, bps } = self.milliseconds[next];
        let at = |ms: u64| {
            let since = ms.saturating_mul(NANOS_PER_MS);
            self.origin.saturating_add(since)
        };
        let end_ms = passed - within + end_ms;
        Span {
            begin: at(end_ms - 1),
            end: at(end_ms),
            bps,
        }
    }
}
