//! Announced addresses: the flag `signal`.

use alloc::vec::Vec;
use core::net::IpAddr;

use super::Local;

/// An address that the peer is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    /// Its id in this connection.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
}

/// The addresses to announce: those with `signal` that are not announced yet. The address of the
/// first subflow is known to the peer, unless it had gone (`first_had_gone`) and is back: then it
/// is announced too, with its id 0.
pub(crate) fn signal(
    locals: &[Local],
    announced: &[Announcement],
    first_had_gone: bool,
) -> Vec<Announcement> {
    let wanted = locals
        .iter()
        .filter(|local| local.id != 0 || first_had_gone)
        .filter(|local| local.flags.is_some_and(|flags| flags.signal));
    wanted
        .map(|local| Announcement {
            id: local.id,
            address: local.address,
        })
        .filter(|announcement| !announced.contains(announcement))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SUBFLOW, ip, local};
    use super::*;
    use crate::address::EndpointFlags;

    #[test]
    fn addresses_with_the_flag_are_announced_once() {
        let flags = Some(EndpointFlags {
            signal: true,
            ..EndpointFlags::default()
        });
        let locals = [
            local(0, "10.0.9.1", flags),
            local(1, "10.0.8.1", flags),
            local(2, "10.0.7.1", Some(SUBFLOW)),
            local(3, "10.0.6.1", None),
        ];
        let expected = [Announcement {
            id: 1,
            address: ip("10.0.8.1"),
        }];
        assert_eq!(signal(&locals, &[], false), expected);
        assert_eq!(signal(&locals, &expected, false), []);
        let first = [Announcement {
            id: 0,
            address: ip("10.0.9.1"),
        }];
        assert_eq!(signal(&locals, &expected, true), first);
    }
}
