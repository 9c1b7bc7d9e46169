//! What the traffic of both engines has in common: what transfers carry, the heads of their HTTP,
//! the receiver's account, and the verdict on multipath.

#![forbid(unsafe_code)]

mod content;
mod deliveries;
pub mod http;
pub mod verdict;

pub use content::{Content, splitmix64};
pub use deliveries::{Bin, Deliveries, Silence};
