//! The coupled congestion controls.

use std::ffi::CStr;

/// A congestion control that couples the subflows of a connection. A socket of plain TCP, and a
/// subflow beyond the sixteenth, behaves as with Reno, or with Vegas where it is wVegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Linked increases (RFC 6356).
    Lia,
    /// Opportunistic linked increases.
    Olia,
    /// Balanced linked adaptation.
    Balia,
    /// Weighted Vegas.
    WVegas,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Lia, Self::Olia, Self::Balia, Self::WVegas];

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|control| control.name() == name)
    }

    /// Its name for `TCP_CONGESTION`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lia => "lia",
            Self::Olia => "olia",
            Self::Balia => "balia",
            Self::WVegas => "wvegas",
        }
    }

    /// The name of its operations' map, by which a registration is known to be ours.
    pub(crate) fn map(self) -> &'static CStr {
        match self {
            Self::Lia => c"mptcplab_lia",
            Self::Olia => c"mptcplab_olia",
            Self::Balia => c"mptcplab_balia",
            Self::WVegas => c"mptcplab_wvegas",
        }
    }

    /// Its compiled programs; empty where there was no compiler.
    pub(crate) fn object(self) -> &'static [u8] {
        match self {
            Self::Lia => include_bytes!(concat!(env!("OUT_DIR"), "/lia.o")),
            Self::Olia => include_bytes!(concat!(env!("OUT_DIR"), "/olia.o")),
            Self::Balia => include_bytes!(concat!(env!("OUT_DIR"), "/balia.o")),
            Self::WVegas => include_bytes!(concat!(env!("OUT_DIR"), "/wvegas.o")),
        }
    }
}
