//! The transport layer of one host.

mod config;
mod event;
mod info;

pub use config::{EndpointConfig, EndpointFlags, LocalAddress, Protocol, SocketOptions};
pub use event::{ConnectionId, Event, SubflowId};
pub use info::{ConnectionInfo, MultipathInfo, SubflowInfo};
