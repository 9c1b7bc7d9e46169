//! Addresses that the ends of a connection announced.

use std::net::{IpAddr, SocketAddr};

use arrayvec::ArrayVec;
use mptcplab_wire::option::AddAddress;

use crate::Side;

/// Most announcements of a connection that are remembered; beyond them the oldest are forgotten,
/// and a subflow to such an address does not count as announced.
pub(super) const ANNOUNCEMENTS: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Announcement {
    by: Side,
    id: u8,
    address: IpAddr,
    port: Option<u16>,
}

/// Effect of an ADD_ADDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// Its id was not announced.
    New,
    /// It was announced just so.
    Again,
    /// Its id was announced with this address and port, and not withdrawn.
    InPlaceOf(IpAddr, Option<u16>),
}

/// Addresses that were announced and not withdrawn, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Announced(ArrayVec<Announcement, ANNOUNCEMENTS>);

impl Announced {
    /// Takes an ADD_ADDR.
    pub(super) fn add(&mut self, by: Side, option: &AddAddress) -> Added {
        let new = Announcement {
            by,
            id: option.address_id,
            address: option.address,
            port: option.port,
        };
        if self.0.contains(&new) {
            return Added::Again;
        }
        let is_old = |known: &&Announcement| known.by == by && known.id == new.id;
        let old = self.0.iter().find(is_old).copied();
        self.remove(by, &[new.id]);
        if self.0.is_full() {
            self.0.remove(0);
        }
        self.0.push(new);
        old.map_or(Added::New, |old| Added::InPlaceOf(old.address, old.port))
    }

    /// Takes a REMOVE_ADDR.
    pub(super) fn remove(&mut self, by: Side, ids: &[u8]) {
        self.0
            .retain(|known| known.by != by || !ids.contains(&known.id));
    }

    /// Returns whether an end announced this address, for any port or for this one.
    pub(super) fn contains(&self, by: Side, end: SocketAddr) -> bool {
        self.0.iter().any(|known| {
            known.by == by
                && known.address == end.ip()
                && known.port.is_none_or(|port| port == end.port())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(address_id: u8, address: [u8; 4], port: Option<u16>) -> AddAddress {
        AddAddress {
            echo: false,
            address_id,
            address: address.into(),
            port,
            hmac: None,
        }
    }

    #[test]
    fn an_address_counts_until_it_is_withdrawn() {
        let mut announced = Announced::default();
        let end = SocketAddr::from(([10, 0, 0, 2], 80));
        let add = |announced: &mut Announced| {
            announced.add(Side::Server, &option(2, [10, 0, 0, 2], None))
        };
        assert_eq!(add(&mut announced), Added::New);
        assert_eq!(add(&mut announced), Added::Again);
        assert!(announced.contains(Side::Server, end));
        assert!(!announced.contains(Side::Client, end));
        announced.remove(Side::Client, &[2]);
        announced.remove(Side::Server, &[3]);
        assert!(announced.contains(Side::Server, end));
        announced.remove(Side::Server, &[1, 2]);
        assert!(!announced.contains(Side::Server, end));
    }

    #[test]
    fn an_id_names_its_newest_address_and_a_port_is_meant() {
        let mut announced = Announced::default();
        announced.add(Side::Client, &option(1, [10, 0, 0, 1], None));
        let other = announced.add(Side::Client, &option(1, [10, 0, 0, 2], Some(81)));
        assert_eq!(other, Added::InPlaceOf([10, 0, 0, 1].into(), None));
        let has = |address: [u8; 4], port| {
            announced.contains(Side::Client, SocketAddr::from((address, port)))
        };
        assert!(!has([10, 0, 0, 1], 80));
        assert!(!has([10, 0, 0, 2], 80));
        assert!(has([10, 0, 0, 2], 81));
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut announced = Announced::default();
        for id in 0..=ANNOUNCEMENTS as u8 {
            announced.add(Side::Server, &option(id, [10, 0, 0, id], None));
        }
        let has = |id: u8| announced.contains(Side::Server, ([10, 0, 0, id], 80).into());
        assert!(!has(0));
        assert!(has(1) && has(ANNOUNCEMENTS as u8));
    }
}
