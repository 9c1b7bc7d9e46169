//! Impairments between serialisation and propagation: loss, duplication, reordering.

use crate::Nanos;
use crate::config::{Loss, Reordering};
use crate::random::Random;

/// Fate of one packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) is_lost: bool,
    pub(crate) is_duplicated: bool,
    /// Time for which it is held back, if it is.
    pub(crate) hold: Option<Nanos>,
}

/// The three stages.
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    pub(crate) loss: LossStage,
    pub(crate) duplication: DuplicationStage,
    pub(crate) reordering: ReorderingStage,
}

impl Impairments {
    /// Whether any is set: where none is, no packet meets one and nothing is drawn.
    pub(crate) fn are_set(&self) -> bool {
        !matches!(self.loss.model, Loss::None)
            || self.duplication.probability > 0.0
            || self.reordering.reordering.is_some()
    }

    /// Draws the fate of the next packet.
    ///
    /// Each purpose draws for each packet, lost or not, so that whether a packet is lost or copied
    /// or held back does not depend on what the other purposes are set to.
    pub(crate) fn decide(&mut self) -> Fate {
        Fate {
            is_lost: self.loss.loses(),
            is_duplicated: self.duplication.duplicates(),
            hold: self.reordering.holds(),
        }
    }
}

/// Decides which packets are lost.
#[derive(Clone, Debug)]
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
    fn loses(&mut self) -> bool {
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
#[derive(Clone, Debug)]
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
    fn duplicates(&mut self) -> bool {
        self.probability > 0.0 && self.random.chance(self.probability)
    }
}

/// Decides which packets are held back.
#[derive(Clone, Debug)]
pub(crate) struct ReorderingStage {
    pub(crate) reordering: Option<Reordering>,
    random: Random,
}

impl ReorderingStage {
    pub(crate) fn new(reordering: Option<Reordering>, random: Random) -> Self {
        Self { reordering, random }
    }

    /// Time for which the next packet is held back, if it is.
    fn holds(&mut self) -> Option<Nanos> {
        let Reordering {
            probability,
            extra_ns,
        } = *self.reordering.as_ref()?;
        self.random.chance(probability).then_some(extra_ns)
    }
}
