//! Which subflows a connection shall have.

use std::net::{IpAddr, SocketAddr};

use crate::Nanos;
use crate::config::{Config, Paths};
use crate::situation::{Connection, HostAddress};

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
    addresses: &[HostAddress],
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
            let is_here = addresses.iter().any(|address| address.ip == local);
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
            let pair = |address: &HostAddress| Wanted {
                local: address.ip,
                remote,
                count: 1,
                backup: false,
            };
            best.map(pair).into_iter().collect()
        }
    }
}

fn mesh(config: &Config, addresses: &[HostAddress], connection: &Connection) -> Vec<Wanted> {
    let pairs = connection.remotes().flat_map(|remote| {
        let same_family = move |address: &&HostAddress| address.ip.is_ipv4() == remote.is_ipv4();
        let of_family = addresses.iter().filter(same_family);
        of_family.map(move |address| Wanted {
            local: address.ip,
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
    addresses: &'a [HostAddress],
    connection: &Connection,
    now: Nanos,
) -> Option<&'a HostAddress> {
    let is_lost = |address: &HostAddress| {
        let mut own = connection.subflows.iter();
        let avoided = connection.avoided.get(&address.ip);
        avoided.is_some_and(|until| now < *until)
            || own.any(|(pair, subflow)| {
                pair.0.ip() == address.ip && subflow.timeouts >= TIMEOUTS_OF_A_LOST_PATH
            })
    };
    let rank = |address: &&HostAddress| {
        let place = preferred.iter().position(|name| *name == address.interface);
        (is_lost(address), place.unwrap_or(preferred.len()))
    };
    let remote = connection.initial.1;
    let same_family = |address: &&HostAddress| address.ip.is_ipv4() == remote.is_ipv4();
    addresses.iter().filter(same_family).min_by_key(rank)
}
