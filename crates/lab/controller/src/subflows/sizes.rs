//! Sizes of transfers: told, or learned from those that are over.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::config::TransferSize;

/// Servers of which sizes are learned.
const SERVERS: usize = 1024;
/// Transfers of a server that are remembered.
const TRANSFERS: usize = 15;

/// Values of servers. The server that was not used the longest gives way where there are too many.
#[derive(Clone, Debug)]
struct Recent<T> {
    /// The value, and the number of its last use.
    of: BTreeMap<SocketAddr, (u64, T)>,
    /// Uses so far.
    uses: u64,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            of: BTreeMap::new(),
            uses: 0,
        }
    }
}

impl<T: Default> Recent<T> {
    /// The value of a server, which is used now.
    fn used(&mut self, server: SocketAddr) -> &mut T {
        if !self.of.contains_key(&server) && self.of.len() >= SERVERS {
            let oldest = self.of.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(server, _)| *server) {
                self.of.remove(&oldest);
            }
        }
        self.uses += 1;
        let (used, value) = self.of.entry(server).or_default();
        *used = self.uses;
        value
    }
}

/// Sizes by server and port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    told: BTreeMap<SocketAddr, u64>,
    /// Sizes of the last transfers.
    learned: Recent<VecDeque<u64>>,
    /// The connection that was opened last. Any host makes such entries, and no host makes learned
    /// ones by them.
    latest: Recent<Option<u64>>,
}

impl Sizes {
    pub(crate) fn new(sizes: &[TransferSize]) -> Self {
        let told = sizes.iter();
        Self {
            told: told
                .map(|size| (SocketAddr::new(size.server, size.port), size.bytes))
                .collect(),
            ..Self::default()
        }
    }

    /// Takes a connection that is opened, and returns the one that was opened before.
    pub(crate) fn opened(&mut self, server: SocketAddr, connection: u64) -> Option<u64> {
        if self.learned.of.contains_key(&server) {
            self.learned.used(server);
        }
        self.latest.used(server).replace(connection)
    }

    /// Takes the size of a server's transfers; `false`: there are too many servers.
    pub(crate) fn tell(&mut self, server: SocketAddr, bytes: u64) -> bool {
        let has_room = self.told.len() < SERVERS || self.told.contains_key(&server);
        if has_room {
            self.told.insert(server, bytes);
        }
        has_room
    }

    /// Servers whose sizes were told, and the sizes, bytes.
    pub(crate) fn told(&self) -> impl Iterator<Item = (SocketAddr, u64)> {
        self.told.iter().map(|(server, bytes)| (*server, *bytes))
    }

    /// Whether the size of a server's transfers was told.
    pub(crate) fn is_told(&self, server: SocketAddr) -> bool {
        self.told.contains_key(&server)
    }

    /// Bytes of a transfer of a server: as told, else the median of those that were seen at its
    /// port, else of those at all ports of its address.
    pub(crate) fn of(&self, server: SocketAddr) -> Option<u64> {
        let told = self.told.get(&server).copied();
        let learned = &self.learned.of;
        let at_port = || median(learned.get(&server).map(|(_, one)| one));
        told.or_else(at_port).or_else(|| {
            let [first, last] = [0, u16::MAX].map(|port| SocketAddr::new(server.ip(), port));
            median(learned.range(first..=last).map(|(_, (_, one))| one))
        })
    }

    /// Takes the size of a transfer that is over.
    pub(crate) fn learn(&mut self, server: SocketAddr, bytes: u64) {
        let learned = self.learned.used(server);
        if learned.len() == TRANSFERS {
            learned.pop_front();
        }
        learned.push_back(bytes);
    }
}

/// The median of the transfers of some servers.
fn median<'a>(servers: impl IntoIterator<Item = &'a VecDeque<u64>>) -> Option<u64> {
    let bytes = servers.into_iter().flatten();
    let mut bytes: Vec<u64> = bytes.copied().collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_learned_and_what_is_told_goes_before() {
        let server = SocketAddr::from(([10, 0, 0, 1], 80));
        let mut sizes = Sizes::default();
        assert_eq!(sizes.of(server), None);
        for bytes in [10, 1_000, 20] {
            sizes.learn(server, bytes);
        }
        assert_eq!(sizes.of(server), Some(20));
        // Of another port nothing is known but what its server sends by others.
        let other = SocketAddr::new(server.ip(), 81);
        assert_eq!(sizes.of(other), Some(20));
        sizes.learn(other, 7);
        assert_eq!((sizes.of(other), sizes.of(server)), (Some(7), Some(20)));
        assert_eq!(sizes.of(SocketAddr::from(([10, 0, 0, 2], 80))), None);
        sizes.tell(server, 5);
        assert_eq!(sizes.of(server), Some(5));
    }

    #[test]
    fn the_server_that_was_not_used_the_longest_gives_way() {
        let server = |port| SocketAddr::from(([10, 0, 0, 2], port));
        let kept = SocketAddr::from(([10, 0, 0, 1], 80));
        let silent = SocketAddr::from(([10, 0, 0, 1], 81));
        let mut sizes = Sizes::default();
        sizes.learn(kept, 20);
        sizes.opened(silent, 1);
        for port in 0..3_000 {
            assert_eq!(sizes.opened(kept, u64::from(port)).is_some(), port > 0);
            sizes.learn(server(port), 1);
            assert_eq!(sizes.of(kept), Some(20));
        }
        assert_eq!(sizes.learned.of.len(), SERVERS);
        // Hosts that open connections to many make the controller forget no size.
        for port in 0..3_000 {
            sizes.opened(SocketAddr::from(([10, 0, 0, 3], port)), 1);
        }
        assert_eq!(sizes.latest.of.len(), SERVERS);
        assert_eq!(sizes.learned.of.len(), SERVERS);
        assert_eq!(sizes.opened(silent, 2), None);
        assert_eq!(sizes.of(server(2_999)), Some(1));
    }
}
