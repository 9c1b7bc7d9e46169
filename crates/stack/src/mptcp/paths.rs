//! Addresses and subflows: the path managers' wishes carried out, and what the peer says of its
//! addresses (RFC 8684, sections 3.3.8 and 3.4).

use alloc::vec::Vec;
use core::net::SocketAddr;

use mptcplab_wire::keys::address_hmac;
use mptcplab_wire::option::{AddAddress, MptcpOption};

use super::addresses::{Withdrawn, path_of};
use super::connection::{Change, Connection, Mode};
use super::signals;
use super::subflow::Subflow;
use crate::Nanos;
use crate::endpoint::{Event, SubflowId};
use crate::path_manager::{self, Announcement, Path, Situation};
use crate::tcp::{CloseReason, FourTuple};

/// How often the peer is told that an address has gone.
const WITHDRAWALS: u32 = 3;

impl Connection {
    /// No further subflow is opened or accepted: once one end has said that it is done, as in
    /// Linux. (RFC 8684 would permit subflows for what the other end still sends.)
    pub(super) fn is_closing(&self) -> bool {
        self.closed.is_some() || self.sender.is_finished() || self.receiver.is_finished()
    }

    /// Opens and announces what the path managers want.
    pub(super) fn manage_paths(&mut self, now: Nanos) {
        self.want_paths = false;
        if !self.confirmed || self.mode != Mode::Multipath || self.is_closing() {
            return;
        }
        self.tell_withdrawn(now);
        let locals = self.addresses.locals();
        for announcement in path_manager::signal(
            &locals,
            &self.addresses.announced(),
            self.addresses.first_had_gone(),
        ) {
            self.addresses
                .announce(now, announcement, self.config.add_addr_timeout_ns);
            self.announce(announcement);
        }
        if !self.initiated_here {
            return;
        }
        let open = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let mut paths: Vec<Path> = open.map(|subflow| path_of(&subflow.tcp.tuple())).collect();
        paths.extend(self.addresses.requested());
        let requested = self.addresses.requested().len() as u32;
        let held_off: Vec<Path> = self.addresses.held_off(now).collect();
        let first = self.addresses.first();
        let joins = path_manager::joins(&Situation {
            locals: &locals,
            remotes: self.addresses.remotes(),
            routes: &self.addresses.routes,
            first: (first.local.ip(), first.remote),
            paths: &paths,
            held_off: &held_off,
            additional: self.additional() + requested,
            limits: self.config.limits,
        });
        for join in joins {
            self.addresses.request(Path {
                local: join.local,
                remote: join.remote,
            });
            self.changes.push_back(Change::Join(join));
        }
    }

    /// A subflow that was asked for cannot be opened, as no port is free: it is tried again later.
    pub fn cannot_join(&mut self, now: Nanos, tuple: &FourTuple) {
        self.addresses.opened(tuple);
        self.addresses.hold_off(now, tuple);
    }

    /// The best subflow to say something on: one that works, the fastest.
    fn speaker(&mut self) -> Option<&mut Subflow> {
        self.subflows
            .iter_mut()
            .filter(|subflow| subflow.is_open())
            .min_by_key(|subflow| (subflow.stalled, subflow.tcp.smoothed_rtt_ns()))
    }

    /// ADD_ADDR on the next acknowledgement.
    fn announce(&mut self, announcement: Announcement) {
        let Some(remote) = self.remote_key else {
            return;
        };
        let Announcement { id, address } = announcement;
        let hmac = address_hmac(self.local_key, remote, id, address, None);
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

    /// An announcement has no echo, or a path may be tried again.
    pub(super) fn on_address_timeout(&mut self, now: Nanos) {
        let due = self.addresses.due(now);
        if self.mode == Mode::Multipath && !self.is_closing() {
            for announcement in due {
                self.announce(announcement);
            }
        }
        self.manage_paths(now);
    }

    /// ADD_ADDR: of the peer, or the echo of one.
    pub(super) fn on_add_address(&mut self, now: Nanos, index: usize, option: &AddAddress) {
        if option.echo {
            self.counters.echo_received += 1;
            self.addresses.echoed(option.address_id, option.address);
            return;
        }
        let Some(remote) = self.remote_key else {
            return;
        };
        let expected = address_hmac(
            remote,
            self.local_key,
            option.address_id,
            option.address,
            option.port,
        );
        if option.hmac != Some(expected) {
            self.counters.add_address_dropped += 1;
            return;
        }
        // Linux announces in an acknowledgement without DSS, which may be its first.
        if !self.confirmed {
            self.confirm(now);
        }
        self.counters.add_address_received += 1;
        self.counters.echo_sent += 1;
        let subflow = &mut self.subflows[index];
        subflow.signals.push(signals::echo_of(option));
        subflow.request_ack();
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
        self.want_paths = true;
    }

    /// REMOVE_ADDR: the subflows to these addresses are closed.
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
                if subflow.remote_id == address_id && !subflow.is_over() {
                    self.counters.removed_subflows += 1;
                    self.drop_subflow(now, index);
                }
            }
        }
    }

    /// Local addresses have gone: so do their subflows, and the peer is told.
    pub(super) fn withdraw(&mut self, now: Nanos, gone: &[Announcement]) {
        if self.mode != Mode::Multipath || self.closed.is_some() {
            return;
        }
        for local in gone {
            let mut used = false;
            for index in 0..self.subflows.len() {
                let subflow = &self.subflows[index];
                used |= subflow.local_id == local.id;
                if subflow.local_id == local.id && !subflow.is_over() {
                    self.drop_subflow(now, index);
                }
            }
            if self.addresses.withdraw(local) || used {
                self.addresses.withdrawn.push(Withdrawn {
                    id: local.id,
                    repeat_at: None,
                    times: 0,
                });
            }
        }
        self.tell_withdrawn(now);
    }

    /// REMOVE_ADDR of what has gone, on a subflow that is left. It has no echo, and what carries it
    /// is not acknowledged: it is told several times, each time on the subflow that is the best
    /// then. (Linux tells it once.)
    fn tell_withdrawn(&mut self, now: Nanos) {
        let mut withdrawn = core::mem::take(&mut self.addresses.withdrawn);
        for gone in withdrawn.iter_mut().filter(|gone| gone.repeat_at.is_none()) {
            let (Some(subflow), Some(option)) = (self.speaker(), signals::removal_of(gone.id))
            else {
                continue;
            };
            subflow.signals.push(option);
            subflow.request_ack();
            gone.repeat_at = Some(now + subflow.tcp.rto_ns());
            gone.times += 1;
            self.counters.remove_address_sent += 1;
        }
        withdrawn.retain(|gone| gone.times < WITHDRAWALS);
        self.addresses.withdrawn = withdrawn;
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
    pub fn set_backup(&mut self, subflow: SubflowId, backup: bool) -> bool {
        let Some(index) = self.index_of(subflow.0) else {
            return false;
        };
        let subflow = &mut self.subflows[index];
        if self.mode != Mode::Multipath || subflow.closing {
            return false;
        }
        subflow.backup = backup;
        subflow.signals.push(MptcpOption::Priority {
            backup,
            address_id: None,
        });
        subflow.request_ack();
        self.counters.priority_sent += 1;
        self.reschedule = true;
        true
    }

    /// The flag `backup` of local addresses has changed: so has that of their subflows.
    pub(super) fn follow_backup_flags(&mut self) {
        let changed: Vec<_> = self
            .subflows
            .iter()
            .filter(|subflow| subflow.is_open())
            .filter_map(|subflow| {
                let wanted = self
                    .addresses
                    .backup_change(subflow.tcp.tuple().local.ip())?;
                (wanted != subflow.backup).then_some((SubflowId(subflow.id), wanted))
            })
            .collect();
        for (subflow, backup) in changed {
            self.set_backup(subflow, backup);
        }
    }
}
