//! Subflows from the host's endpoints: the flags `subflow` and `fullmesh`.

use alloc::vec::Vec;

use mptcplab_paths::{Desired, Path};

use super::View;
use crate::route::reaches;

/// From each address with `subflow` one to the peer's first address; with `fullmesh` too, to each
/// address of the peer. An address with `fullmesh` alone is used for those that the peer announced.
/// None where no route leads: the attempt would fail at once, and must not count against the limit.
pub(crate) fn endpoints(view: &View<'_>) -> Vec<Desired> {
    let mut desired = Vec::new();
    for local in view.locals {
        let Some(flags) = local.flags else {
            continue;
        };
        for remote in view.remotes {
            let wanted = if remote.id == 0 {
                flags.subflow
            } else {
                flags.fullmesh
            };
            let path = Path {
                local: local.address,
                remote: remote.address,
            };
            let reached = || reaches(view.routes, path.local, path.remote.ip());
            if wanted && remote.joinable && path.is_of_one_family() && reached() {
                desired.push(Desired::one(path, flags.backup));
            }
        }
    }
    desired
}

#[cfg(test)]
mod tests {
    use super::super::joins;
    use super::super::tests::{FULLMESH, SUBFLOW, ip, join, local, path, remote, view};
    use super::*;
    use crate::address::EndpointFlags;
    use crate::route::Route;

    #[test]
    fn a_subflow_endpoint_joins_the_first_address_of_the_peer() {
        let locals = [
            local(0, "10.0.1.1", None),
            local(1, "10.0.2.1", Some(SUBFLOW)),
        ];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        assert_eq!(
            endpoints(&view(&locals, &remotes, &paths)),
            [Desired::one(path("10.0.2.1", "10.0.9.1:80"), false)]
        );
    }

    #[test]
    fn fullmesh_joins_every_address_of_the_peer_from_each_address() {
        let locals = [
            local(0, "10.0.1.1", Some(FULLMESH)),
            local(1, "10.0.2.1", Some(FULLMESH)),
        ];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        assert_eq!(
            joins(&view(&locals, &remotes, &paths)),
            [
                join("10.0.1.1", "10.0.8.1:80"),
                join("10.0.2.1", "10.0.9.1:80"),
                join("10.0.2.1", "10.0.8.1:80"),
            ]
        );
    }

    #[test]
    fn a_backup_endpoint_opens_backups_and_families_do_not_mix() {
        let backup = EndpointFlags {
            backup: true,
            ..FULLMESH
        };
        let locals = [
            local(1, "10.0.2.1", Some(backup)),
            local(2, "fd00::1", Some(backup)),
        ];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "[fd00::9]:80")];
        assert_eq!(
            endpoints(&view(&locals, &remotes, &[])),
            [
                Desired::one(path("10.0.2.1", "10.0.9.1:80"), true),
                Desired::one(path("fd00::1", "[fd00::9]:80"), true),
            ]
        );
    }

    #[test]
    fn an_address_that_takes_no_further_subflows_gets_none() {
        let locals = [local(1, "10.0.2.1", Some(SUBFLOW))];
        let mut remotes = [remote(0, "10.0.9.1:80")];
        remotes[0].joinable = false;
        assert_eq!(endpoints(&view(&locals, &remotes, &[])), []);
    }

    #[test]
    fn an_address_joins_what_its_routes_reach() {
        let locals = [
            local(1, "10.0.1.1", Some(FULLMESH)),
            local(2, "10.0.2.1", Some(FULLMESH)),
        ];
        let remotes = [remote(0, "10.0.1.9:80"), remote(1, "10.0.2.9:80")];
        let route = |network, source| Route {
            network: ip(network),
            prefix_bits: 24,
            source: ip(source),
        };
        let routes = [route("10.0.1.0", "10.0.1.1"), route("10.0.2.0", "10.0.2.1")];
        let mut view = view(&locals, &remotes, &[]);
        view.routes = &routes;
        let reached = [
            path("10.0.1.1", "10.0.1.9:80"),
            path("10.0.2.1", "10.0.2.9:80"),
        ];
        assert_eq!(
            endpoints(&view),
            reached.map(|path| Desired::one(path, false))
        );
    }
}
