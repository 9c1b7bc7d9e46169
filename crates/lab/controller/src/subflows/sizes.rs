//! Sizes of transfers: told, or learned from those that are over.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::config::TransferSize;

/// Servers of which sizes are learned.
const SERVERS: usize = 1024;
/// Transfers of a server that are remembered.
const TRANSFERS: usize = 15;

#[derive(Clone, Debug, Default)]
struct Learned {
    last_ns: u64,
    bytes: VecDeque<u64>,
}

/// Sizes by server and port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    told: BTreeMap<SocketAddr, u64>,
    learned: BTreeMap<SocketAddr, Learned>,
    /// The connection that was opened last.
    latest: BTreeMap<SocketAddr, u64>,
}

impl Sizes {
    pub(crate) fn new(sizes: &[TransferSize]) -> Self {
        let told = sizes.iter();
        Self {
            told: told
                .map(|size| (SocketAddr::new(size.server, size.port), size.bytes))
                .collect(),
            learned: BTreeMap::new(),
            latest: BTreeMap::new(),
        }
    }

    /// Takes a connection that is opened, and returns the one that was opened before.
    pub(crate) fn opened(&mut self, server: SocketAddr, connection: u64) -> Option<u64> {
        let before = self.latest.insert(server, connection);
        if self.latest.len() > SERVERS {
            self.latest.pop_first();
        }
        before
    }

    /// Takes the size of a server's transfers; `false`: there are too many servers.
    pub(crate) fn tell(&mut self, server: SocketAddr, bytes: u64) -> bool {
        let has_room = self.told.len() < SERVERS || self.told.contains_key(&server);
        if has_room {
            self.told.insert(server, bytes);
        }
        has_room
    }

    /// Bytes of a transfer of a server: as told, else the median of those that were seen at its
    /// port, else of those at all ports of its address.
    pub(crate) fn of(&self, server: SocketAddr) -> Option<u64> {
        let told = self.told.get(&server).copied();
        let at_port = || median(self.learned.get(&server));
        told.or_else(at_port).or_else(|| {
            let [first, last] = [0, u16::MAX].map(|port| SocketAddr::new(server.ip(), port));
            median(self.learned.range(first..=last).map(|(_, one)| one))
        })
    }

    /// Takes the size of a transfer that is over. The server that was silent the longest is
    /// forgotten where there are too many.
    pub(crate) fn learn(&mut self, now_ns: u64, server: SocketAddr, bytes: u64) {
        if !self.learned.contains_key(&server) && self.learned.len() >= SERVERS {
            let oldest = self.learned.iter().min_by_key(|(_, one)| one.last_ns);
            if let Some(oldest) = oldest.map(|(server, _)| *server) {
                self.learned.remove(&oldest);
            }
        }
        let learned = self.learned.entry(server).or_default();
        learned.last_ns = now_ns;
        if learned.bytes.len() == TRANSFERS {
            learned.bytes.pop_front();
        }
        learned.bytes.push_back(bytes);
    }
}

/// The median of the transfers of some servers.
fn median<'a>(servers: impl IntoIterator<Item = &'a Learned>) -> Option<u64> {
    let bytes = servers.into_iter().flat_map(|learned| &learned.bytes);
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
            sizes.learn(0, server, bytes);
        }
        assert_eq!(sizes.of(server), Some(20));
        // Of another port nothing is known but what its server sends by others.
        let other = SocketAddr::new(server.ip(), 81);
        assert_eq!(sizes.of(other), Some(20));
        sizes.learn(0, other, 7);
        assert_eq!((sizes.of(other), sizes.of(server)), (Some(7), Some(20)));
        assert_eq!(sizes.of(SocketAddr::from(([10, 0, 0, 2], 80))), None);
        sizes.tell(server, 5);
        assert_eq!(sizes.of(server), Some(5));
        for port in 0..3_000 {
            sizes.learn(port.into(), SocketAddr::from(([10, 0, 0, 2], port)), 1);
        }
        assert_eq!(sizes.learned.len(), SERVERS);
    }
}
