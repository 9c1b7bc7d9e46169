//! Frames that give no segment.

/// Why a frame gives no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// It holds another protocol than IP.
    NotIp,
    /// Its packet holds another protocol than TCP, also within the tunnels that are known.
    NotTcp,
    /// The capture has not all of the headers up to the fixed part of the TCP header.
    Truncated,
    /// A fragment of a packet of which the others have not come (yet).
    FragmentIncomplete,
    /// Its link type is unknown.
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
    /// Fragments of packets that another frame completed, which gave the segment, or had one that
    /// cannot be read.
    pub fragment_joined: u64,
    /// See [`Skip::UnknownLinkType`].
    pub unknown_link_type: u64,
    /// See [`Skip::Malformed`].
    pub malformed: u64,
}

impl Skipped {
    /// Returns each reason's word and count.
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

    /// Returns all of them.
    pub fn total(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }

    /// Counts a frame.
    #[cold]
    pub(super) fn count(&mut self, skip: Skip) {
        self.add(skip, 1);
    }

    pub(super) fn add(&mut self, skip: Skip, frames: u64) {
        *match skip {
            Skip::NotIp => &mut self.not_ip,
            Skip::NotTcp => &mut self.not_tcp,
            Skip::Truncated => &mut self.truncated,
            Skip::FragmentIncomplete => &mut self.fragment_incomplete,
            Skip::UnknownLinkType => &mut self.unknown_link_type,
            Skip::Malformed => &mut self.malformed,
        } += frames;
    }
}
