//! What a running Linux tells of its MPTCP, and does with it.
//!
//! [`socket`] asks one's own sockets, [`sock_diag`] all sockets of a network namespace.
//! [`path_manager`] gives orders to the kernel's path manager and [`event`] reads what it tells of
//! connections as it happens; both need CAP_NET_ADMIN over the namespace ([`netns`]). Structures and numbers are
//! those of the kernel's headers `linux/mptcp.h`, `linux/mptcp_pm.h`, `linux/tcp.h` and
//! `linux/inet_diag.h`.

pub mod bytes;
pub mod changes;
pub mod charge;
mod describe;
pub mod dump;
pub mod event;
pub mod generic;
pub mod interfaces;
mod mptcp_info;
pub mod netlink;
pub mod netns;
pub mod path_manager;
pub mod sock_diag;
pub mod socket;
mod tcp_info;

pub use describe::describe;
pub use mptcp_info::MptcpInfo;
pub use tcp_info::{TcpInfo, state_number};
