//! One direction of a link: the stages that its packets pass.

use alloc::boxed::Box;

use crate::Nanos;
use crate::config::{DirectionConfig, Duplex, LinkChange};
use crate::counters::Counters;
use crate::impair::{DuplicationStage, Fate, Impairments, LossStage, ReorderingStage};
use crate::pace::{Bucket, Pace};
use crate::packet::Packet;
use crate::propagate::Propagation;
use crate::queue::Queue;
use crate::random::{Purpose, Random};

/// The stages of one direction but for its serialiser, which it may share.
#[derive(Clone, Debug)]
pub(crate) struct Direction<T> {
    pub(crate) up: bool,
    pub(crate) queue: Queue<T>,
    pub(crate) pace: Pace,
    bucket: Bucket,
    pub(crate) framing_bytes: u32,
    /// Boxed, for most links have none: what every packet touches stays together.
    impairments: Box<Impairments>,
    impairs: bool,
    pub(crate) propagation: Propagation<T>,
    pub(crate) counters: Counters,
}

impl<T: Clone> Direction<T> {
    pub(crate) fn new(index: usize, duplex: Duplex, config: &DirectionConfig, seed: u64) -> Self {
        let random = |purpose| Random::new(seed, index, purpose);
        let impairments = Box::new(Impairments {
            loss: LossStage::new(config.loss.clone(), random(Purpose::Loss)),
            duplication: DuplicationStage::new(config.duplication, random(Purpose::Duplication)),
            reordering: ReorderingStage::new(
                config.reordering.clone(),
                random(Purpose::Reordering),
            ),
        });
        let bucket = Bucket {
            burst_bytes: config.burst_bytes,
            least_packet_ns: config.least_packet_ns,
        };
        Self {
            up: config.up,
            queue: Queue::new(&config.queue),
            pace: Pace::new(&config.rate, bucket, duplex, 0),
            bucket,
            framing_bytes: config.framing_bytes,
            impairs: impairments.are_set(),
            impairments,
            propagation: Propagation::new(
                config.delay_ns,
                config.jitter.clone(),
                random(Purpose::Jitter),
            ),
            counters: Counters::default(),
        }
    }

    /// Passes on a packet whose last bit has left the serialiser. A lost one draws a delay too, so
    /// that the delays of the others do not depend on the loss.
    #[inline]
    pub(crate) fn depart(&mut self, at: Nanos, packet: Packet<T>) {
        let fate = match self.impairs {
            true => self.impairments.decide(),
            false => Fate::default(),
        };
        let arrives = at.saturating_add(self.propagation.draw_delay());
        if fate.is_lost {
            self.counters.dropped_loss += 1;
            return;
        }
        self.counters.reordered += u64::from(fate.hold.is_some());
        if fate.is_duplicated {
            self.counters.duplicated += 1;
            self.propagation.send(arrives, fate.hold, packet.clone());
        }
        self.propagation.send(arrives, fate.hold, packet);
    }

    /// The rate from `now` on where a checked change gives a new rate or bucket.
    pub(crate) fn changed_pace(
        &mut self,
        now: Nanos,
        duplex: Duplex,
        change: &LinkChange,
    ) -> Option<Pace> {
        self.bucket.burst_bytes = change.burst_bytes.unwrap_or(self.bucket.burst_bytes);
        match (&change.rate, change.burst_bytes, &self.pace) {
            (Some(rate), _, _) => Some(Pace::new(rate, self.bucket, duplex, now)),
            (None, Some(burst_bytes), Pace::Fixed(rate)) => {
                Some(Pace::Fixed(rate.with_burst(burst_bytes)))
            }
            _ => None,
        }
    }

    /// Applies what a checked change says about the stages other than the serialiser.
    pub(crate) fn set(&mut self, change: &LinkChange) {
        if let Some(delay_ns) = change.delay_ns {
            self.propagation.delay_ns = delay_ns;
        }
        if let Some(jitter) = &change.jitter {
            self.propagation.jitter = jitter.clone();
        }
        if let Some(loss) = &change.loss {
            self.impairments.loss.set(loss.clone());
        }
        if let Some(reordering) = &change.reordering {
            self.impairments.reordering.reordering = Some(reordering.clone());
        }
        if let Some(duplication) = change.duplication {
            self.impairments.duplication.probability = duplication;
        }
        self.impairs = self.impairments.are_set();
        if let Some(limits) = change.limits {
            self.queue.limits = limits;
        }
        if let Some(up) = change.up {
            self.up = up;
        }
    }
}
