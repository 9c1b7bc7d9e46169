//! Time that can be stopped and turned back: a world of the simulator that is stepped, watched,
//! looked into, and put back to any earlier event.
//!
//! A [`Session`] has a plan's world and copies of it from earlier ([`Snapshots`](snapshots)), from
//! which it replays: a run depends on its plan and on the changes that were made, so that every
//! event comes again exactly as it was.

#![forbid(unsafe_code)]

mod change;
mod choice;
mod condition;
mod decisions;
mod error;
mod field;
mod names;
mod packet;
mod path;
mod rewrite;
mod segment_field;
mod session;
mod snapshots;
mod state;
mod stop;

pub use change::{Change, PacketFate};
pub use condition::Condition;
pub use decisions::KINDS;
pub use error::DebugError;
pub use path::Part;
pub use rewrite::{Edit, Taken, field_names};
pub use session::{Position, Run, Session};
pub use stop::{Happening, Stop, StopOn};
