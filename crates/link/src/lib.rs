//! The link model: what one link does to packets, without I/O and without a clock.

#![forbid(unsafe_code)]

mod check;
mod codel;
mod config;
mod counters;
mod direction;
mod impair;
mod link;
mod packet;
mod propagate;
mod queue;
mod random;
mod serialise;

pub use check::{ConfigError, TraceProblem};
pub use config::{
    DirectionConfig, Discipline, Duplex, Jitter, LinkChange, LinkConfig, Loss, QueueConfig,
    QueueLimits, Rate, Reordering,
};
pub use counters::{Backlog, Counters};
pub use link::{Delivery, Dropped, Link};

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;
