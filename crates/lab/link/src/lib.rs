//! The link model: what one link does to packets, without I/O and without a clock.
//!
//! A [`Link`] joins two ends. A packet is [offered](Link::offer) to a direction at a time that the
//! caller gives and comes out of [`Link::poll`] when it is due. Time is whatever the caller says:
//! the simulator gives virtual time, the emulator the time since the start of its run. The same
//! seed and the same calls give the same result on any machine, however often the link is polled.
//!
//! The stages of a direction are separate, so that bytes on their way never count as queued:
//!
//! 1. the queue: its limits, and CoDel where asked for;
//! 2. the serialiser: a fixed rate, a rate trace, or one shared by both directions;
//! 3. loss, duplication and the choice of packets to hold back;
//! 4. propagation: delay and jitter, in order but for packets held back.
//!
//! ```
//! use mptcplab_link::{DirectionConfig, Link, LinkConfig, Rate};
//!
//! let direction = DirectionConfig {
//!     rate: Rate::Fixed { bits_per_second: 100_000_000 },
//!     delay_ns: 10_000_000,
//!     ..DirectionConfig::default()
//! };
//! let config =
//!     LinkConfig { directions: [direction.clone(), direction], ..LinkConfig::default() };
//! let mut link = Link::new(&config, 1)?;
//!
//! // Two packets of 1250 bytes, 100 µs each on the wire.
//! link.offer(0, 0, 1250, "first").expect("the queue has no limit");
//! link.offer(0, 0, 1250, "second").expect("the queue has no limit");
//! assert_eq!(link.backlog(0).queued_packets, 1);
//!
//! let mut due = Vec::new();
//! while let Some(deadline) = link.next_deadline() {
//!     link.poll(deadline, &mut due);
//! }
//! let arrivals: Vec<_> = due.iter().map(|delivery| (delivery.at, delivery.packet)).collect();
//! assert_eq!(arrivals, [(10_100_000, "first"), (10_200_000, "second")]);
//! # Ok::<(), mptcplab_link::ConfigError>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod carried;
mod check;
mod codel;
mod config;
mod counters;
mod direction;
mod fifo;
mod impair;
mod link;
mod pace;
mod packet;
mod propagate;
mod queue;
mod random;
mod replay;
mod serialise;
mod varying;

pub use carried::{Carried, Place};
pub use check::{ConfigError, TraceProblem};
pub use config::{
    DirectionConfig, Discipline, Duplex, Jitter, LinkChange, LinkConfig, Loss, QueueConfig,
    QueueLimits, Rate, Reordering,
};
pub use counters::{Backlog, Counters};
pub use link::{Delivery, Dropped, Link};

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;
