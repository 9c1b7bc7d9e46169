//! The steps of an experiment that tells whether MPTCP is worth it: first whether it survives on
//! each path, and whether payload and data in SYNs pass, then the idle RTT, TCP over each path,
//! MPTCP, and TCP over all paths at once, and what ends that early. [`Course`] decides, without I/O
//! and without a clock; [`advance`] carries a step out.
//!
//! `mptcplab probe` has the same steps in Python; a test compares them.

mod chance;
mod course;
mod order;
mod step;
mod survival;

pub use chance::Chance;
pub use course::{Course, Done, STOPPED, advance, one_line};
pub use order::{Order, Transfers, loads, most_bytes, steps};
pub use step::{Direction, Kind, MOST_PATHS, Step};
