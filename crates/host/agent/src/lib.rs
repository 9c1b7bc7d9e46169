//! A measurement agent: carries out a server's plans against targets, and sends the results.
//!
//! [`run`] has two threads. One measures: [`schedule`] says when, `experiment` carries out what
//! [`mptcplab_measure::steps`] decides. The other one sends: results lie in a [`spool`] until the
//! server has told their hash. All that is kept across an end of any kind is in a [`store`].
//!
//! [`schedule`], [`ledger`], [`caps`], [`backoff`], [`window`], [`plan`] and [`http::Decoder`] are
//! without I/O and without a clock.

mod agent;
pub mod api;
pub mod backoff;
pub mod caps;
pub mod clock;
mod endpoints;
pub mod enrolment;
mod error;
mod experiment;
mod files;
mod host;
pub mod http;
pub mod ledger;
mod measuring;
pub mod plan;
mod report;
mod result;
pub mod schedule;
mod sending;
mod shared;
pub mod spool;
pub mod store;
pub mod window;

pub use agent::{Config, run};
pub use endpoints::{hold_until_end_of_input, parse_endpoint};
pub use error::Error;
pub use shared::Log;
