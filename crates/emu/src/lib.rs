//! The kernel engine: one process that owns every namespace, interface and child of a run.
//!
//! [`plan::Plan`] says what to build and do; [`lab::main`] builds it, runs it and writes what
//! happened as [`record::Record`] lines.

pub mod plan;
pub mod record;
