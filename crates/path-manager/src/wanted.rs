//! Which subflows a connection shall have.

use std::net::{IpAddr, SocketAddr};

use mptcplab_kernel::interfaces::LocalAddress;

use crate::Nanos;
use crate::config::{Config, Paths};
use crate::situation::Connection;

/// Timeouts in a row after which a path counts as lost.
pub(crate) const TIMEOUTS_OF_A_LOST_PATH: u8 = 2;

/// So many subflows between two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) local: IpAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) count: usize,
    pub(crate) backup: bool,
}

/// The subflows that a connection shall have, the most wanted first.
pub(crate) fn wanted(
    config: &Config,
    addresses: &[LocalAddress],
    connection: &Connection,
    now: Nanos,
) -> Vec<Wanted> {
    if connection.server_side {
        return Vec::new();
    }
    let (local, remote) = (connection.initial.0.ip(), connection.initial.1);
    match &config.paths {
        Paths::None => Vec::new(),
        Paths::Ndiffports(count) => {
            let is_here = for_opening(addresses).any(|here| here.address == local);
            let pair = Wanted {
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
            let pair = |address: &LocalAddress| Wanted {
                local: address.address,
                remote,
                count: 1,
                backup: false,
            };
            best.map(pair).into_iter().collect()
        }
    }
}

fn mesh(config: &Config, addresses: &[LocalAddress], connection: &Connection) -> Vec<Wanted> {
    let pairs = connection.remotes().flat_map(|remote| {
        let of_family = for_opening(addresses).filter(move |here| is_of_family(here, remote));
        of_family.map(move |address| Wanted {
            local: address.address,
            remote,
            count: 1,
            backup: config.is_backup(&address.interface),
        })
    });
    pairs.collect()
}

/// The address to be used: of the most preferred interface whose path is not lost.
fn best<'a>(
    preferred: &[String],
    addresses: &'a [LocalAddress],
    connection: &Connection,
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

/// What goes over the others may go on, but nothing new begins there.
fn for_opening(addresses: &[LocalAddress]) -> impl Iterator<Item = &LocalAddress> {
    addresses.iter().filter(|address| !address.is_deprecated)
}

fn is_of_family(local: &LocalAddress, remote: SocketAddr) -> bool {
    local.address.is_ipv4() == remote.is_ipv4()
}
