//! Local addresses that the peer was told of (ADD_ADDR) and that were withdrawn (REMOVE_ADDR).

use alloc::vec::Vec;
use core::net::IpAddr;

use crate::Nanos;
use crate::path_manager::Announcement;

/// How often an announcement is sent again for want of an echo (`ADD_ADDR_RETRANS_MAX` of Linux).
const MAX_ANNOUNCEMENTS: u32 = 3;

/// How often the peer is told that an address has gone.
const WITHDRAWALS: u32 = 3;

/// Announcements to the peer and their withdrawals.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcements {
    announced: Vec<Announced>,
    /// Withdrawn ids that the peer is still to be told of, or to be told again.
    withdrawn: Vec<Withdrawn>,
}

/// An announcement that the peer has not echoed.
#[derive(Clone, Copy, Debug)]
struct Announced {
    announcement: Announcement,
    /// When it is sent again, after how long the next time, and how often it was; none once it is
    /// echoed or given up.
    repeat: Option<(Nanos, Nanos, u32)>,
}

/// An id that the peer is to be told is of use no longer. Nothing tells that it has heard.
#[derive(Clone, Copy, Debug)]
struct Withdrawn {
    id: u8,
    /// When it is told again; none where it is due.
    repeat_at: Option<Nanos>,
    /// How often it was told.
    times: u32,
}

impl Announcements {
    /// The announced addresses.
    pub(super) fn announced(&self) -> Vec<Announcement> {
        self.announced
            .iter()
            .map(|announced| announced.announcement)
            .collect()
    }

    /// Notes that an address is announced now.
    pub(super) fn announce(&mut self, now: Nanos, announcement: Announcement, timeout: Nanos) {
        self.announced.push(Announced {
            announcement,
            repeat: Some((now + timeout, 2 * timeout, 1)),
        });
    }

    /// Notes that the peer has echoed an announcement.
    pub(super) fn echoed(&mut self, id: u8, address: IpAddr) {
        for announced in &mut self.announced {
            let announcement = announced.announcement;
            if announcement.id == id && announcement.address == address {
                announced.repeat = None;
            }
        }
    }

    /// Withdraws an address, where it was announced or `used` by a subflow.
    pub(super) fn withdraw(&mut self, address: &Announcement, used: bool) {
        let count = self.announced.len();
        self.announced
            .retain(|announced| announced.announcement != *address);
        if self.announced.len() < count || used {
            self.withdrawn.push(Withdrawn {
                id: address.id,
                repeat_at: None,
                times: 0,
            });
        }
    }

    /// Forgets a withdrawal, as the address is back: it would close the subflows to come.
    pub(super) fn forget_withdrawal(&mut self, id: u8) {
        self.withdrawn.retain(|withdrawn| withdrawn.id != id);
    }

    /// Ids of withdrawals to be told now.
    pub(super) fn withdrawals_due(&self) -> Vec<u8> {
        let due = self
            .withdrawn
            .iter()
            .filter(|gone| gone.repeat_at.is_none());
        due.map(|gone| gone.id).collect()
    }

    /// Notes that the peer was told of a withdrawal, and is told again at a time unless that was
    /// often enough.
    pub(super) fn told_withdrawal(&mut self, id: u8, repeat_at: Nanos) {
        let due = |gone: &&mut Withdrawn| gone.id == id && gone.repeat_at.is_none();
        if let Some(gone) = self.withdrawn.iter_mut().find(due) {
            gone.repeat_at = Some(repeat_at);
            gone.times += 1;
        }
        self.withdrawn.retain(|gone| gone.times < WITHDRAWALS);
    }

    /// Lets what is due be told again. Gives the announcements to send again.
    pub(super) fn on_deadline(&mut self, now: Nanos) -> Vec<Announcement> {
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
        due
    }

    /// When something is to be told again.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let repeats = self
            .announced
            .iter()
            .filter_map(|announced| announced.repeat.map(|(at, ..)| at));
        let withdrawn = self.withdrawn.iter().filter_map(|gone| gone.repeat_at);
        repeats.chain(withdrawn).min()
    }
}
