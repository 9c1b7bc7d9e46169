//! Addresses of both ends of a connection.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use mptcplab_paths::{Attempts, Pauses};

use super::announcements::Announcements;
use super::config::MAX_SOFTIRQ_NS;
use crate::Nanos;
use crate::address::LocalAddress;
use crate::path_manager::{Announcement, Local, Remote};
use crate::route::Route;
use crate::tcp::{FourTuple, mss_of};

/// For how long a path that failed is not tried again.
const PAUSES: Pauses = Pauses {
    first: 1_000_000_000,
    longest: 64_000_000_000,
};

/// Addresses of the peer that are remembered at the most.
const MAX_REMOTES: usize = 64;

/// Addresses of a connection.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    first: FourTuple,
    /// Subflows may be of both families.
    dual_stack: bool,
    locals: Vec<(Local, u32)>,
    /// Ids that addresses have or had: an id means one address for the life of the connection.
    ids: Vec<(u8, IpAddr)>,
    remotes: Vec<Remote>,
    /// The local address of the first subflow had gone: once it is back it is announced like
    /// others.
    first_had_gone: bool,
    /// The peer takes no further subflows to its first address, whatever it announces.
    first_denied: bool,
    /// Routes of the host, which has them once for all connections.
    routes: Arc<[Route]>,
    /// Addresses whose flag `backup` changed with the last change of addresses.
    backup_changes: Vec<(IpAddr, bool)>,
    /// Announcements of the peer that were accepted.
    accepted: u32,
    /// The path managers are to be asked.
    paths_wanted: bool,
    /// The worker that is to ask them, once it has been called.
    worker: Option<Worker>,
    /// Local addresses that the peer was told of.
    pub(super) announcements: Announcements,
    /// Subflows that were asked for, and paths that failed.
    pub(super) attempts: Attempts,
}

/// A call of the worker.
#[derive(Clone, Copy, Debug)]
struct Worker {
    called: Nanos,
    /// When it asks the path managers.
    at: Nanos,
}

impl Addresses {
    pub(super) fn new(
        first: FourTuple,
        dual_stack: bool,
        locals: &[LocalAddress],
        routes: Arc<[Route]>,
    ) -> Self {
        let mut addresses = Self {
            first,
            dual_stack,
            locals: Vec::new(),
            ids: Vec::from([(0, first.local.ip())]),
            remotes: Vec::from([Remote {
                id: 0,
                address: first.remote,
                joinable: true,
                announced: false,
            }]),
            first_had_gone: false,
            first_denied: false,
            routes,
            backup_changes: Vec::new(),
            accepted: 0,
            paths_wanted: false,
            worker: None,
            announcements: Announcements::default(),
            attempts: Attempts::new(PAUSES),
        };
        addresses.set_locals(locals);
        addresses
    }

    /// Sets the addresses of the host. Gives those that have gone, with their ids.
    pub(super) fn set_locals(&mut self, locals: &[LocalAddress]) -> Vec<Announcement> {
        let before = core::mem::take(&mut self.locals);
        for local in locals {
            let id = self.local_id(local.address);
            let known = Local {
                id,
                address: local.address,
                flags: local.endpoint,
            };
            self.locals.push((known, local.mtu));
            if !before.iter().any(|(old, _)| old.address == local.address) {
                // It is back: what failed before may work, and the peer need not hear that it
                // had gone, which would close the subflows to come.
                self.announcements.forget_withdrawal(id);
                self.attempts.retry_from(local.address);
            }
        }
        let gone = before.iter().map(|(local, _)| Announcement {
            id: local.id,
            address: local.address,
        });
        let gone: Vec<_> = gone
            .filter(|local| !locals.iter().any(|new| new.address == local.address))
            .collect();
        self.first_had_gone |= gone.iter().any(|local| local.id == 0);
        let backup = |local: &Local| local.flags.is_some_and(|flags| flags.backup);
        self.backup_changes = self
            .locals
            .iter()
            .filter_map(|(new, _)| {
                let (old, _) = before.iter().find(|(old, _)| old.address == new.address)?;
                (backup(old) != backup(new)).then_some((new.address, backup(new)))
            })
            .collect();
        gone
    }

    /// Id of a local address; a new one for an address that was not seen before.
    pub(super) fn local_id(&mut self, address: IpAddr) -> u8 {
        if let Some(&(id, _)) = self.ids.iter().find(|(_, known)| *known == address) {
            return id;
        }
        let id = u8::try_from(self.ids.len()).unwrap_or(u8::MAX);
        self.ids.push((id, address));
        id
    }

    /// The flag `backup` of an address where it has changed last.
    pub(super) fn backup_change(&self, address: IpAddr) -> Option<bool> {
        self.backup_changes
            .iter()
            .find(|(changed, _)| *changed == address)
            .map(|(_, backup)| *backup)
    }

    /// Whether subflows from an address are to be backups.
    pub(super) fn is_backup(&self, address: IpAddr) -> bool {
        self.locals.iter().any(|(local, _)| {
            local.address == address && local.flags.is_some_and(|flags| flags.backup)
        })
    }

    /// The MSS of an address by its MTU; `otherwise` where that is not known.
    pub(super) fn mss(&self, address: IpAddr, otherwise: u32) -> u32 {
        let known = self
            .locals
            .iter()
            .find(|(local, _)| local.address == address);
        known.map_or(otherwise, |(_, mtu)| mss_of(*mtu, address))
    }

    /// Local addresses that subflows can have.
    pub(super) fn usable_locals(&self) -> Vec<Local> {
        let locals = self.locals().into_iter();
        locals.filter(|local| self.takes(local.address)).collect()
    }

    pub(super) fn locals(&self) -> Vec<Local> {
        self.locals.iter().map(|(local, _)| *local).collect()
    }

    /// Whether subflows can have an address: one of the family of the first subflow, unless the
    /// socket is of both (`mptcp_pm_addr_families_match` of Linux).
    pub(super) fn takes(&self, address: IpAddr) -> bool {
        self.dual_stack || address.is_ipv4() == self.first.local.is_ipv4()
    }

    /// Routes of the host.
    pub(super) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Sets the routes of the host.
    pub(super) fn set_routes(&mut self, routes: Arc<[Route]>) {
        self.routes = routes;
    }

    /// Announcements of the peer that were accepted.
    pub(super) fn accepted(&self) -> u32 {
        self.accepted
    }

    /// Lets the path managers be asked.
    #[inline]
    pub(super) fn want_paths(&mut self) {
        self.paths_wanted = true;
    }

    /// Whether the path managers are to be asked, and no worker is to do it.
    #[inline]
    pub(super) fn paths_wanted(&self) -> bool {
        self.paths_wanted && self.worker.is_none()
    }

    /// Calls the worker, which asks the path managers at a time.
    pub(super) fn call_worker(&mut self, now: Nanos, at: Nanos) {
        self.worker = Some(Worker { called: now, at });
    }

    /// Whether the worker would ask the path managers now, and may still wait.
    #[inline]
    pub(super) fn may_worker_wait(&self, now: Nanos) -> bool {
        self.worker
            .is_some_and(|worker| worker.at <= now && now < worker.called + MAX_SOFTIRQ_NS)
    }

    /// Lets the worker ask the path managers later.
    pub(super) fn postpone_worker(&mut self, at: Nanos) {
        if let Some(worker) = &mut self.worker {
            worker.at = at;
        }
    }

    /// Notes that the path managers were asked.
    pub(super) fn paths_managed(&mut self) {
        self.paths_wanted = false;
        self.worker = None;
    }

    /// Does what is due of announcements and attempts. Gives the announcements to send again.
    pub(super) fn on_deadline(&mut self, now: Nanos) -> Vec<Announcement> {
        self.attempts.on_deadline(now);
        self.announcements.on_deadline(now)
    }

    /// When something is due: an announcement, a withdrawal, another try of a path, or the worker.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let announcements = self.announcements.deadline();
        let worker = self.worker.map(|worker| worker.at);
        let deadlines = [announcements, self.attempts.deadline(), worker];
        deadlines.into_iter().flatten().min()
    }

    pub(super) fn remotes(&self) -> &[Remote] {
        &self.remotes
    }

    pub(super) fn first(&self) -> FourTuple {
        self.first
    }

    /// Whether the address of the first subflow had gone, so that the peer must hear when it is
    /// back.
    pub(super) fn first_had_gone(&self) -> bool {
        self.first_had_gone
    }

    /// Notes that the peer takes no further subflows to its first address.
    pub(super) fn deny_first(&mut self) {
        self.first_denied = true;
        self.remotes[0].joinable = false;
    }

    /// Id of an address of the peer.
    pub(super) fn remote_id(&self, address: SocketAddr) -> Option<u8> {
        self.remotes
            .iter()
            .find(|remote| remote.address == address)
            .map(|remote| remote.id)
    }

    /// The peer announced an address. Says whether it was not to be used before; none where it is
    /// not accepted: the limit, or an id that means another address. The id 0 is accepted for the
    /// address of the first subflow, which had gone, as Linux does.
    pub(super) fn add_remote(&mut self, id: u8, address: SocketAddr, limit: u32) -> Option<bool> {
        if let Some(known) = self.remotes.iter_mut().find(|remote| remote.id == id) {
            if known.address != address {
                return None;
            }
            self.attempts.retry_to(address);
            known.announced = true;
            let joinable = id != 0 || !self.first_denied;
            return Some(!core::mem::replace(&mut known.joinable, joinable) && joinable);
        }
        if self.accepted >= limit || self.remotes.len() >= MAX_REMOTES {
            return None;
        }
        self.accepted += 1;
        self.remotes.push(Remote {
            id,
            address,
            joinable: true,
            announced: true,
        });
        self.attempts.retry_to(address);
        Some(true)
    }

    /// The peer withdrew an address. Gives the address, where it was known.
    pub(super) fn remove_remote(&mut self, id: u8) -> Option<SocketAddr> {
        let place = self.remotes.iter().position(|remote| remote.id == id)?;
        if id == 0 {
            self.remotes[place].joinable = false;
            return Some(self.remotes[place].address);
        }
        self.accepted = self.accepted.saturating_sub(1);
        Some(self.remotes.remove(place).address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subflows_have_the_family_of_the_first_one_unless_the_socket_is_of_both() {
        let (v4, v6) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([1; 16]));
        let locals = [v4, v6].map(|address| LocalAddress {
            address,
            mtu: 1500,
            endpoint: None,
        });
        for first in [v4, v6] {
            let end = SocketAddr::new(first, 1);
            let tuple = FourTuple {
                local: end,
                remote: end,
            };
            let usable = |dual_stack| {
                let addresses = Addresses::new(tuple, dual_stack, &locals, Arc::from([]));
                let usable = addresses.usable_locals().into_iter();
                usable.map(|local| local.address).collect::<Vec<_>>()
            };
            assert_eq!(usable(false), [first]);
            assert_eq!(usable(true), [v4, v6]);
        }
    }
}
