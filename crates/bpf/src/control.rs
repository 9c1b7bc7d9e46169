//! The coupled congestion controls.

use std::ffi::CStr;

/// A congestion control that couples the subflows of a connection. Sockets of plain TCP that have
/// it behave as with Reno, and so does a subflow beyond the sixteenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Linked increases (RFC 6356).
    Lia,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Lia];

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|control| control.name() == name)
    }

    /// Its name for `TCP_CONGESTION`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lia => "lia",
        }
    }

    /// The name of its operations' map, by which a registration is known to be ours.
    pub(crate) fn map(self) -> &'static CStr {
        match self {
            Self::Lia => c"mptcplab_lia",
        }
    }

    /// Its compiled programs; empty where there was no compiler.
    pub(crate) fn object(self) -> &'static [u8] {
        match self {
            Self::Lia => include_bytes!(concat!(env!("OUT_DIR"), "/lia.o")),
        }
    }
}
