//! A switch of OpenFlow 1.3 (specification 1.3.5) as a state machine, without I/O and without a
//! clock: frames, messages and the time go in; frames, messages and the next deadline come out.
//! Sections that comments name are those of the specification.
//!
//! [`Switch`] has several tables, groups, meters, queues, buffers and controllers. Copying TTLs,
//! MPLS, backbone bridges, the ports LOCAL and NORMAL, the meters of the slow datapath and of the
//! controllers, reassembly of fragments and experimenters' extensions are left out: requests for them are refused by the error of the specification.
//! Times are nanoseconds since an epoch of the caller's choice, and never go back.
//!
//! ```
//! use mptcplab_switch::{Config, DropReason, PortSetup, Switch};
//!
//! let ports = vec![PortSetup::new(1), PortSetup::new(2)];
//! let mut switch = Switch::new(Config { ports, ..Config::default() });
//! let mut out = Vec::new();
//! switch.receive_packet(0, 1, vec![0; 60].into(), &mut out);
//! // No entry says where the packet goes.
//! assert!(out.is_empty());
//! assert_eq!(switch.account().dropped.of(DropReason::TableMiss), 1);
//! ```

#![forbid(unsafe_code)]

mod account;
mod action_set;
mod buffers;
mod check;
mod config;
mod controller;
mod entries;
mod features;
mod flow_mod;
mod frame;
mod group;
mod meter;
mod output;
mod pipeline;
mod ports;
mod requests;
mod send;
mod statistics;
mod switch;
mod table;
mod timeouts;
mod way;

pub use account::{Account, DropReason, Reasons};
pub use config::{Config, PortSetup, QueueSetup};
pub use controller::ControllerId;
pub use entries::{EntryEnd, FlowEntry};
pub use output::Output;
pub use switch::Switch;
