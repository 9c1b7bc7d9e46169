//! The id that a local address has in a connection, or is given.

use std::net::{IpAddr, SocketAddr};

use super::Endpoint;

/// As [`PathManager::subflow_address_id`](super::PathManager::subflow_address_id), of the addresses
/// that the kernel knows.
pub(super) fn of_subflow(
    known: &[Endpoint],
    initial: Option<IpAddr>,
    address: SocketAddr,
    in_use: impl FnOnce() -> Vec<(IpAddr, u8)>,
) -> Option<u8> {
    if let Some(id) = known_id(known, address) {
        return Some(id);
    }
    if initial == Some(address.ip().to_canonical()) && address.port() == 0 {
        return Some(0);
    }
    let in_use = in_use();
    used_id(&in_use, address).or_else(|| free_id(known, &in_use))
}

/// As [`PathManager::announced_address_id`](super::PathManager::announced_address_id).
pub(super) fn of_announcement(
    known: &[Endpoint],
    address: SocketAddr,
    in_use: impl FnOnce() -> Vec<(IpAddr, u8)>,
) -> Option<u8> {
    if let Some(id) = known_id(known, address) {
        return Some(id);
    }
    let in_use = in_use();
    // The initial subflow's address is known to the peer; another id may stand for it.
    let used = used_id(&in_use, address).filter(|&id| id != 0);
    used.or_else(|| free_id(known, &in_use))
}

fn known_id(known: &[Endpoint], address: SocketAddr) -> Option<u8> {
    let wanted = (address.ip().to_canonical(), address.port());
    let mut same = known.iter();
    same.find(|known| (known.address, known.port) == wanted)
        .map(|known| known.id)
}

fn used_id(in_use: &[(IpAddr, u8)], address: SocketAddr) -> Option<u8> {
    let wanted = address.ip().to_canonical();
    let mut same = in_use.iter().filter(|_| address.port() == 0);
    same.find(|(ip, _)| *ip == wanted).map(|(_, id)| *id)
}

fn free_id(known: &[Endpoint], in_use: &[(IpAddr, u8)]) -> Option<u8> {
    (1..=u8::MAX).find(|id| {
        known.iter().all(|address| address.id != *id) && in_use.iter().all(|(_, used)| used != id)
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const INITIAL: &str = "10.0.0.1";

    fn endpoint((host, port, id): (u8, u16, u8)) -> Endpoint {
        Endpoint {
            id,
            address: [10, 0, 0, host].into(),
            port,
            flags: super::super::EndpointFlags::default(),
        }
    }

    fn at(host: u8, port: u16) -> SocketAddr {
        ([10, 0, 0, host], port).into()
    }

    fn initial() -> Option<IpAddr> {
        Some(INITIAL.parse().unwrap())
    }

    #[test]
    fn an_address_keeps_the_id_that_the_kernel_or_a_subflow_has_for_it() {
        let known = [endpoint((2, 0, 7)), endpoint((2, 80, 8))];
        let nobody = || panic!("need not be asked");
        assert_eq!(of_subflow(&known, initial(), at(2, 0), nobody), Some(7));
        assert_eq!(of_announcement(&known, at(2, 80), nobody), Some(8));
        let mapped: SocketAddr = "[::ffff:10.0.0.2]:0".parse().unwrap();
        assert_eq!(of_subflow(&known, initial(), mapped, nobody), Some(7));
        let in_use = || vec![([10, 0, 0, 3].into(), 9)];
        assert_eq!(of_subflow(&known, initial(), at(3, 0), in_use), Some(9));
        assert_eq!(of_announcement(&known, at(3, 0), in_use), Some(9));
        // Of a subflow the port is not its address's.
        assert_eq!(of_subflow(&known, initial(), at(3, 80), in_use), Some(1));
    }

    #[test]
    fn the_initial_address_has_id_0_but_is_announced_by_another() {
        let in_use = || vec![(INITIAL.parse().unwrap(), 0)];
        assert_eq!(of_subflow(&[], initial(), at(1, 0), in_use), Some(0));
        assert_eq!(of_announcement(&[], at(1, 0), in_use), Some(1));
        let known = [endpoint((1, 0, 0))];
        assert_eq!(of_announcement(&known, at(1, 0), in_use), Some(0));
    }

    #[test]
    fn there_may_be_no_id_left() {
        let known: Vec<_> = (1..=255).map(|id| endpoint((id, 1, id))).collect();
        assert_eq!(of_subflow(&known, None, at(2, 0), Vec::new), None);
        assert_eq!(of_announcement(&known, at(2, 0), Vec::new), None);
    }

    proptest! {
        #[test]
        fn a_new_id_is_nobody_elses(
            known in vec((1..9_u8, 0..3_u16, 1..20_u8), 0..20),
            in_use in vec((1..9_u8, 1..20_u8), 0..20),
            (host, port) in (1..9_u8, 0..3_u16),
        ) {
            let known: Vec<_> = known.into_iter().map(endpoint).collect();
            let in_use: Vec<(IpAddr, u8)> = in_use
                .into_iter()
                .map(|(host, id)| ([10, 0, 0, host].into(), id))
                .collect();
            let address = at(host, port);
            let given = [
                of_subflow(&known, None, address, || in_use.clone()),
                of_announcement(&known, address, || in_use.clone()),
            ];
            prop_assert_eq!(given[0], given[1]);
            let id = given[0].unwrap();
            prop_assert!(id != 0);
            let is_its_own = known
                .iter()
                .any(|one| (one.address, one.port, one.id) == (address.ip(), port, id))
                || in_use.contains(&(address.ip(), id));
            let is_taken = known.iter().any(|one| one.id == id)
                || in_use.iter().any(|(_, used)| *used == id);
            prop_assert!(is_its_own || !is_taken);
        }
    }
}
