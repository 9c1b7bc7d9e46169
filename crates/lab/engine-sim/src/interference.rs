//! Fates that are given by hand to the next packets of a link, before they reach it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mptcplab_wire::Segment;

use crate::Nanos;
use crate::in_flight::InFlight;

/// A change of a segment on its way.
pub trait Rewrite: fmt::Debug + Send + Sync {
    /// Changes a segment; false where it is none that the change is for, and is not changed.
    fn rewrite(&self, segment: &mut Segment) -> bool;
}

/// The fate of a packet.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It is lost, uncounted.
    Lost,
    /// It comes so much later, behind those that have come meanwhile.
    Delayed(Nanos),
    /// It comes behind so many others that are sent after it in the same direction.
    Behind(u32),
    /// It comes twice.
    Duplicated,
    /// It is changed. Packets that the change is not for pass before, and leave this fate to the
    /// next one.
    Rewritten(Arc<dyn Rewrite>),
}

/// The end of the time for which a packet is held back.
#[derive(Clone, Copy, Debug)]
enum Until {
    Time(Nanos),
    /// So many others are still to pass.
    Others(u32),
}

/// A packet that is held back.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    until: Until,
    pub(crate) end: usize,
    pub(crate) ip_bytes: u32,
    pub(crate) in_flight: InFlight,
}

/// Fates of the next packets of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interference {
    /// Of the packets that each end sends.
    next: [VecDeque<Fate>; 2],
    held: Vec<Held>,
}

impl Interference {
    /// Gives the next packets of an end a fate, after those that have one.
    pub(crate) fn add(&mut self, end: usize, fate: &Fate, packets: u32) {
        self.next[end].extend((0..packets).map(|_| fate.clone()));
    }

    /// The fate of the next packet of an end, if it has one; a change is made here.
    pub(crate) fn take(&mut self, end: usize, in_flight: &mut InFlight) -> Option<Fate> {
        if let Some(Fate::Rewritten(rewrite)) = self.next[end].front()
            && !in_flight.rewrite(rewrite.as_ref())
        {
            return None;
        }
        self.next[end].pop_front()
    }

    /// Holds a packet back until a time.
    pub(crate) fn hold(&mut self, until: Nanos, end: usize, ip_bytes: u32, in_flight: InFlight) {
        self.held.push(Held {
            until: Until::Time(until),
            end,
            ip_bytes,
            in_flight,
        });
    }

    /// Holds a packet back until others of its end have passed.
    pub(crate) fn hold_behind(
        &mut self,
        others: u32,
        end: usize,
        ip_bytes: u32,
        in_flight: InFlight,
    ) {
        self.held.push(Held {
            until: Until::Others(others),
            end,
            ip_bytes,
            in_flight,
        });
    }

    /// When the next packet is let go whose time is known.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let times = self.held.iter().filter_map(|held| match held.until {
            Until::Time(time) => Some(time),
            Until::Others(_) => None,
        });
        times.min()
    }

    /// Takes a packet whose time has come; of several the one that came first.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<Held> {
        let is_due = |held: &Held| matches!(held.until, Until::Time(until) if until <= now);
        let place = self.held.iter().position(is_due)?;
        Some(self.held.remove(place))
    }

    /// Counts a packet of an end that has passed, and takes those that were held back behind it, in
    /// the order in which they came.
    pub(crate) fn take_passed(&mut self, end: usize) -> Vec<Held> {
        for held in self.held.iter_mut().filter(|held| held.end == end) {
            if let Until::Others(others) = &mut held.until {
                *others = others.saturating_sub(1);
            }
        }
        let is_free = |held: &mut Held| matches!(held.until, Until::Others(0));
        self.held.extract_if(.., is_free).collect()
    }
}
