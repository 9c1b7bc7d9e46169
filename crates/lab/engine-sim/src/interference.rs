//! Fates that are given by hand to the next packets of a link, before they reach it.

use std::collections::VecDeque;

use crate::Nanos;
use crate::in_flight::InFlight;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost, uncounted.
    Lost,
    /// It comes so much later, behind those that have come meanwhile.
    Delayed(Nanos),
    /// It comes twice.
    Duplicated,
}

/// A packet that is held back.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    until: Nanos,
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
    pub(crate) fn add(&mut self, end: usize, fate: Fate, packets: u32) {
        self.next[end].extend((0..packets).map(|_| fate));
    }

    /// The fate of the next packet of an end, if it has one.
    pub(crate) fn take(&mut self, end: usize) -> Option<Fate> {
        self.next[end].pop_front()
    }

    /// Holds a packet back.
    pub(crate) fn hold(&mut self, until: Nanos, end: usize, ip_bytes: u32, in_flight: InFlight) {
        self.held.push(Held {
            until,
            end,
            ip_bytes,
            in_flight,
        });
    }

    /// When the next packet is let go.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        self.held.iter().map(|held| held.until).min()
    }

    /// Takes a packet whose time has come; of several the one that came first.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<Held> {
        let place = self.held.iter().position(|held| held.until <= now)?;
        Some(self.held.remove(place))
    }
}
