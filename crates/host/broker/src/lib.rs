//! The broker: carries out commands about subflows for programs without privilege.
//!
//! A program passes the descriptor of its socket with each command ([`mptcplab_subflow::protocol`]),
//! and the command acts on the connection of that socket and on no other. A policy says what each
//! client may do.
//!
//! Each user is served by a thread of its own ([`worker`]). A client can make a system call on its
//! own socket last for ever: closing one that lingers waits for the peer, and while a thread of the
//! client is stuck in send(2), on memory that the client's file system serves, its lock is held.
//! Floods are contained the same way: a user can only slow down their own thread.

mod admission;
pub mod backend;
pub mod config;
mod confine;
mod error;
mod journal;
mod limits;
mod listener;
pub mod options;
mod peer;
pub mod policy;
mod rejections;
pub mod request;
mod saved_setting;
mod server;
mod shared;
mod transport;
pub mod user_state;
mod user_thread;
mod wake;
mod worker;

pub use config::Config;
pub use error::StartError;
pub use limits::Limits;
pub use server::{Broker, run};
