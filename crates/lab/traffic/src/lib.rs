//! The common part of both engines' traffic: the content of transfers, the heads of their HTTP,
//! failures, the receiver's account, and the verdict on multipath.

#![forbid(unsafe_code)]

mod content;
mod deliveries;
mod failure;
pub mod http;
pub mod verdict;

pub use content::{Content, splitmix64};
pub use deliveries::{Bin, Deliveries, Silence};
pub use failure::{Failure, complete, connecting, delivered};
