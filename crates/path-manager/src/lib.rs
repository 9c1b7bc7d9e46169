//! Path managers beyond the kernel's own.
//!
//! A daemon in one network namespace: it hears of every connection by the path manager's events and
//! orders its subflows. [`Core`] decides, without sockets or clock; [`Daemon`] is its hands and ears.
//! Connections that were opened before it began, or while `net.mptcp.path_manager` was the kernel's,
//! are left alone.

mod attempts;
mod config;
mod core;
mod daemon;
mod situation;
mod wanted;

/// Nanoseconds since any moment, of a clock that never goes back.
pub type Nanos = u64;

pub use crate::config::{Config, Paths, Step};
pub use crate::core::{Core, Order, SubflowSample};
pub use crate::daemon::Daemon;
pub use mptcplab_kernel::interfaces::LocalAddress;
pub use nix::sys::eventfd;
