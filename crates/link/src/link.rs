//! A link: two directions and what serialises their packets.

use std::marker::PhantomData;

use crate::Nanos;
use crate::check::{ConfigError, changed_directions, check_change, check_config};
use crate::config::{Duplex, LinkChange, LinkConfig};
use crate::counters::{Backlog, Counters};

/// A packet that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<T> {
    /// Direction it came through.
    pub direction: usize,
    /// When it is due; not later than the time of the poll.
    pub at: Nanos,
    /// What was offered.
    pub packet: T,
}

/// Why a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A limit of the queue.
    QueueFull,
    /// The direction is down.
    Down,
}

/// One link and the packets on it; `T` is what stands for a packet.
///
/// Methods that take a direction panic where it is not 0 or 1.
#[derive(Debug)]
pub struct Link<T> {
    duplex: Duplex,
    packets: PhantomData<T>,
}

impl<T: Clone> Link<T> {
    /// A link at time 0 with nothing on it.
    ///
    /// # Errors
    /// Refuses what cannot be honoured.
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        check_config(config)?;
        let _ = seed;
        Ok(Self {
            duplex: config.duplex,
            packets: PhantomData,
        })
    }

    /// Takes a packet of `ip_bytes` into the queue of a direction. Offers come in order of time; one
    /// before the latest time that the link has seen counts as at that time.
    ///
    /// # Errors
    /// Says why a packet was not taken; loss and the queue discipline drop later and only count.
    pub fn offer(
        &mut self,
        direction: usize,
        now: Nanos,
        ip_bytes: u32,
        packet: T,
    ) -> Result<(), Dropped> {
        unimplemented!(
            "{direction} {now} {ip_bytes} {}",
            std::mem::size_of_val(&packet)
        )
    }

    /// Appends what is due by `now` to `due`, ordered by time, then by order of the offers.
    pub fn poll(&mut self, now: Nanos, due: &mut Vec<Delivery<T>>) {
        unimplemented!("{now} {}", due.len())
    }

    /// No delivery is due before this time, as long as nothing is offered or changed; `None` where
    /// nothing is on the link. A driver that polls then is never late.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Nanos> {
        unimplemented!()
    }

    /// Changes parameters from `now` on.
    ///
    /// # Errors
    /// Refuses what cannot be honoured, and then changes nothing.
    pub fn change(&mut self, now: Nanos, change: &LinkChange) -> Result<(), ConfigError> {
        for direction in changed_directions(change)? {
            check_change(direction, self.duplex, change)?;
        }
        unimplemented!("{now}")
    }

    /// What happened in a direction up to the latest time that the link has seen.
    #[must_use]
    pub fn counters(&self, direction: usize) -> Counters {
        unimplemented!("{direction}")
    }

    /// Where the packets of a direction are at the latest time that the link has seen.
    #[must_use]
    pub fn backlog(&self, direction: usize) -> Backlog {
        unimplemented!("{direction}")
    }

    /// The fixed rate of a direction in bits a second; `None` where it is unlimited or a trace.
    #[must_use]
    pub fn rate_bps(&self, direction: usize) -> Option<u64> {
        unimplemented!("{direction}")
    }
}
