//! An agent beside a small HTTPS server, and a target, of this process: real sockets, real files.

mod delivery;
mod enrolment;
mod experiments;
mod hostile;
mod server;
