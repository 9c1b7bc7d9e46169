//! Addresses of both ends of a connection: what they are, what was announced, what was tried.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use crate::Nanos;
use crate::endpoint::{LocalAddress, Route};
use crate::path_manager::{Announcement, Local, Path, Remote};
use crate::tcp::{FourTuple, mss_of};

/// Addresses of the peer that are remembered at the most.
const MAX_REMOTES: usize = 64;

/// Pause before a path that failed is tried again; doubled with every failure.
const RETRY_NS: Nanos = 1_000_000_000;
/// The longest such pause.
const MAX_RETRY_NS: Nanos = 64_000_000_000;

/// A path is not tried again before one of its addresses comes back or is announced again.
const NEVER: Nanos = Nanos::MAX;

/// How often an announcement is sent again for want of an echo.
const MAX_ANNOUNCEMENTS: u32 = 8;

/// Addresses of a connection.
#[derive(Debug)]
pub(super) struct Addresses {
    first: FourTuple,
    locals: Vec<(Local, u32)>,
    /// Ids that addresses have or had: an id means one address for the life of the connection.
    ids: Vec<(u8, IpAddr)>,
    remotes: Vec<Remote>,
    announced: Vec<Announced>,
    /// The local address of the first subflow had gone: once it is back it is announced like others.
    first_had_gone: bool,
    /// The peer takes no further subflows to its first address, whatever it announces.
    first_denied: bool,
    /// Routes of the host.
    pub(super) routes: Vec<Route>,
    held_off: Vec<HeldOff>,
    requested: Vec<Path>,
    /// Addresses whose flag `backup` changed with the last change of addresses.
    backup_changes: Vec<(IpAddr, bool)>,
    /// Withdrawn ids that the peer is still to be told of, or to be told again.
    pub(super) withdrawn: Vec<Withdrawn>,
    /// Announcements of the peer that were accepted.
    pub(super) accepted: u32,
}

/// An id that the peer is to be told is of use no longer. Nothing tells that it has heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Withdrawn {
    pub(super) id: u8,
    /// When it is told again; none where it is due.
    pub(super) repeat_at: Option<Nanos>,
    /// How often it was told.
    pub(super) times: u32,
}

/// An announcement that the peer has not echoed.
#[derive(Clone, Copy, Debug)]
struct Announced {
    announcement: Announcement,
    /// When it is sent again, after how long the next time, and how often it was; none once it is
    /// echoed or given up.
    repeat: Option<(Nanos, Nanos, u32)>,
}

/// A path that failed.
#[derive(Clone, Copy, Debug)]
struct HeldOff {
    path: Path,
    /// When it may be tried again; 0 once it may, [`NEVER`] where it may not.
    until: Nanos,
    pause: Nanos,
}

impl Addresses {
    pub(super) fn new(first: FourTuple, locals: &[LocalAddress], routes: Vec<Route>) -> Self {
        let mut addresses = Self {
            first,
            locals: Vec::new(),
            ids: Vec::from([(0, first.local.ip())]),
            remotes: Vec::from([Remote {
                id: 0,
                address: first.remote,
                joinable: true,
                announced: false,
            }]),
            announced: Vec::new(),
            first_had_gone: false,
            first_denied: false,
            routes,
            held_off: Vec::new(),
            requested: Vec::new(),
            backup_changes: Vec::new(),
            withdrawn: Vec::new(),
            accepted: 0,
        };
        addresses.set_locals(locals);
        addresses
    }

    /// The host's addresses are these now. Gives those that have gone, with their ids.
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
                self.withdrawn.retain(|withdrawn| withdrawn.id != id);
                self.held_off
                    .retain(|held| held.path.local != local.address);
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

    /// Whether an address was announced to the peer. It is not any more.
    pub(super) fn withdraw(&mut self, address: &Announcement) -> bool {
        let count = self.announced.len();
        self.announced
            .retain(|announced| announced.announcement != *address);
        self.announced.len() < count
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

    pub(super) fn locals(&self) -> Vec<Local> {
        self.locals.iter().map(|(local, _)| *local).collect()
    }

    pub(super) fn remotes(&self) -> &[Remote] {
        &self.remotes
    }

    pub(super) fn first(&self) -> FourTuple {
        self.first
    }

    /// Whether the address of the first subflow had gone, so that the peer must hear when it is back.
    pub(super) fn first_had_gone(&self) -> bool {
        self.first_had_gone
    }

    /// The peer takes no further subflows to its first address.
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
            self.held_off.retain(|held| held.path.remote != address);
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
        self.held_off.retain(|held| held.path.remote != address);
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

    pub(super) fn announced(&self) -> Vec<Announcement> {
        self.announced
            .iter()
            .map(|announced| announced.announcement)
            .collect()
    }

    /// An address is announced now.
    pub(super) fn announce(&mut self, now: Nanos, announcement: Announcement, timeout: Nanos) {
        self.announced.push(Announced {
            announcement,
            repeat: Some((now + timeout, 2 * timeout, 1)),
        });
    }

    /// The peer has echoed an announcement.
    pub(super) fn echoed(&mut self, id: u8, address: IpAddr) {
        for announced in &mut self.announced {
            let announcement = announced.announcement;
            if announcement.id == id && announcement.address == address {
                announced.repeat = None;
            }
        }
    }

    /// Announcements that are due to be sent again.
    pub(super) fn due(&mut self, now: Nanos) -> Vec<Announcement> {
        let mut due = Vec::new();
        for announced in &mut self.announced {
            let Some((at, pause, times)) = announced.repeat else {
                continue;
            };
            if at <= now {
                due.push(announced.announcement);
                announced.repeat =
                    (times < MAX_ANNOUNCEMENTS).then_some((now + pause, 2 * pause, times + 1));
            }
        }
        for withdrawn in &mut self.withdrawn {
            withdrawn.repeat_at = withdrawn.repeat_at.filter(|at| *at > now);
        }
        for held in &mut self.held_off {
            if held.until <= now {
                held.until = 0;
            }
        }
        due
    }

    /// A subflow is asked for; it is not asked for again before it is opened.
    pub(super) fn request(&mut self, path: Path) {
        self.requested.push(path);
    }

    /// A subflow was opened that was asked for.
    pub(super) fn opened(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        if let Some(place) = self.requested.iter().position(|known| *known == path) {
            self.requested.swap_remove(place);
        }
    }

    /// Paths on which subflows were asked for and not opened yet.
    pub(super) fn requested(&self) -> &[Path] {
        &self.requested
    }

    /// A subflow on these addresses failed: it is not tried again for a while.
    pub(super) fn hold_off(&mut self, now: Nanos, tuple: &FourTuple) {
        let path = path_of(tuple);
        match self.held_off.iter_mut().find(|held| held.path == path) {
            Some(held) if held.until == NEVER => {}
            Some(held) => {
                held.pause = (2 * held.pause).min(MAX_RETRY_NS);
                held.until = now + held.pause;
            }
            None => self.held_off.push(HeldOff {
                path,
                until: now + RETRY_NS,
                pause: RETRY_NS,
            }),
        }
    }

    /// The path between these addresses is unfit for subflows, as an end has said.
    pub(super) fn give_up(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        self.held_off.retain(|held| held.path != path);
        self.held_off.push(HeldOff {
            path,
            until: NEVER,
            pause: MAX_RETRY_NS,
        });
    }

    /// A subflow on these addresses works.
    pub(super) fn works(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        self.held_off.retain(|held| held.path != path);
    }

    /// Paths that failed and are not to be tried now.
    pub(super) fn held_off(&self, now: Nanos) -> impl Iterator<Item = Path> {
        self.held_off
            .iter()
            .filter(move |held| held.until > now)
            .map(|held| held.path)
    }

    /// When something is due: an announcement, a withdrawal, or another try of a path.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let repeats = self
            .announced
            .iter()
            .filter_map(|announced| announced.repeat.map(|(at, ..)| at));
        let retries = self.held_off.iter().map(|held| held.until);
        let retries = retries.filter(|until| *until != 0 && *until != NEVER);
        let withdrawn = self.withdrawn.iter().filter_map(|gone| gone.repeat_at);
        repeats.chain(retries).chain(withdrawn).min()
    }
}

/// The address pair of a subflow.
pub(super) fn path_of(tuple: &FourTuple) -> Path {
    Path {
        local: tuple.local.ip(),
        remote: tuple.remote,
    }
}
