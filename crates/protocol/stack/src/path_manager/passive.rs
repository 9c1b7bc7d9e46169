//! Subflows to what the peer announces.

use alloc::vec::Vec;

use mptcplab_paths::{Desired, Path};

use super::View;
use crate::route::source_for;

/// One subflow to each announced address, where no endpoint of this host is `fullmesh` (then
/// [`endpoints`](super::endpoints()) opens more). It starts from the address that the
/// host's routes choose, as in Linux; where none leads there, from that of the first subflow or, of
/// another family, from the first address of that.
pub(crate) fn passive(view: &View<'_>) -> Vec<Desired> {
    let fullmesh = |local: &super::Local| local.flags.is_some_and(|flags| flags.fullmesh);
    if view.locals.iter().any(fullmesh) {
        return Vec::new();
    }
    let announced = view
        .remotes
        .iter()
        .filter(|remote| remote.announced && remote.joinable);
    let unreached = announced.filter(|remote| {
        let reached = |path: &Path| path.remote == remote.address;
        !view.paths.iter().any(reached)
    });
    unreached
        .filter_map(|remote| {
            let path = |local: &super::Local| Path {
                local: local.address,
                remote: remote.address,
            };
            let fits = |local: &&super::Local| path(local).is_of_one_family();
            let first = |local: &&super::Local| local.address == view.first.local;
            let candidates = || view.locals.iter().filter(fits);
            let routed = source_for(view.routes, remote.address.ip());
            let chosen = |local: &&super::Local| Some(local.address) == routed;
            let local = candidates()
                .find(chosen)
                .or_else(|| candidates().find(first))
                .or_else(|| candidates().next())?;
            let backup = local.flags.is_some_and(|flags| flags.backup);
            Some(Desired::one(path(local), backup))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FULLMESH, ip, local, path, remote, view};
    use super::*;
    use crate::route::Route;

    fn one(local: &str, remote: &str) -> Desired {
        Desired::one(path(local, remote), false)
    }

    #[test]
    fn an_announced_address_is_joined_from_the_first_one() {
        let locals = [local(1, "10.0.2.1", None), local(0, "10.0.1.1", None)];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        assert_eq!(
            passive(&view(&locals, &remotes, &paths)),
            [one("10.0.1.1", "10.0.8.1:80")]
        );
    }

    #[test]
    fn the_host_s_routes_choose_the_address() {
        let locals = [local(0, "10.0.1.1", None), local(1, "10.0.8.2", None)];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        let route = |network, prefix_bits, source| Route {
            network: ip(network),
            prefix_bits,
            source: ip(source),
        };
        let routes = [
            route("0.0.0.0", 0, "10.0.1.1"),
            route("10.0.8.0", 24, "10.0.8.2"),
        ];
        let mut view = view(&locals, &remotes, &paths);
        view.routes = &routes;
        assert_eq!(passive(&view), [one("10.0.8.2", "10.0.8.1:80")]);
        // An address that has gone cannot be chosen.
        view.locals = &locals[..1];
        assert_eq!(passive(&view), [one("10.0.1.1", "10.0.8.1:80")]);
    }

    #[test]
    fn an_address_that_is_reached_already_is_left_alone() {
        let locals = [local(0, "10.0.1.1", None)];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.7.1", "10.0.8.1:80")];
        assert_eq!(passive(&view(&locals, &remotes, &paths)), []);
    }

    #[test]
    fn a_fullmesh_host_leaves_it_to_its_endpoints() {
        let locals = [local(0, "10.0.1.1", Some(FULLMESH))];
        let remotes = [remote(1, "10.0.8.1:80")];
        assert_eq!(passive(&view(&locals, &remotes, &[])), []);
    }

    #[test]
    fn another_family_is_joined_from_an_address_of_its_own() {
        let locals = [local(0, "10.0.1.1", None), local(1, "fd00::1", None)];
        let remotes = [remote(1, "[fd00::9]:80")];
        assert_eq!(
            passive(&view(&locals, &remotes, &[])),
            [one("fd00::1", "[fd00::9]:80")]
        );
    }
}
