//! Frames between namespaces: how they are taken off an interface, cut into the packets that a
//! wire would carry, and put back.

mod carrier;
pub mod port;
pub(crate) mod raw;
mod ring;
pub mod segments;
