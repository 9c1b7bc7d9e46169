//! netcat over MPTCP, TCP and UDP: what comes in at standard input leaves over a connection, and
//! the other way round.
//!
//! [`run`] is the whole command. A connection is copied in both directions by one loop
//! ([`session`]); each direction ([`lane`]) takes the way that costs least for what standard input
//! and output are. The subflows of an MPTCP connection are looked after beside it ([`steer`]).
//! Nothing is lost silently: exit status 0 says that the peer has acknowledged all that was sent,
//! and that all that was received was written out.

mod connect;
mod datagrams;
mod descriptor;
mod failure;
mod lane;
mod listen;
mod options;
mod report;
mod run;
mod scan;
mod session;
mod signals;
mod steer;
mod stream;
mod table;
mod waiting;

pub use options::{Family, Options, Path, Protocol, Wishes};
pub use run::run;
