//! Connections and their subflows: MP_CAPABLE opens a connection, the keys of its handshake give
//! the tokens, and a token tells the connection that a MP_JOIN belongs to (RFC 8684, sections 3.1
//! and 3.2). TCP and other protocols are connections of one subflow.

mod bytes;
mod end;
mod flow;
mod observe;
mod pace;
mod shares;
mod sizes;
mod table;

pub use flow::Flow;
pub(crate) use pace::Pace;
pub(crate) use shares::Class;
pub(crate) use sizes::Sizes;
pub use table::State;
pub(crate) use table::{Kind, Subflow, Table};
