//! The kernel engine: one process that owns every namespace, interface and child of a run.
//!
//! A [`Plan`](plan::Plan) says what to build and do; the lab process builds it, runs it and writes what
//! happened as lines of [`record`].

pub mod capture;
pub mod emulator;
pub mod frames;
pub mod host;
pub mod isolate;
pub mod lab;
pub mod lateness;

pub mod network;
mod pidfd;
pub mod realtime;
pub mod record;
pub mod route;
pub mod sysctl;
pub mod telemetry;
pub mod timeline;
pub mod traffic;

pub use mptcplab_kernel::netns;
pub use mptcplab_plan as plan;
