//! The controller against our switch, over a network in memory and in virtual time.

mod discovery;
mod host;
mod network;
mod subflows;
