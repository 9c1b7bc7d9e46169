//! The subflows that a connection should have, and those of them that it lacks.

use alloc::vec::Vec;

use crate::Path;

/// Subflows that a connection should have on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Desired {
    /// The path.
    pub path: Path,
    /// How many, those included that there are.
    pub count: usize,
    /// New ones are backups.
    pub backup: bool,
}

/// A subflow to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// From where to where.
    pub path: Path,
    /// As a backup.
    pub backup: bool,
}

impl Desired {
    /// One subflow on a path.
    pub fn one(path: Path, backup: bool) -> Self {
        Self {
            path,
            count: 1,
            backup,
        }
    }
}

/// So many subflows on the path of the initial one, itself included, each with a port of its own:
/// for networks that spread flows over equal paths by their ports. One is nothing to ask for.
///
/// Source: C. Raiciu et al., "Improving Datacenter Performance and Robustness with Multipath TCP",
/// SIGCOMM 2011, section 3.
pub fn ndiffports(initial: Path, count: usize) -> Option<Desired> {
    (count > 1).then_some(Desired {
        path: initial,
        count,
        backup: false,
    })
}

/// The subflows to open now: what is `desired` and not there yet, the most preferred first, `room`
/// at the most. `begun` has the path of each subflow that is open or being opened. Paths in
/// `held_off` are left alone, however many subflows they lack.
pub fn joins(
    desired: impl IntoIterator<Item = Desired>,
    room: usize,
    begun: &[Path],
    held_off: &[Path],
) -> Vec<Join> {
    let mut joins: Vec<Join> = Vec::new();
    for Desired {
        path,
        count,
        backup,
    } in desired
    {
        if held_off.contains(&path) {
            continue;
        }
        let new = joins.iter().map(|join| &join.path);
        let there = begun.iter().chain(new).filter(|known| **known == path);
        let missing = count.saturating_sub(there.count());
        let left = room - joins.len();
        joins.extend(core::iter::repeat_n(
            Join { path, backup },
            missing.min(left),
        ));
    }
    joins
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use proptest::prelude::*;

    use super::*;

    fn path(host: u8) -> Path {
        Path {
            local: IpAddr::from([10, 0, host, 1]),
            remote: ([10, 0, 9, 1], 80).into(),
        }
    }

    fn join(host: u8) -> Join {
        Join {
            path: path(host),
            backup: false,
        }
    }

    #[test]
    fn what_is_there_is_not_opened_again() {
        let desired = [1, 2, 3].map(|host| Desired::one(path(host), false));
        let begun = [path(1), path(3)];
        assert_eq!(joins(desired, 8, &begun, &[]), [join(2)]);
    }

    #[test]
    fn two_policies_that_want_one_path_get_one_subflow() {
        let desired = [path(1), path(1)].map(|path| Desired::one(path, false));
        assert_eq!(joins(desired, 8, &[], &[]), [join(1)]);
    }

    #[test]
    fn a_pair_of_addresses_is_filled_up() {
        let desired = ndiffports(path(1), 4);
        assert_eq!(joins(desired, 8, &[path(1); 2], &[]), [join(1); 2]);
        assert_eq!(joins(desired, 8, &[path(1); 5], &[]), []);
        assert_eq!(ndiffports(path(1), 1), None);
    }

    #[test]
    fn the_most_preferred_have_the_room() {
        let desired = [1, 2, 3].map(|host| Desired::one(path(host), false));
        assert_eq!(joins(desired, 2, &[], &[]), [join(1), join(2)]);
        assert_eq!(joins(desired, 0, &[], &[]), []);
    }

    #[test]
    fn a_path_that_failed_is_left_alone_however_many_subflows_it_lacks() {
        let desired = [1, 2].map(|host| Desired {
            count: 3,
            ..Desired::one(path(host), true)
        });
        let backup = Join {
            backup: true,
            ..join(2)
        };
        assert_eq!(joins(desired, 8, &[], &[path(1)]), [backup; 3]);
    }

    #[test]
    fn a_path_does_not_mix_families() {
        let mixed = Path {
            local: IpAddr::from([1; 16]),
            ..path(1)
        };
        assert!(path(1).is_of_one_family() && !mixed.is_of_one_family());
    }

    proptest! {
        #[test]
        fn once_they_are_opened_nothing_more_is_to_be_done(
            desired in prop::collection::vec((0..5u8, 0..6usize), 0..8),
            begun in prop::collection::vec(0..5u8, 0..8),
            room in 0..9usize,
        ) {
            let desired: Vec<_> = desired
                .into_iter()
                .map(|(host, count)| Desired { count, ..Desired::one(path(host), false) })
                .collect();
            let mut begun: Vec<_> = begun.into_iter().map(path).collect();
            let opened = joins(desired.iter().copied(), room, &begun, &[]);
            prop_assert!(opened.len() <= room);
            begun.extend(opened.iter().map(|join| join.path));
            prop_assert_eq!(joins(desired, room - opened.len(), &begun, &[]), []);
        }
    }
}
