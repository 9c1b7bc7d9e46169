//! The subflows that a connection should have.

use std::net::SocketAddr;

use mptcplab_linux::interfaces::LocalAddress;
use mptcplab_paths::{Desired, Path, ndiffports};

use crate::Nanos;
use crate::config::{Config, Paths};
use crate::view::{ConnectionView, path_of};

/// Timeouts in a row after which a path counts as lost.
pub(crate) const TIMEOUTS_OF_A_LOST_PATH: u8 = 2;

/// The subflows that a connection should have, the most preferred first.
pub(crate) fn desired_subflows(
    config: &Config,
    addresses: &[LocalAddress],
    connection: &ConnectionView,
    now: Nanos,
) -> Vec<Desired> {
    if connection.server_side {
        return Vec::new();
    }
    let initial = path_of(&connection.initial);
    match &config.paths {
        Paths::None => Vec::new(),
        Paths::Ndiffports(count) => {
            let is_here = for_opening(addresses).any(|here| here.address == initial.local);
            let desired = ndiffports(initial, *count as usize).filter(|_| is_here);
            desired.into_iter().collect()
        }
        Paths::Fullmesh => mesh(config, addresses, connection),
        Paths::Handover(preferred) => {
            let best = best(preferred, addresses, connection, now);
            let desired = best.map(|here| Desired::one(path_from(here, initial.remote), false));
            desired.into_iter().collect()
        }
    }
}

fn mesh(config: &Config, addresses: &[LocalAddress], connection: &ConnectionView) -> Vec<Desired> {
    let paths = connection.remotes().flat_map(|remote| {
        let every = for_opening(addresses).map(move |here| (here, path_from(here, remote)));
        every.filter(|(_, path)| path.is_of_one_family())
    });
    let desired = |(here, path): (&LocalAddress, Path)| {
        let backup = config.is_backup(&here.interface);
        Desired::one(path, backup)
    };
    paths.map(desired).collect()
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
    let of_family =
        for_opening(addresses).filter(|here| path_from(here, remote).is_of_one_family());
    of_family.min_by_key(rank)
}

/// Addresses for new subflows: on deprecated ones, existing subflows only go on.
fn for_opening(addresses: &[LocalAddress]) -> impl Iterator<Item = &LocalAddress> {
    addresses.iter().filter(|address| !address.is_deprecated)
}

fn path_from(local: &LocalAddress, remote: SocketAddr) -> Path {
    Path {
        local: local.address,
        remote,
    }
}
