//! Frames between namespaces: how they are taken off an interface, cut into the packets that a
//! wire would carry, and put back.

pub mod port;
pub mod segments;
