//! A look at the packets in a link.

use alloc::vec::Vec;

use crate::Nanos;
use crate::link::Link;

/// The place of a packet in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On its way since it left the serialiser; it arrives at this time.
    Propagating {
        /// When it arrives.
        at: Nanos,
    },
    /// In the serialiser, which it leaves at this time.
    Sending {
        /// When it has left.
        until: Nanos,
    },
    /// In the queue since this time.
    Queued {
        /// When it came.
        since: Nanos,
    },
}

/// A packet in a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried<T> {
    /// Where it is.
    pub place: Place,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// The packet.
    pub packet: T,
}

impl<T: Clone> Link<T> {
    /// The link as it is at `now`, not before the last call, with what has happened since.
    #[must_use]
    pub fn at(&self, now: Nanos) -> Self {
        let mut link = self.clone();
        link.advance(now);
        link
    }

    /// The packets of a direction at the last call: first those that arrive first.
    #[must_use]
    pub fn carried(&self, direction: usize) -> Vec<Carried<T>> {
        let (channel, index) = self.channel_of(direction);
        let of = &self.directions[direction];
        let propagating = of.propagation.arrivals().map(|arrival| {
            let place = Place::Propagating { at: arrival.at };
            (place, &arrival.packet)
        });
        let sending = self.channels[channel].sending_of(index);
        let sending = sending.map(|(until, packet)| (Place::Sending { until }, packet));
        let queued = of.queue.waiting().map(|waiting| {
            let since = waiting.arrived;
            (Place::Queued { since }, &waiting.packet)
        });
        let all = propagating.chain(sending).chain(queued);
        all.map(|(place, packet)| Carried {
            place,
            ip_bytes: packet.ip_bytes,
            packet: packet.payload.clone(),
        })
        .collect()
    }
}
