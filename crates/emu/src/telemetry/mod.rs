//! What the kernels of the nodes know about connections, subflows and interfaces.
//!
//! A [`Sampler`] asks every node at a fixed interval, for whatever sockets there are; the traffic
//! reads its own sockets once more just before it closes them.

mod bytes;
mod dump;
mod final_samples;
mod interfaces;
pub(crate) mod mib;
mod mptcp_info;
mod node;
mod rows;
mod sampler;
mod sock_diag;
mod sockopt;
mod subflow_events;
pub(crate) mod subflows;
mod tcp_info;

pub(crate) use final_samples::{FinalState, write_final_connection, write_final_samples};
pub use mptcp_info::MptcpInfo;
pub use node::NodeContext;
pub use sampler::{Cost, Sampler, start};
pub(crate) use subflow_events::SubflowEvents;
pub use tcp_info::TcpInfo;
