//! The sim engine: a [`Plan`](mptcplab_plan::Plan) carried out in virtual time.
//!
//! A [`World`] has the plan's hosts, each with a transport layer of its own
//! ([`mptcplab_stack::HostStack`]), routers, links ([`mptcplab_link`]) with the middleboxes in
//! them, and the applications that send the plan's traffic. Packets have the headers that they
//! have on a wire. [`simulate`] runs a plan to its end and hands over the rows of its recording
//! (`docs/recording.md`).
//!
//! # Repeatable runs
//! - Time is a whole number of nanoseconds, and no clock is read.
//! - Things happen one after the other, at equal times in a written order ([`World`]).
//! - Random numbers come from streams named by their purpose: loss of one link does not move
//!   when traffic or another link changes.
//! - No result depends on the order of a hash map.

#![forbid(unsafe_code)]

mod capture;
mod check;
mod error;
mod fib;
mod in_flight;
mod inspect;
mod interference;
mod link;
mod network;
mod node;
mod record;
mod response_times;
mod run;
mod schedule;
mod supplies;
mod telemetry;
mod timeline;
mod traffic;
mod world;

pub use error::SimError;
pub use inspect::{LinkPacket, OpenedConnection, RouteEntry};
pub use interference::{Fate, Rewrite};
pub use network::{Actor, Content, Seen, SeenPacket};
pub use run::{Sink, simulate, simulate_with};
pub use schedule::Nanos;
pub use supplies::Supplies;
pub use world::{Counts, World};
