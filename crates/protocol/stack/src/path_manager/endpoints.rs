//! Subflows from the host's endpoints: the flags `subflow` and `fullmesh`.

use alloc::vec::Vec;

use super::{Join, View};

/// From each address with `subflow` one to the peer's first address; with `fullmesh` too, to each
/// address of the peer. An address with `fullmesh` alone is used for those that the peer announced.
pub(crate) fn endpoints(view: &View<'_>) -> Vec<Join> {
    let mut joins = Vec::new();
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
            let same_family = local.address.is_ipv4() == remote.address.is_ipv4();
            let used = view.is_used(local.address, remote.address);
            if wanted && remote.joinable && same_family && !used {
                joins.push(Join {
                    local: local.address,
                    remote: remote.address,
                    backup: flags.backup,
                });
            }
        }
    }
    joins
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FULLMESH, SUBFLOW, ip, join, local, path, remote, socket, view};
    use super::*;
    use crate::address::EndpointFlags;

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
            [join("10.0.2.1", "10.0.9.1:80")]
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
            endpoints(&view(&locals, &remotes, &paths)),
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
        let joins = endpoints(&view(&locals, &remotes, &[]));
        assert!(joins.iter().all(|join| join.backup));
        let ends: Vec<_> = joins.iter().map(|join| (join.local, join.remote)).collect();
        assert_eq!(
            ends,
            [
                (ip("10.0.2.1"), socket("10.0.9.1:80")),
                (ip("fd00::1"), socket("[fd00::9]:80")),
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
}
