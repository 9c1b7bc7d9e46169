//! Additions to a stock kernel by BPF: the coupled congestion controls of Multipath TCP,
//! and options on a single subflow.
//!
//! The programs are C (`programs/`), compiled when the crate is built and placed into it; they find
//! the kernel's structures where the running kernel has them (CO-RE). The distribution's libbpf,
//! opened when it is first needed, loads them.

#[cfg(test)]
extern crate self as mptcplab_bpf;

mod btf;
mod compiled;
mod control;
mod elf;
mod error;
mod foreign;
mod kernel;
mod libbpf;
mod object;
mod registration;
mod subflow_options;

pub use compiled::Kind;
pub use control::Control;
pub use error::Error;
pub use foreign::{Registered, load_object, registered, unload};
pub use registration::{Registration, State};
pub use subflow_options::{LONGEST_VALUE, SubflowOptions};
