//! Subflows to what the peer announces.

use alloc::vec::Vec;

use super::{Join, Situation};

/// One subflow to each announced address, where no endpoint of this host is `fullmesh` (then
/// [`endpoints`](super::endpoints()) opens more). It starts from the address of the first subflow,
/// as the host's routes would choose for most; of another family, from the first address of that.
pub fn passive(situation: &Situation<'_>) -> Vec<Join> {
    let fullmesh = |local: &super::Local| local.flags.is_some_and(|flags| flags.fullmesh);
    if situation.locals.iter().any(fullmesh) {
        return Vec::new();
    }
    let announced = situation
        .remotes
        .iter()
        .filter(|remote| remote.announced && remote.joinable);
    let unreached = announced.filter(|remote| {
        let reached = |path: &super::Path| path.remote == remote.address;
        !situation.paths.iter().any(reached)
    });
    unreached
        .filter_map(|remote| {
            let fits = |local: &&super::Local| local.address.is_ipv4() == remote.address.is_ipv4();
            let first = |local: &&super::Local| local.address == situation.first.0;
            let candidates = || situation.locals.iter().filter(fits);
            let local = candidates().find(first).or_else(|| candidates().next())?;
            Some(Join {
                local: local.address,
                remote: remote.address,
                backup: local.flags.is_some_and(|flags| flags.backup),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FULLMESH, join, local, path, remote, situation};
    use super::*;

    #[test]
    fn an_announced_address_is_joined_from_the_first_one() {
        let locals = [local(1, "10.0.2.1", None), local(0, "10.0.1.1", None)];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        assert_eq!(
            passive(&situation(&locals, &remotes, &paths)),
            [join("10.0.1.1", "10.0.8.1:80")]
        );
    }

    #[test]
    fn an_address_that_is_reached_already_is_left_alone() {
        let locals = [local(0, "10.0.1.1", None)];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.7.1", "10.0.8.1:80")];
        assert_eq!(passive(&situation(&locals, &remotes, &paths)), []);
    }

    #[test]
    fn a_fullmesh_host_leaves_it_to_its_endpoints() {
        let locals = [local(0, "10.0.1.1", Some(FULLMESH))];
        let remotes = [remote(1, "10.0.8.1:80")];
        assert_eq!(passive(&situation(&locals, &remotes, &[])), []);
    }

    #[test]
    fn another_family_is_joined_from_an_address_of_its_own() {
        let locals = [local(0, "10.0.1.1", None), local(1, "fd00::1", None)];
        let remotes = [remote(1, "[fd00::9]:80")];
        assert_eq!(
            passive(&situation(&locals, &remotes, &[])),
            [join("fd00::1", "[fd00::9]:80")]
        );
    }
}
