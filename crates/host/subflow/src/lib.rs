//! The subflows of one's own MPTCP connections on an unpatched kernel.
//!
//! [`own`] tells which subflows a connected socket has; that needs no privilege. A [`Manager`] opens, closes
//! and steers them. That needs CAP_NET_ADMIN, so a program without it passes its socket to a broker,
//! which acts on that connection only ([`protocol`]). In either case [`path_manager`] gives the
//! commands to the kernel, and [`options`] sets options of single subflows. Names are those of RFC
//! 8684.

mod client;
mod direct;
mod error;
mod event;
mod fallback;
mod manager;
mod opening;
pub mod options;
pub mod own;
pub mod path_manager;
pub mod protocol;
mod shared;
mod socket;
mod wait;
mod watch;

pub use error::{Error, reset_reason};
pub use event::{EventKind, SubflowEvent};
pub use manager::{Manager, Open};
pub use own::{connection, subflow_ids, subflow_info, subflow_option, subflow_tuple};
pub use shared::Managers;
pub use wait::Interrupt;
pub use watch::Watch;
