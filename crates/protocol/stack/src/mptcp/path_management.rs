//! Addresses and subflows: the path managers' wishes carried out, and what the peer says of its
//! addresses (RFC 8684, sections 3.3.8 and 3.4).

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use mptcplab_wire::keys::address_hmac;
use mptcplab_wire::option::{AddAddress, MptcpOption};

use super::connection::{Change, Connection};
use super::signals;
use super::subflow::Subflow;
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::path_manager::{self, Announcement, Path, View};
use crate::tcp::{CloseReason, FourTuple};

impl Connection {
    /// Whether no further subflow is opened or accepted: once one end has said that it is done, as
    /// in Linux. (RFC 8684 would permit subflows for what the other end still sends.)
    pub(super) fn is_closing(&self) -> bool {
        self.lifetime.has_ended() || self.sender.is_finished() || self.receiver.is_finished()
    }

    /// Asks the path managers where that is wished: at once, or by a worker that takes its time.
    #[inline]
    pub(super) fn follow_wish_for_paths(&mut self, now: Nanos) {
        if !self.addresses.paths_wanted() {
            return;
        }
        match self.worker_times_ns() {
            [] => self.manage_paths(now),
            _ => self.changes.push_back(Change::Worker),
        }
    }

    /// Times that its worker takes.
    pub(crate) fn worker_times_ns(&self) -> &'static [Nanos] {
        match self.initiated_here {
            true => self.config.worker_times.joining_ns,
            false => self.config.worker_times.announcing_ns,
        }
    }

    /// Calls the worker, which asks the path managers at a time.
    pub(crate) fn call_worker(&mut self, now: Nanos, at: Nanos) {
        self.addresses.call_worker(now, at);
    }

    /// Whether the worker would ask the path managers now, and may still wait for a processor.
    #[inline]
    pub(crate) fn may_worker_wait(&self, now: Nanos) -> bool {
        self.addresses.may_worker_wait(now)
    }

    /// Lets the worker ask the path managers later.
    pub(crate) fn postpone_worker(&mut self, at: Nanos) {
        self.addresses.postpone_worker(at);
    }

    /// Opens and announces what the path managers want.
    pub(super) fn manage_paths(&mut self, now: Nanos) {
        self.addresses.paths_managed();
        if !self.handshake.is_confirmed() || !self.handshake.is_multipath() || self.is_closing() {
            return;
        }
        self.tell_withdrawn(now);
        self.announce_next(now);
        if !self.initiated_here {
            return;
        }
        let open = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let mut paths: Vec<Path> = open.map(|subflow| subflow.tcp.tuple().path()).collect();
        let opened = paths.len();
        paths.extend(self.addresses.attempts.requested());
        let requested = (paths.len() - opened) as u32;
        let held_off: Vec<Path> = self.addresses.attempts.held_off(now).collect();
        let first = self.addresses.first();
        let joins = path_manager::joins(&View {
            locals: &self.addresses.usable_locals(),
            remotes: self.addresses.remotes(),
            routes: self.addresses.routes(),
            first: first.path(),
            paths: &paths,
            held_off: &held_off,
            additional: self.subflows.additional() + requested,
            limits: self.config.limits,
        });
        for join in joins {
            self.addresses.attempts.request(now, join.path);
            self.changes.push_back(Change::Join(join));
        }
    }

    /// Announces an address that the peer does not know yet: one at a time, the next when the first
    /// has left, and paths are managed again, as with an echo or a subflow that was established.
    ///
    /// Source: `mptcp_pm_create_subflow_or_signal_addr` in Linux 6.18, net/mptcp/pm_kernel.c.
    fn announce_next(&mut self, now: Nanos) {
        let mut subflows = self.subflows.iter();
        if subflows.any(|subflow| subflow.is_open() && subflow.signals.announces()) {
            return;
        }
        let missing = path_manager::signal(
            &self.addresses.locals(),
            &self.addresses.announcements.announced(),
            self.addresses.first_had_gone(),
        );
        if let Some(&next) = missing.first() {
            let timeout = self.config.add_addr_timeout_ns;
            self.addresses.announcements.announce(now, next, timeout);
            self.announce(next);
        }
    }

    /// Whether subflows can have an address, by its family.
    pub(crate) fn takes(&self, address: IpAddr) -> bool {
        self.addresses.takes(address)
    }

    /// Tries a subflow again later that cannot be opened, as no port is free.
    pub(crate) fn cannot_join(&mut self, now: Nanos, tuple: &FourTuple) {
        self.addresses.attempts.answered(tuple.path());
        self.addresses.attempts.hold_off(now, tuple.path());
    }

    /// The best subflow to say something on: one that works, the fastest.
    fn speaker(&mut self) -> Option<&mut Subflow> {
        self.subflows
            .iter_mut()
            .filter(|subflow| subflow.is_open())
            .min_by_key(|subflow| (subflow.tcp.is_timed_out(), subflow.tcp.smoothed_rtt_ns()))
    }

    /// Puts ADD_ADDR on the next acknowledgement.
    fn announce(&mut self, announcement: Announcement) {
        let Some(remote) = self.handshake.remote_key() else {
            return;
        };
        let Announcement { id, address } = announcement;
        let hmac = address_hmac(self.handshake.local_key(), remote, id, address, None);
        let option = MptcpOption::AddAddress(AddAddress {
            echo: false,
            address_id: id,
            address,
            port: None,
            hmac: Some(hmac),
        });
        if let Some(subflow) = self.speaker() {
            subflow.signals.push(option);
            subflow.request_ack();
            self.counters.add_address_sent += 1;
        }
    }

    /// Repeats announcements without an echo, and tries paths again.
    pub(super) fn on_address_timeout(&mut self, now: Nanos) {
        let due = self.addresses.on_deadline(now);
        // A repeat would keep the next announcement waiting.
        self.manage_paths(now);
        if self.handshake.is_multipath() && !self.is_closing() {
            for announcement in due {
                self.announce(announcement);
            }
        }
    }

    /// Takes ADD_ADDR: of the peer, or the echo of one.
    pub(super) fn on_add_address(&mut self, index: usize, option: &AddAddress) {
        if option.echo {
            self.counters.echo_received += 1;
            self.addresses
                .announcements
                .echoed(option.address_id, option.address);
            self.addresses.want_paths();
            return;
        }
        let Some(remote) = self.handshake.remote_key() else {
            return;
        };
        let expected = address_hmac(
            remote,
            self.handshake.local_key(),
            option.address_id,
            option.address,
            option.port,
        );
        if option.hmac != Some(expected) {
            self.counters.add_address_dropped += 1;
            return;
        }
        // Linux announces in an acknowledgement without DSS, which may be its first.
        if !self.handshake.is_confirmed() {
            self.confirm();
        }
        self.counters.add_address_received += 1;
        self.counters.echo_sent += 1;
        let subflow = &mut self.subflows[index];
        subflow.signals.push(signals::echo_of(option));
        subflow.request_ack();
        // Linux accepts and counts none that its socket cannot use.
        if !self.addresses.takes(option.address) {
            return;
        }
        let port = option.port.unwrap_or(self.addresses.first().remote.port());
        let address = SocketAddr::new(option.address, port);
        let limit = self.config.limits.add_addr_accepted;
        let Some(new) = self.addresses.add_remote(option.address_id, address, limit) else {
            self.counters.add_address_dropped += 1;
            return;
        };
        if new {
            self.event(Event::AddressAnnounced {
                id: self.id,
                address_id: option.address_id,
                address,
            });
        }
        self.addresses.want_paths();
    }

    /// Takes REMOVE_ADDR: closes the subflows to these addresses.
    pub(super) fn on_remove_addresses(&mut self, now: Nanos, ids: &[u8]) {
        self.counters.remove_address_received += 1;
        for &address_id in ids {
            let address = self.addresses.remove_remote(address_id);
            self.event(Event::AddressRemoved {
                id: self.id,
                address_id,
                address: address.map(|address| address.ip()),
            });
            for index in 0..self.subflows.len() {
                let subflow = &self.subflows[index];
                if subflow.remote.address_id == address_id && !subflow.is_over() {
                    self.counters.removed_subflows += 1;
                    self.drop_subflow(now, index);
                }
            }
        }
    }

    /// Closes the subflows of local addresses that have gone, and tells the peer.
    pub(super) fn withdraw(&mut self, now: Nanos, gone: &[Announcement]) {
        if !self.handshake.is_multipath() || self.lifetime.has_ended() {
            return;
        }
        for local in gone {
            let mut used = false;
            for index in 0..self.subflows.len() {
                let subflow = &self.subflows[index];
                used |= subflow.local.address_id == local.id;
                if subflow.local.address_id == local.id && !subflow.is_over() {
                    self.drop_subflow(now, index);
                }
            }
            self.addresses.announcements.withdraw(local, used);
        }
        self.tell_withdrawn(now);
    }

    /// Says REMOVE_ADDR of what has gone, on a subflow that is left. It has no echo, and what
    /// carries it is not acknowledged: it is told several times, each time on the subflow that is
    /// the best then. (Linux tells it once.)
    fn tell_withdrawn(&mut self, now: Nanos) {
        for id in self.addresses.announcements.withdrawals_due() {
            let (Some(subflow), Some(option)) = (self.speaker(), signals::removal_of(id)) else {
                continue;
            };
            subflow.signals.push(option);
            subflow.request_ack();
            let repeat_at = now + subflow.tcp.rto_ns();
            self.addresses.announcements.told_withdrawal(id, repeat_at);
            self.counters.remove_address_sent += 1;
        }
    }

    /// Gives a subflow up whose address has gone: nothing more can come of it.
    fn drop_subflow(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.pending = true;
        let progress = subflow.tcp.abort();
        self.on_subflow_closed(now, index, progress.closed.unwrap_or(CloseReason::Aborted));
    }

    /// Uses a subflow as a backup, or no longer, and asks the peer to do so too (MP_PRIO). False
    /// where there is none.
    pub(crate) fn set_backup(&mut self, subflow: SubflowId, backup: bool) -> bool {
        let Some(index) = self.subflows.index_of(subflow.0) else {
            return false;
        };
        let subflow = &mut self.subflows[index];
        if !self.handshake.is_multipath() || subflow.end.is_closing() {
            return false;
        }
        subflow.local.backup = backup;
        subflow.signals.push(MptcpOption::Priority {
            backup,
            address_id: None,
        });
        subflow.request_ack();
        self.counters.priority_sent += 1;
        self.scheduling.request();
        true
    }

    /// Gives subflows the flag `backup` of their local addresses, where that has changed.
    pub(super) fn follow_backup_flags(&mut self) {
        let changed: Vec<_> = self
            .subflows
            .iter()
            .filter(|subflow| subflow.is_open())
            .filter_map(|subflow| {
                let wanted = self
                    .addresses
                    .backup_change(subflow.tcp.tuple().local.ip())?;
                (wanted != subflow.local.backup).then_some((SubflowId(subflow.id), wanted))
            })
            .collect();
        for (subflow, backup) in changed {
            self.set_backup(subflow, backup);
        }
    }
}
