//! What happens to a packet between serialisation and propagation: loss, duplication, reordering.

use crate::Nanos;
use crate::config::{Loss, Reordering};
use crate::random::Random;

/// Decides which packets are lost.
#[derive(Debug)]
pub(crate) struct LossStage {
    model: Loss,
    /// State of the Gilbert–Elliott chain.
    bad: bool,
    random: Random,
}

impl LossStage {
    pub(crate) fn new(model: Loss, random: Random) -> Self {
        Self {
            model,
            bad: false,
            random,
        }
    }

    pub(crate) fn set(&mut self, model: Loss) {
        let both_are_chains = matches!(
            (&self.model, &model),
            (Loss::GilbertElliott { .. }, Loss::GilbertElliott { .. })
        );
        self.bad &= both_are_chains;
        self.model = model;
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        match self.model {
            Loss::None => false,
            Loss::Random { probability } => self.random.chance(probability),
            Loss::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                let step = if self.bad { r } else { p };
                self.bad ^= self.random.chance(step);
                self.random
                    .chance(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}

/// Decides which packets are delivered twice.
#[derive(Debug)]
pub(crate) struct DuplicationStage {
    pub(crate) probability: f64,
    random: Random,
}

impl DuplicationStage {
    pub(crate) fn new(probability: f64, random: Random) -> Self {
        Self {
            probability,
            random,
        }
    }

    /// Whether the next packet is delivered twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.probability > 0.0 && self.random.chance(self.probability)
    }
}

/// Decides which packets are held back.
#[derive(Debug)]
pub(crate) struct ReorderingStage {
    pub(crate) reordering: Option<Reordering>,
    random: Random,
}

impl ReorderingStage {
    pub(crate) fn new(reordering: Option<Reordering>, random: Random) -> Self {
        Self { reordering, random }
    }

    /// For how long the next packet is held back, if it is.
    pub(crate) fn holds(&mut self) -> Option<Nanos> {
        let Reordering {
            probability,
            extra_ns,
        } = *self.reordering.as_ref()?;
        self.random.chance(probability).then_some(extra_ns)
    }
}
