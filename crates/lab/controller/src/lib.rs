//! An OpenFlow 1.3 controller that knows the subflows of MPTCP, without I/O and without a clock:
//! messages and the time go in; messages and the next deadline come out.
//!
//! [`Controller`] finds the links between its switches by signed frames, learns hosts, and installs
//! rules for each subflow along a path that its [`Policy`] chooses: for the first subflow of a
//! connection when its MP_CAPABLE comes, for the others when their MP_JOIN does. Switches and hosts
//! may be hostile: nothing that they say panics, and what is remembered of them has
//! [bounds](Limits). Times are nanoseconds since an epoch of the caller's choice.
//!
//! ```
//! use mptcplab_controller::{Config, ConnectionId, Controller, policy};
//!
//! let disjoint = policy("disjoint", 0).expect("there is one of that name");
//! let mut controller = Controller::new(Config::default(), disjoint);
//! let mut out = Vec::new();
//! controller.connect(0, ConnectionId(1), &mut out);
//! // The hello.
//! assert_eq!(out.len(), 1);
//! ```

#![forbid(unsafe_code)]

mod bucket;
mod config;
mod controller;
mod events;
mod forwarding;
mod frame;
mod link_use;
mod load;
mod messages;
mod new_subflows;
mod output;
mod past_traffic;
mod paths;
mod place;
mod policy;
mod role;
mod session;
mod subflows;
mod timers;
mod topology;
mod view;

pub use config::{Config, Limits, TransferSize};
pub use controller::Controller;
pub use events::Event;
pub use output::{ConnectionId, Output};
pub use place::{Link, PortRef};
pub use policy::{
    Answer, Carrying, Disjoint, EarliestCompletion, Ecmp, LeastUsed, MpssHetN, PathView, Policy,
    Request, Shortest, SubflowView, Told, ToldConnection, ToldFlow, ToldLink, ToldPath, policy,
    told,
};
pub use subflows::{Flow, State};
pub use view::{
    ConnectionView, LinkView, PlacedSubflow, PortView, RuleView, SwitchView, TopologyView,
};
