//! A simulated world in real time, with a real host at its edge.
//!
//! One node of a [`World`](mptcplab_engine_sim::World) stands for a real host: what the world sends to it
//! leaves through TUN devices of that host, one for each of its interfaces, and what the host sends
//! through them enters the world. [`Live`] steps the world by the real clock. So the host stack of
//! the simulator, its links and its middleboxes meet the network stack of a running kernel; the
//! tests of this crate are such meetings.
//!
//! The host is a network namespace with addresses and routes of its own, which the caller makes;
//! [`Tun::open`] makes a device in the namespace of the calling thread.

#![forbid(unsafe_code)]

mod driver;
mod tun;

pub use driver::Live;
pub use tun::Tun;
