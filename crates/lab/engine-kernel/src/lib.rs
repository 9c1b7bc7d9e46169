//! The kernel engine: one process that owns every namespace, interface and child of a run.
//!
//! The lab process reads a [`Plan`](plan::Plan), builds its network, runs its traffic and writes rows
//! as lines of [`record`].

pub mod capture;
pub mod controller;
pub mod emulator;
pub mod frames;
mod halt;
pub mod isolate;
pub mod lateness;
pub mod network;
pub mod node;
pub mod open_vswitch;
mod pause;
mod pidfd;
mod processor;
pub mod realtime;
pub mod record;
pub mod run;
pub mod run_clock;
pub mod sysctl;
pub mod telemetry;
pub mod timeline;
pub mod traffic;
pub mod translations;

pub use mptcplab_linux::netns;
pub use mptcplab_plan as plan;
