//! The subflows that a connection should have.

use std::net::{IpAddr, SocketAddr};

use mptcplab_linux::interfaces::LocalAddress;

use crate::Nanos;
use crate::config::{Config, Paths};
use crate::view::ConnectionView;

/// Timeouts in a row after which a path counts as lost.
pub(crate) const TIMEOUTS_OF_A_LOST_PATH: u8 = 2;

/// A number of subflows between two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DesiredSubflows {
    pub(crate) local: IpAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) count: usize,
    pub(crate) backup: bool,
}

/// The subflows that a connection should have, the most preferred first.
pub(crate) fn desired_subflows(
    config: &Config,
    addresses: &[LocalAddress],
    connection: &ConnectionView,
    now: Nanos,
) -> Vec<DesiredSubflows> {
    if connection.server_side {
        return Vec::new();
    }
    let (local, remote) = (connection.initial.0.ip(), connection.initial.1);
    match &config.paths {
        Paths::None => Vec::new(),
        Paths::Ndiffports(count) => {
            let is_here = for_opening(addresses).any(|here| here.address == local);
            let pair = DesiredSubflows {
                local,
                remote,
                count: *count as usize,
                backup: false,
            };
            is_here.then_some(pair).into_iter().collect()
        }
        Paths::Fullmesh => mesh(config, addresses, connection),
        Paths::Handover(preferred) => {
            let best = best(preferred, addresses, connection, now);
            let pair = |address: &LocalAddress| DesiredSubflows {
                local: address.address,
                remote,
                count: 1,
                backup: false,
            };
            best.map(pair).into_iter().collect()
        }
    }
}

fn mesh(
    config: &Config,
    addresses: &[LocalAddress],
    connection: &ConnectionView,
) -> Vec<DesiredSubflows> {
    let pairs = connection.remotes().flat_map(|remote| {
        let of_family = for_opening(addresses).filter(move |here| is_of_family(here, remote));
        of_family.map(move |address| DesiredSubflows {
            local: address.address,
            remote,
            count: 1,
            backup: config.is_backup(&address.interface),
        })
    });
    pairs.collect()
}

/// Address of the most preferred interface whose path is not lost.
fn best<'a>(
    preferred: &[String],
    addresses: &'a [LocalAddress],
    connection: &ConnectionView,
    now: Nanos,
) -> Option<&'a LocalAddress> {
    let is_lost = |address: &LocalAddress| {
        let mut own = connection.subflows.iter();
        let avoided = connection.avoided.get(&address.address);
        avoided.is_some_and(|until| now < *until)
            || own.any(|(pair, subflow)| {
                pair.0.ip() == address.address && subflow.timeouts >= TIMEOUTS_OF_A_LOST_PATH
            })
    };
    let rank = |address: &&LocalAddress| {
        let place = preferred.iter().position(|name| *name == address.interface);
        (is_lost(address), place.unwrap_or(preferred.len()))
    };
    let remote = connection.initial.1;
    let of_family = for_opening(addresses).filter(|here| is_of_family(here, remote));
    of_family.min_by_key(rank)
}

/// Addresses for new subflows: on deprecated ones, existing subflows only go on.
fn for_opening(addresses: &[LocalAddress]) -> impl Iterator<Item = &LocalAddress> {
    addresses.iter().filter(|address| !address.is_deprecated)
}

fn is_of_family(local: &LocalAddress, remote: SocketAddr) -> bool {
    local.address.is_ipv4() == remote.is_ipv4()
}
