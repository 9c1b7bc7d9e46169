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
}

impl Sizes {
    pub(crate) fn new(sizes: &[TransferSize]) -> Self {
        let told = sizes.iter();
        Self {
            told: told
                .map(|size| (SocketAddr::new(size.server, size.port), size.bytes))
                .collect(),
            learned: BTreeMap::new(),
        }
    }

    pub(crate) fn tell(&mut self, server: SocketAddr, bytes: u64) {
        if self.told.len() < SERVERS || self.told.contains_key(&server) {
            self.told.insert(server, bytes);
        }
    }

    /// Bytes of a transfer of a server: as told, else the median of those that were seen.
    pub(crate) fn of(&self, server: SocketAddr) -> Option<u64> {
        let told = self.told.get(&server).copied();
        told.or_else(|| {
            let learned = self.learned.get(&server)?;
            let mut bytes: Vec<u64> = learned.bytes.iter().copied().collect();
            bytes.sort_unstable();
            bytes.get(bytes.len() / 2).copied()
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
        sizes.tell(server, 5);
        assert_eq!(sizes.of(server), Some(5));
        for port in 0..3_000 {
            sizes.learn(port.into(), SocketAddr::from(([10, 0, 0, 2], port)), 1);
        }
        assert_eq!(sizes.learned.len(), SERVERS);
    }
}
