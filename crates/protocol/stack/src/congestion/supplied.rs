//! Congestion controls from outside of this crate.

use alloc::boxed::Box;

use super::CongestionControl;

/// A congestion control made by a function, for experiments: one from another language, or one that
/// is written where it is used. Two are the same where their names are.
#[derive(Clone, Copy, Debug)]
pub struct Supplied {
    /// [`CongestionControl::name`] of what it makes.
    pub name: &'static str,
    /// Makes one for a TCP connection or a subflow; is given the name.
    pub create: fn(&'static str) -> Box<dyn CongestionControl>,
}

impl PartialEq for Supplied {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Supplied {}
