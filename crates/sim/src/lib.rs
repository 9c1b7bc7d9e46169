//! The sim engine: a [`Plan`](mptcplab_plan::Plan) carried out in virtual time.
//!
//! A [`World`] has the plan's hosts, each with a transport layer of its own
//! ([`mptcplab_stack::Endpoint`]), routers, links ([`mptcplab_link`]) with the middleboxes in them,
//! and the applications that send the plan's traffic. Packets have the headers that they have on a
//! wire. [`simulate`] runs a plan to its end and hands over the rows of its recording
//! (`docs/recording.md`).
//!
//! # What makes a run repeatable
//! - Time is a whole number of nanoseconds, and nobody asks a clock.
//! - Things happen one after the other, at equal times in a written order ([`World`]).
//! - Random numbers come from streams named by what they are for: loss of one link does not move
//!   when traffic or another link changes.
//! - No result depends on the order of a hash map.

#![forbid(unsafe_code)]

mod application;
mod capture;
mod check;
mod core;
mod error;
mod host;
mod line;
mod middlebox;
mod node;
mod parcel;
mod probe;
mod random;
mod record;
mod route;
mod schedule;
mod simulate;
mod timeline;
mod world;

pub use error::SimError;
pub use schedule::Nanos;
pub use simulate::{Sink, simulate, simulate_with};
pub use world::{Counts, World};
