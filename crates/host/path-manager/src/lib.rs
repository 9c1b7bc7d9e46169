//! Path managers beyond the kernel's own.
//!
//! A daemon in one network namespace: it follows every connection by the path manager's events, and
//! opens and closes its subflows. [`Core`] is the decision logic, without I/O or clock; [`Daemon`] is
//! its I/O. What any path manager decides alike is in [`mptcplab_paths`]. Connections that were
//! opened before it began, or while `net.mptcp.path_manager` was the kernel's, are left alone.

mod config;
mod core;
mod daemon;
mod policy;
mod view;

pub use crate::config::{Config, Paths, Step};
pub use crate::core::{Command, Core, SubflowSample};
pub use crate::daemon::Daemon;
pub use mptcplab_linux::interfaces::LocalAddress;
pub use mptcplab_paths::Nanos;
pub use nix::sys::eventfd;
