//! The broker: carries out orders about subflows for programs without privilege.
//!
//! A program passes the descriptor of its socket with each order ([`mptcplab_subflow::protocol`]),
//! and the order acts on the connection of that socket and on no other. A policy says who may do
//! what.
//!
//! Each user is served by a thread of his own ([`user`]). A client can make a system call on his own
//! socket last for ever: closing one that lingers waits for the peer, and while a thread of the
//! client is stuck in send(2), on memory that a file system of his own serves, its lock is held. So
//! can floods take time. What a user does to the thread that serves him, he does to himself.

pub mod config;
mod confine;
pub mod desk;
mod error;
pub mod hand;
mod journal;
mod limits;
mod listener;
pub mod options;
mod peer;
pub mod policy;
mod post;
mod server;
mod threads;
mod user;

pub use config::Config;
pub use error::StartError;
pub use limits::Limits;
pub use server::{Broker, run};
