//! The interfaces of the running kernel to MPTCP.
//!
//! [`socket`] asks one's own sockets, [`sock_diag`] all sockets of a network namespace, and
//! [`destroyed`] reads the last account of each TCP socket of one. [`path_manager`] gives commands to
//! the kernel's path manager and [`event`] reads its events; both need CAP_NET_ADMIN over the
//! namespace ([`netns`]). Structures and numbers are those of the kernel's headers `linux/mptcp.h`,
//! `linux/mptcp_pm.h`, `linux/tcp.h` and `linux/inet_diag.h`.

pub mod bytes;
pub mod changes;
mod describe;
pub mod destroyed;
pub mod dump;
pub mod event;
pub mod generic;
pub mod interfaces;
mod mptcp_info;
pub mod netlink;
pub mod netns;
pub mod path_manager;
pub mod rtnetlink;
pub mod sock_diag;
pub mod socket;
mod subscription;
mod tcp_info;
pub mod userspace_pm;
pub mod wait;

pub use describe::describe;
pub use mptcp_info::MptcpInfo;
pub use tcp_info::{FastOpenFailure, TcpInfo, state_number};
