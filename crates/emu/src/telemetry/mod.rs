//! What the kernels of the nodes know about connections, subflows and interfaces.
//!
//! A [`Sampler`] asks every node at a fixed interval, for whatever sockets there are; the traffic
//! reads its own sockets once more just before it closes them.

mod final_samples;
mod interfaces;
pub(crate) mod mib;
mod node;
mod rows;
mod sampler;
mod subflow_events;
pub(crate) mod subflows;

pub(crate) use final_samples::{FinalState, write_final_connection, write_final_samples};
pub use node::NodeContext;
pub use sampler::{Cost, Sampler, start};
pub(crate) use subflow_events::SubflowEvents;
