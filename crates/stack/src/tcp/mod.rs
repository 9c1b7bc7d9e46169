//! One TCP connection, which may be a subflow of an MPTCP connection.

mod config;
mod extension;
mod info;
mod progress;
mod state;

pub use config::{BufferLimits, EcnPolicy, FourTuple, Keepalive, TcpConfig};
pub use extension::{Carrier, DataMapping, Extension, NoExtension};
pub use info::TcpInfo;
pub use progress::{CloseReason, Progress};
pub use state::State;
