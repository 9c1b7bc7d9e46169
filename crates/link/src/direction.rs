//! One direction of a link: the stages that its packets pass.

use crate::Nanos;
use crate::config::{DirectionConfig, LinkChange};
use crate::counters::Counters;
use crate::impair::{DuplicationStage, LossStage, ReorderingStage};
use crate::packet::Packet;
use crate::propagate::Propagation;
use crate::queue::Queue;
use crate::random::{Purpose, Random};
use crate::serialise::Pace;

/// The stages of one direction but for its serialiser, which it may share.
#[derive(Debug)]
pub(crate) struct Direction<T> {
    pub(crate) up: bool,
    pub(crate) queue: Queue<T>,
    pub(crate) pace: Pace,
    pub(crate) framing_bytes: u32,
    loss: LossStage,
    duplication: DuplicationStage,
    reordering: ReorderingStage,
    pub(crate) propagation: Propagation<T>,
    pub(crate) counters: Counters,
}

impl<T: Clone> Direction<T> {
    pub(crate) fn new(index: usize, config: &DirectionConfig, seed: u64) -> Self {
        let random = |purpose| Random::new(seed, index, purpose);
        Self {
            up: config.up,
            queue: Queue::new(&config.queue),
            pace: Pace::new(&config.rate, 0),
            framing_bytes: config.framing_bytes,
            loss: LossStage::new(config.loss.clone(), random(Purpose::Loss)),
            duplication: DuplicationStage::new(config.duplication, random(Purpose::Duplication)),
            reordering: ReorderingStage::new(
                config.reordering.clone(),
                random(Purpose::Reordering),
            ),
            propagation: Propagation::new(
                config.delay_ns,
                config.jitter.clone(),
                random(Purpose::Jitter),
            ),
            counters: Counters::default(),
        }
    }

    /// Passes on a packet whose last bit has left the serialiser.
    ///
    /// Each purpose draws for each packet, lost or not, so that whether a packet is lost, copied or
    /// delayed does not depend on what the other purposes are set to.
    #[inline]
    pub(crate) fn depart(&mut self, at: Nanos, packet: Packet<T>) {
        let lost = self.loss.loses();
        let duplicated = self.duplication.duplicates();
        let hold = self.reordering.holds();
        let arrives = at.saturating_add(self.propagation.draw_delay());
        if lost {
            self.counters.dropped_loss += 1;
            return;
        }
        self.counters.reordered += u64::from(hold.is_some());
        if duplicated {
            self.counters.duplicated += 1;
            self.propagation.send(arrives, hold, packet.clone());
        }
        self.propagation.send(arrives, hold, packet);
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
            self.loss.set(loss.clone());
        }
        if let Some(reordering) = &change.reordering {
            self.reordering.reordering = Some(reordering.clone());
        }
        if let Some(duplication) = change.duplication {
            self.duplication.probability = duplication;
        }
        if let Some(limits) = change.limits {
            self.queue.limits = limits;
        }
        if let Some(up) = change.up {
            self.up = up;
        }
    }
}
