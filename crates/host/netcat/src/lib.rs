//! netcat over MPTCP, TCP and UDP: copies standard input to a connection, and the connection to
//! standard output.
//!
//! [`run`] is the whole command. One loop ([`session`]) copies in both directions; each direction
//! ([`relay`]) takes the cheapest calls for the kinds of its descriptors. A thread of its own
//! ([`subflows`]) opens and closes the subflows of an MPTCP connection. Nothing is lost silently:
//! exit status 0 says that the peer has acknowledged all that was sent, and that all that was
//! received was written out.

mod account;
mod connect;
mod datagrams;
mod descriptor;
mod failure;
mod listen;
mod options;
mod relay;
mod report;
mod resolve;
mod run;
mod scan;
mod session;
mod signals;
mod stream;
mod subflows;
mod table;
mod waiting;

pub use options::{Family, Options, Path, Protocol, SubflowOptions};
pub use run::run;
