//! Samples of the connections, subflows and interfaces of the nodes, from their kernels.
//!
//! A [`Sampler`] asks every node at a fixed interval, for whatever sockets there are; the traffic
//! reads its own sockets once more just before it closes them.

pub(crate) mod accounts;
mod final_samples;
mod interfaces;
pub(crate) mod mib;
mod node;
mod rows;
mod sampler;
mod subflow_events;
pub(crate) mod subflows;

pub(crate) use final_samples::{
    FinalState, told_by_socket, write_final_connection, write_final_samples,
};
pub use node::NodeContext;
pub use sampler::{Cost, Probes, Sampler, start};
pub(crate) use subflow_events::SubflowEvents;
