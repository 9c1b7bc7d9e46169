//! Path managers: which subflows a connection opens, and which addresses it announces.
//!
//! Each is a function of a [`View`]: the host's addresses and their flags, the peer's
//! addresses, and the paths that are in use. The connection asks again whenever one of these
//! changes, so that a returned address, a failed path and a new announcement need no code of
//! their own. The flags mean what they mean to Linux, because both engines of mptcplab run the
//! same scenarios:
//!
//! - no endpoints at all: [`passive`], which joins what the peer announces;
//! - `subflow`: one subflow from the address to the peer's first address ([`endpoints`]);
//! - `subflow` with `fullmesh`: to every address of the peer ([`endpoints`]);
//! - `signal`: the address is announced ([`signal`]);
//! - `backup`: the subflow is opened as a backup;
//! - several subflows on the first address pair: [`ndiffports`](mptcplab_paths::ndiffports).
//!
//! Which of the subflows that they want are opened now, [`mptcplab_paths`] says.
//!
//! Only the end that opened the connection opens subflows: the port of a client does not listen.
//! (Linux lets a server try, and the client refuses.)

mod endpoints;
mod passive;
mod signal;

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use mptcplab_paths::ndiffports;
pub(crate) use mptcplab_paths::{Join, Path};

pub(crate) use endpoints::endpoints;
pub(crate) use passive::passive;
pub(crate) use signal::{Announcement, signal};

use crate::address::EndpointFlags;
use crate::route::Route;
use crate::tcp::FourTuple;

/// The path managers' view of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Addresses of this host that are usable now.
    pub locals: &'a [Local],
    /// Addresses of the peer: the one of the first subflow first, then those announced.
    pub remotes: &'a [Remote],
    /// Routes of this host.
    pub routes: &'a [Route],
    /// Address pair of the first subflow.
    pub first: Path,
    /// Paths of the subflows that are open or being opened.
    pub paths: &'a [Path],
    /// Paths that failed too recently to be tried again.
    pub held_off: &'a [Path],
    /// Subflows beside the first one, open or being opened.
    pub additional: u32,
    /// This host's settings.
    pub limits: Limits,
}

/// An address of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Its id in this connection; 0 is that of the first subflow.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// Flags of its endpoint; none where there is no endpoint.
    pub flags: Option<EndpointFlags>,
}

/// An address of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Its id; 0 is that of the first subflow.
    pub id: u8,
    /// The address and the port to connect to.
    pub address: SocketAddr,
    /// Subflows to it may be opened: not where the peer asked for none (the flag C of MP_CAPABLE),
    /// nor while it has gone.
    pub joinable: bool,
    /// The peer announced it: also the first one, once that had gone and is back.
    pub announced: bool,
}

/// Limits of a host, as those of Linux's path manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Additional subflows of a connection, opened here or by the peer.
    pub subflows: u32,
    /// Addresses of the peer that are accepted.
    pub add_addr_accepted: u32,
    /// Subflows on the address pair of the first one, itself included.
    pub subflows_per_pair: u32,
}

/// The subflows to open now, within the limit.
pub(crate) fn joins(view: &View<'_>) -> Vec<Join> {
    let on_first = ndiffports(view.first, view.limits.subflows_per_pair as usize);
    let desired = endpoints(view)
        .into_iter()
        .chain(passive(view))
        .chain(on_first.filter(|_| view.can_use_first()));
    let room = view.limits.subflows.saturating_sub(view.additional) as usize;
    mptcplab_paths::joins(desired, room, view.paths, view.held_off)
}

impl FourTuple {
    /// Its addresses.
    pub(crate) fn path(&self) -> Path {
        Path {
            local: self.local.ip(),
            remote: self.remote,
        }
    }
}

impl View<'_> {
    /// Whether further subflows can have the addresses of the first one.
    fn can_use_first(&self) -> bool {
        let is_here = |known: &Local| known.address == self.first.local;
        let is_joinable = |known: &Remote| known.id == 0 && known.joinable;
        self.locals.iter().any(is_here) && self.remotes.iter().any(is_joinable)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const SUBFLOW: EndpointFlags = EndpointFlags {
        signal: false,
        subflow: true,
        backup: false,
        fullmesh: false,
    };
    pub(crate) const FULLMESH: EndpointFlags = EndpointFlags {
        fullmesh: true,
        ..SUBFLOW
    };

    pub(crate) fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    pub(crate) fn socket(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    pub(crate) fn local(id: u8, address: &str, flags: Option<EndpointFlags>) -> Local {
        Local {
            id,
            address: ip(address),
            flags,
        }
    }

    pub(crate) fn remote(id: u8, address: &str) -> Remote {
        Remote {
            id,
            address: socket(address),
            joinable: true,
            announced: id != 0,
        }
    }

    pub(crate) fn path(local: &str, remote: &str) -> Path {
        Path {
            local: ip(local),
            remote: socket(remote),
        }
    }

    pub(crate) fn join(local: &str, remote: &str) -> Join {
        Join {
            path: path(local, remote),
            backup: false,
        }
    }

    /// A connection from 10.0.1.1 to 10.0.9.1:80.
    pub(crate) fn view<'a>(
        locals: &'a [Local],
        remotes: &'a [Remote],
        paths: &'a [Path],
    ) -> View<'a> {
        View {
            locals,
            remotes,
            routes: &[],
            first: path("10.0.1.1", "10.0.9.1:80"),
            paths,
            held_off: &[],
            additional: 0,
            limits: Limits {
                subflows: 8,
                add_addr_accepted: 8,
                subflows_per_pair: 1,
            },
        }
    }

    #[test]
    fn the_pair_of_the_first_subflow_is_filled_up() {
        let locals = [local(0, "10.0.1.1", None)];
        let mut remotes = [remote(0, "10.0.9.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80"); 2];
        assert_eq!(joins(&view(&locals, &remotes, &paths)), []);
        let filled_up = |locals: &[Local], remotes: &[Remote]| {
            let mut view = view(locals, remotes, &paths);
            view.limits.subflows_per_pair = 4;
            joins(&view)
        };
        assert_eq!(
            filled_up(&locals, &remotes),
            [join("10.0.1.1", "10.0.9.1:80"); 2]
        );
        assert_eq!(filled_up(&[], &remotes), []);
        remotes[0].joinable = false;
        assert_eq!(filled_up(&locals, &remotes), []);
    }

    #[test]
    fn a_path_that_failed_is_not_tried_however_many_subflows_it_lacks() {
        let locals = [
            local(0, "10.0.1.1", Some(SUBFLOW)),
            local(1, "10.0.2.1", Some(SUBFLOW)),
        ];
        let remotes = [remote(0, "10.0.9.1:80")];
        let failed = [path("10.0.1.1", "10.0.9.1:80")];
        let mut view = view(&locals, &remotes, &[]);
        view.limits.subflows_per_pair = 3;
        view.held_off = &failed;
        assert_eq!(joins(&view), [join("10.0.2.1", "10.0.9.1:80")]);
    }

    #[test]
    fn the_limit_of_subflows_holds() {
        let locals = [
            local(0, "10.0.1.1", Some(FULLMESH)),
            local(1, "10.0.2.1", Some(FULLMESH)),
        ];
        let remotes = [remote(0, "10.0.9.1:80"), remote(1, "10.0.8.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80")];
        let mut view = view(&locals, &remotes, &paths);
        view.limits.subflows = 2;
        assert_eq!(joins(&view).len(), 2);
        view.additional = 1;
        assert_eq!(joins(&view).len(), 1);
        view.additional = 2;
        assert_eq!(joins(&view), []);
    }
}
