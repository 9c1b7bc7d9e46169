//! The transport layer of a host, with TCP and Multipath TCP, without I/O: packets and the time
//! in, packets and the next deadline out.
//!
//! A [`HostStack`] takes packets for the host's addresses, the calls of its applications, and the
//! time; it gives packets, [events](Event) and the next deadline. After any call,
//! [`transmit`](HostStack::transmit) is to be called until it gives nothing more.
//!
//! ```
//! use std::net::{IpAddr, SocketAddr};
//! use mptcplab_stack::{Event, HostConfig, HostStack, LocalAddress, SocketOptions};
//!
//! let host = |address: &str, seed| {
//!     let mut host = HostStack::new(HostConfig::default(), seed);
//!     let address: IpAddr = address.parse().unwrap();
//!     host.set_addresses(0, &[LocalAddress { address, mtu: 1500, endpoint: None }]);
//!     host
//! };
//! let mut client = host("10.0.0.1", 1);
//! let mut server = host("10.0.0.2", 2);
//! server.listen(80, SocketOptions::default());
//! let remote: SocketAddr = "10.0.0.2:80".parse().unwrap();
//! let id = client.connect(0, "10.0.0.1".parse().unwrap(), remote, SocketOptions::default());
//!
//! // A wire without delay.
//! loop {
//!     let mut idle = true;
//!     while let Some(packet) = client.transmit(0) {
//!         server.receive(0, *packet);
//!         idle = false;
//!     }
//!     while let Some(packet) = server.transmit(0) {
//!         client.receive(0, *packet);
//!         idle = false;
//!     }
//!     if idle {
//!         break;
//!     }
//! }
//! assert_eq!(client.poll_event(), Some(Event::Connected { id }));
//! ```
//!
//! The modules, each of which imports those before it only:
//!
//! - `rtt`, `sequence`, `counters`, [`congestion`]: round-trip times, sequence numbers, windows;
//! - `tcp`: one connection of TCP, or one subflow;
//! - `address`, `event`, `info`, `protocol`, `route`: words that hosts and connections share;
//! - [`scheduler`], `path_manager`: which subflow takes data, and which subflows there are;
//! - `mptcp`: one connection of Multipath TCP;
//! - `host`: all connections of a host.
//!
//! The crate is `no_std` and forbids `unsafe`: it has no clock, no thread and no socket to ask.
//! Time is an argument of every call; the granularity of the clock is a setting.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod address;
pub mod congestion;
mod counters;
mod event;
mod host;
mod info;
mod memory;
mod mptcp;
mod path_manager;
mod protocol;
mod route;
mod rtt;
pub mod scheduler;
mod sequence;
mod stretch;
mod tcp;

pub use address::{EndpointFlags, LocalAddress};
pub use congestion::CongestionAlgorithm;
pub use event::{ConnectionId, Event, SubflowId};
pub use host::{HostConfig, HostStack, SocketOptions};
pub use info::{
    ConnectionInfo, DataDetail, MultipathInfo, NotedChoice, SubflowDetail, SubflowInfo,
};
pub use mptcp::{MAX_SOFTIRQ_NS, MptcpConfig, WorkerTimes};
pub use path_manager::Limits;
pub use protocol::Protocol;
pub use route::Route;
pub use scheduler::SchedulerKind;
pub use tcp::{
    BufferLimits, CloseReason, EcnPolicy, FourTuple, Keepalive, SendingTimes, State, TcpDetail,
    TcpInfo,
};

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;
