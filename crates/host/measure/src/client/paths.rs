//! Local addresses from which a target is reached.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::Duration;

use mptcplab_linux::interfaces::{Interface, Interfaces};
use mptcplab_linux::rtnetlink::Rtnetlink;
use serde::Serialize;

use super::Protocol;
use super::connecting::asking_meanwhile;
use super::experiment::{Opening, open};
use crate::Error;

/// Time for a target to answer on a path.
const TIME_TO_CONNECT: Duration = Duration::from_secs(3);
/// Time for all of them to be found.
const TIME_TO_FIND: Duration = Duration::from_secs(20);

/// A local address that reaches the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Its interface.
    pub interface: String,
    /// The address.
    pub source: IpAddr,
    /// The interface to bind to: routes of packets from the address lead to another one.
    pub device: Option<String>,
    /// Number of the interface.
    pub index: u32,
}

/// The paths to a target that was reached from `local`, that one first: one for each interface, and
/// where some of its addresses are among the `named` ones, all of these. `goes_on` is asked several
/// times a second.
///
/// # Errors
/// The kernel's, and [`Error::Stopped`].
pub fn paths(
    target: SocketAddr,
    local: IpAddr,
    named: &[IpAddr],
    mut goes_on: impl FnMut() -> bool,
) -> Result<Vec<Path>, Error> {
    let named = named.to_vec();
    let found = asking_meanwhile(TIME_TO_FIND, &mut goes_on, move || {
        find(target, local, &named)
    });
    found?.map_err(Error::at("the paths"))
}

fn find(target: SocketAddr, local: IpAddr, named: &[IpAddr]) -> io::Result<Vec<Path>> {
    let mut netlink = Interfaces::open()?;
    let interfaces = netlink.interfaces()?;
    let addresses = netlink.addresses()?;
    let of_first = addresses.iter().find(|address| address.ip == local);
    let mut routes = Rtnetlink::open()?;
    let leaves = |routes: &mut Rtnetlink, source| {
        routes
            .outgoing_interface(source, target.ip())
            .ok()
            .flatten()
    };
    let is_loopback = |index| {
        let mut every = interfaces.iter();
        every.any(|one: &Interface| one.index == index && one.is_loopback)
    };
    let first_index = of_first.map(|address| address.interface);
    let out = leaves(&mut routes, local).or(first_index);
    if let Some(index) = out.filter(|index| is_loopback(*index)) {
        return Ok(vec![path(&interfaces, index, local, None)]);
    }
    let mut candidates = Vec::new();
    for one in netlink.local_addresses()? {
        let index = interfaces.iter().find(|known| known.name == one.interface);
        let Some(index) = index.map(|known| known.index) else {
            continue;
        };
        if one.address.is_ipv4() == target.is_ipv4() && !one.is_deprecated {
            let is_routed = leaves(&mut routes, one.address) == Some(index);
            let device = (!is_routed).then(|| one.interface.clone());
            candidates.push(path(&interfaces, index, one.address, device));
        }
    }
    candidates.sort_by_key(|one| one.source != local);
    Ok(of_each_interface(reached(candidates, target), named))
}

fn path(interfaces: &[Interface], index: u32, source: IpAddr, device: Option<String>) -> Path {
    let known = interfaces.iter().find(|one| one.index == index);
    Path {
        interface: known.map_or_else(|| index.to_string(), |one| one.name.clone()),
        source,
        device,
        index,
    }
}

/// Those from which the target answers, tried at the same time.
fn reached(candidates: Vec<Path>, target: SocketAddr) -> Vec<Path> {
    let answers = |one: &Path| {
        let opening = Opening {
            protocol: Protocol::Tcp,
            source: one.source,
            device: one.device.as_deref(),
            fast: false,
        };
        open(&opening, target, TIME_TO_CONNECT).is_ok()
    };
    let reached: Vec<bool> = thread::scope(|scope| {
        let threads: Vec<_> = candidates
            .iter()
            .map(|one| scope.spawn(move || answers(one)))
            .collect();
        let answers = threads.into_iter().map(|thread| thread.join());
        answers.map(|answer| answer.expect("no panic")).collect()
    });
    let all = candidates.into_iter().zip(reached);
    all.filter_map(|(one, is_reached)| is_reached.then_some(one))
        .collect()
}

/// The named ones of each interface, or the first one where none is named.
fn of_each_interface(paths: Vec<Path>, named: &[IpAddr]) -> Vec<Path> {
    let is_named = |path: &Path| named.contains(&path.source);
    let with_named = paths.iter().filter(|path| is_named(path));
    let with_named: Vec<_> = with_named.map(|path| path.index).collect();
    let mut kept: Vec<Path> = Vec::new();
    for path in paths {
        let is_kept = match with_named.contains(&path.index) {
            true => is_named(&path),
            false => kept.iter().all(|one| one.index != path.index),
        };
        if is_kept {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_a_path_and_so_is_each_of_its_named_addresses() {
        let path = |index: u32, last: u8| Path {
            interface: format!("eth{index}"),
            source: IpAddr::from([10, 0, index as u8, last]),
            device: None,
            index,
        };
        let every = vec![path(1, 1), path(2, 1), path(1, 2), path(2, 2), path(2, 3)];
        let kept = of_each_interface(every.clone(), &[]);
        assert_eq!(kept, [path(1, 1), path(2, 1)]);
        let named = [every[3].source, every[4].source];
        let kept = of_each_interface(every, &named);
        assert_eq!(kept, [path(1, 1), path(2, 2), path(2, 3)]);
    }
}
