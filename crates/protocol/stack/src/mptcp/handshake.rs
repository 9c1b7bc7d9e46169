//! Keys of a connection, and how far its handshake has come.

use alloc::vec::Vec;

use mptcplab_wire::keys::Key;

use crate::path_manager::Join;

/// Protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The first subflow is being opened.
    Opening,
    /// MPTCP is spoken.
    Multipath,
    /// TCP is spoken.
    Fallback,
}

/// Keys of both ends, and the outcome of the handshake of MP_CAPABLE.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    local_key: Key,
    remote_key: Option<Key>,
    mode: Mode,
    /// The peer has shown that it has the keys: joins and announcements may follow.
    confirmed: bool,
    /// Checksums are used, or asked for while the handshake lasts.
    checksum: bool,
    /// Subflows that the application has asked for before the peer's confirmation.
    early_joins: Vec<Join>,
}

impl Handshake {
    pub(super) fn new(local_key: Key, checksum: bool) -> Self {
        Self {
            local_key,
            remote_key: None,
            mode: Mode::Opening,
            confirmed: false,
            checksum,
            early_joins: Vec::new(),
        }
    }

    pub(super) fn local_key(&self) -> Key {
        self.local_key
    }

    pub(super) fn remote_key(&self) -> Option<Key> {
        self.remote_key
    }

    #[inline]
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    #[inline]
    pub(super) fn is_multipath(&self) -> bool {
        self.mode == Mode::Multipath
    }

    #[inline]
    pub(super) fn is_fallback(&self) -> bool {
        self.mode == Mode::Fallback
    }

    #[inline]
    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    #[inline]
    pub(super) fn checksum(&self) -> bool {
        self.checksum
    }

    /// Uses checksums where the peer asks for them: one end's wish is enough.
    pub(super) fn require_checksum(&mut self, asked: bool) {
        self.checksum |= asked;
    }

    /// Speaks MPTCP, as both keys are known.
    pub(super) fn speak_multipath(&mut self, remote_key: Key) {
        self.remote_key = Some(remote_key);
        self.mode = Mode::Multipath;
    }

    /// Speaks TCP.
    pub(super) fn speak_tcp(&mut self) {
        self.mode = Mode::Fallback;
    }

    /// Notes that the peer has the keys. Gives the joins that waited for that.
    pub(super) fn confirm(&mut self) -> impl Iterator<Item = Join> {
        self.confirmed = true;
        self.early_joins.drain(..)
    }

    /// Gives a join of the application back where it may leave now, and keeps it otherwise.
    pub(super) fn admit(&mut self, join: Join) -> Option<Join> {
        if !self.confirmed {
            self.early_joins.push(join);
            return None;
        }
        Some(join)
    }
}
