//! Refuses settings that no link can honour, by name.

use crate::config::{DirectionConfig, Discipline, Duplex, LinkChange, LinkConfig, Loss, Rate};
use crate::replay::NANOS_PER_MS;

/// Reason for the refusal of a configuration or a change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A probability outside of 0 to 1, or not a number.
    #[error("direction {direction}: {parameter} is {value}; a probability is from 0 to 1")]
    Probability {
        /// Index of the direction.
        direction: usize,
        /// The parameter's name.
        parameter: &'static str,
        /// The given value.
        value: f64,
    },
    /// A rate of zero.
    #[error(
        "direction {direction}: rate.bits_per_second is 0; a link that carries nothing is not up"
    )]
    ZeroRate {
        /// Index of the direction.
        direction: usize,
    },
    /// A trace that cannot be replayed.
    #[error("direction {direction}: rate.opportunities_ms {problem}")]
    Trace {
        /// Index of the direction.
        direction: usize,
        /// Its fault.
        problem: TraceProblem,
    },
    /// A token bucket on a link whose directions share the medium.
    #[error(
        "direction {direction}: burst_bytes needs a full-duplex link; leave it out or make it full duplex"
    )]
    BurstOnHalfDuplex {
        /// Index of the direction.
        direction: usize,
    },
    /// CoDel with an interval of zero.
    #[error("direction {direction}: queue.discipline.interval_ns is 0; RFC 8289 recommends 100 ms")]
    ZeroInterval {
        /// Index of the direction.
        direction: usize,
    },
    /// A change of a direction that a link does not have.
    #[error("direction is {direction}; a link has the directions 0 and 1")]
    NoSuchDirection {
        /// The given value.
        direction: usize,
    },
}

/// Fault of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceProblem {
    /// No entry.
    #[error("is empty")]
    Empty,
    /// An entry before its predecessor.
    #[error("goes back in time at entry {index}")]
    Backwards {
        /// Index of the entry, from 0.
        index: usize,
    },
    /// All entries at 0: the trace would repeat without end at one moment.
    #[error("ends at 0 ms; its last entry is its length")]
    NoDuration,
    /// A time beyond the range of nanoseconds in 64 bits.
    #[error("is longer than 584 years")]
    TooLong,
}

pub(crate) fn check_config(config: &LinkConfig) -> Result<(), ConfigError> {
    for (index, direction) in config.directions.iter().enumerate() {
        check_direction(index, config.duplex, direction)?;
    }
    Ok(())
}

fn check_direction(
    direction: usize,
    duplex: Duplex,
    config: &DirectionConfig,
) -> Result<(), ConfigError> {
    check_rate(direction, &config.rate)?;
    check_burst(direction, duplex, config.burst_bytes)?;
    check_loss(direction, &config.loss)?;
    if let Some(reordering) = &config.reordering {
        check_probability(direction, "reordering.probability", reordering.probability)?;
    }
    check_probability(direction, "duplication", config.duplication)?;
    match config.queue.discipline {
        Discipline::CoDel { interval_ns: 0, .. } => Err(ConfigError::ZeroInterval { direction }),
        Discipline::CoDel { .. } | Discipline::DropTail => Ok(()),
    }
}

/// The directions that a change is about.
pub(crate) fn changed_directions(
    change: &LinkChange,
) -> Result<core::ops::Range<usize>, ConfigError> {
    match change.direction {
        None => Ok(0..2),
        Some(direction @ (0 | 1)) => Ok(direction..direction + 1),
        Some(direction) => Err(ConfigError::NoSuchDirection { direction }),
    }
}

pub(crate) fn check_change(
    direction: usize,
    duplex: Duplex,
    change: &LinkChange,
) -> Result<(), ConfigError> {
    if let Some(rate) = &change.rate {
        check_rate(direction, rate)?;
    }
    if let Some(burst_bytes) = change.burst_bytes {
        check_burst(direction, duplex, burst_bytes)?;
    }
    if let Some(loss) = &change.loss {
        check_loss(direction, loss)?;
    }
    if let Some(reordering) = &change.reordering {
        check_probability(direction, "reordering.probability", reordering.probability)?;
    }
    if let Some(duplication) = change.duplication {
        check_probability(direction, "duplication", duplication)?;
    }
    Ok(())
}

fn check_rate(direction: usize, rate: &Rate) -> Result<(), ConfigError> {
    match rate {
        Rate::Unlimited => Ok(()),
        Rate::Fixed { bits_per_second: 0 } => Err(ConfigError::ZeroRate { direction }),
        Rate::Fixed { .. } => Ok(()),
        Rate::Trace { opportunities_ms } => match trace_problem(opportunities_ms) {
            Some(problem) => Err(ConfigError::Trace { direction, problem }),
            None => Ok(()),
        },
    }
}

fn check_burst(direction: usize, duplex: Duplex, burst_bytes: u64) -> Result<(), ConfigError> {
    match (duplex, burst_bytes) {
        (Duplex::Full, _) | (Duplex::Half, 0) => Ok(()),
        (Duplex::Half, _) => Err(ConfigError::BurstOnHalfDuplex { direction }),
    }
}

fn trace_problem(opportunities_ms: &[u64]) -> Option<TraceProblem> {
    let Some(&last) = opportunities_ms.last() else {
        return Some(TraceProblem::Empty);
    };
    if let Some(before) = opportunities_ms
        .windows(2)
        .position(|pair| pair[1] < pair[0])
    {
        return Some(TraceProblem::Backwards { index: before + 1 });
    }
    match last {
        0 => Some(TraceProblem::NoDuration),
        last if last > u64::MAX / NANOS_PER_MS => Some(TraceProblem::TooLong),
        _ => None,
    }
}

fn check_loss(direction: usize, loss: &Loss) -> Result<(), ConfigError> {
    match *loss {
        Loss::None => Ok(()),
        Loss::Random { probability } => {
            check_probability(direction, "loss.probability", probability)
        }
        Loss::GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        } => {
            check_probability(direction, "loss.p", p)?;
            check_probability(direction, "loss.r", r)?;
            check_probability(direction, "loss.loss_good", loss_good)?;
            check_probability(direction, "loss.loss_bad", loss_bad)
        }
    }
}

fn check_probability(
    direction: usize,
    parameter: &'static str,
    value: f64,
) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::Probability {
            direction,
            parameter,
            value,
        })
    }
}
