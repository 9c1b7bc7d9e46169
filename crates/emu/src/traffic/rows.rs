//! The row that only the traffic of this engine writes (`docs/recording.md`).

use mptcplab_link::Nanos;
use serde::Serialize;

/// A row of `outputs`.
#[derive(Serialize)]
pub(super) struct Output<'a> {
    pub(super) traffic: &'a str,
    pub(super) node: &'a str,
    pub(super) stream: &'static str,
    pub(super) t_ns: Nanos,
    pub(super) text: &'a str,
}
