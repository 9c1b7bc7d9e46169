//! Frames that give no segment.

/// Why a frame gives no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// It holds another protocol than IP.
    NotIp,
    /// Its packet holds another protocol than TCP.
    NotTcp,
    /// The capture has not all of the headers up to the fixed part of the TCP header.
    Truncated,
    /// A fragment of a packet of which the others have not come (yet).
    FragmentIncomplete,
    /// What its bytes begin with is not known here.
    UnknownLinkType,
    /// A header contradicts itself, or what is around it; or fragments overlap.
    Malformed,
}

/// Frames that gave no segment, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// See [`Skip::NotIp`].
    pub not_ip: u64,
    /// See [`Skip::NotTcp`].
    pub not_tcp: u64,
    /// See [`Skip::Truncated`].
    pub truncated: u64,
    /// See [`Skip::FragmentIncomplete`].
    pub fragment_incomplete: u64,
    /// Fragments of packets that another frame completed, which gave the segment.
    pub fragment_joined: u64,
    /// See [`Skip::UnknownLinkType`].
    pub unknown_link_type: u64,
    /// See [`Skip::Malformed`].
    pub malformed: u64,
}

impl Skipped {
    /// Each reason's word and count.
    pub fn reasons(&self) -> [(&'static str, u64); 7] {
        [
            ("not_ip", self.not_ip),
            ("not_tcp", self.not_tcp),
            ("truncated", self.truncated),
            ("fragment_incomplete", self.fragment_incomplete),
            ("fragment_joined", self.fragment_joined),
            ("unknown_link_type", self.unknown_link_type),
            ("malformed", self.malformed),
        ]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }

    #[cold]
    pub(super) fn count(&mut self, skip: Skip) {
        *match skip {
            Skip::NotIp => &mut self.not_ip,
            Skip::NotTcp => &mut self.not_tcp,
            Skip::Truncated => &mut self.truncated,
            Skip::FragmentIncomplete => &mut self.fragment_incomplete,
            Skip::UnknownLinkType => &mut self.unknown_link_type,
            Skip::Malformed => &mut self.malformed,
        } += 1;
    }
}
