//! Segments: links that switches join. Both engines drive them, one in virtual time, one in real
//! time.
//!
//! [`Switching`] is the switches of a plan with their controller and the channels between them:
//! frames and the time go in; frames and the next deadline come out. [`discovered`] is the same
//! once the controller knows the network. [`segments`] says which interfaces of hosts and routers
//! a segment has, and [`ethernet`] makes and reads their frames.

#![forbid(unsafe_code)]

mod channels;
mod decision;
mod discovery;
mod entry_text;
pub mod ethernet;
mod flow_entries;
mod segments;
mod setup;
mod switching;

pub use channels::{Carried, Recipient};
pub use decision::Decision;
pub use discovery::discovered;
pub use flow_entries::FlowEntries;
pub use segments::{Attached, hardware_address, is_switched, segments};
pub use setup::{PolicySupply, UnknownPolicy};
pub use switching::{Leaving, Sent, Switching};
