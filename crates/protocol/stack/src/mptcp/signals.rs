//! Options that wait for the next segment of a subflow, and that are sent once.

use alloc::collections::VecDeque;

use mptcplab_wire::option::{AddAddress, AddressIds, Dss, MptcpOption, Reset};
use mptcplab_wire::{MAX_MPTCP_OPTIONS, Options};

/// Announcements, echoes and withdrawals that wait at the most; a peer that asks for more echoes
/// than it takes acknowledgements gets none.
const MAX_WAITING: usize = 16;

/// Options that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    waiting: VecDeque<MptcpOption>,
    /// MP_TCPRST, MP_FAIL or MP_FASTCLOSE of a RST, in place of anything else.
    pub(super) reset: Option<MptcpOption>,
}

impl Signals {
    /// How many options wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether an announcement waits.
    pub(super) fn announces(&self) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|option| matches!(option, MptcpOption::AddAddress(told) if !told.echo))
    }

    /// Puts an option on the next segment without payload. An option of the same kind about the
    /// same thing that waits is replaced.
    pub(super) fn push(&mut self, option: MptcpOption) {
        self.waiting.retain(|known| !is_outdated(known, &option));
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(option);
        }
    }

    /// Adds the options that fit: `dss` alone where nothing waits; else a waiting option with it
    /// or, where both have no room, without.
    pub(super) fn write(&mut self, dss: Option<Dss>, room_bytes: usize, options: &mut Options) {
        if let Some(dss) = dss {
            options.mptcp.push(MptcpOption::Dss(dss));
        }
        while let Some(&option) = self.waiting.front() {
            if options.mptcp.len() == MAX_MPTCP_OPTIONS {
                break;
            }
            options.mptcp.push(option);
            if mptcp_bytes(options) > room_bytes {
                options.mptcp.pop();
                if !matches!(options.mptcp[..], [MptcpOption::Dss(_)]) {
                    break;
                }
                options.mptcp[0] = option;
                if mptcp_bytes(options) > room_bytes {
                    // It fits nowhere.
                    self.waiting.pop_front();
                    options.mptcp[0] = MptcpOption::Dss(dss.unwrap_or_default());
                    continue;
                }
            }
            self.waiting.pop_front();
        }
    }
}

/// Bytes of the options of MPTCP, padded to whole words.
fn mptcp_bytes(options: &Options) -> usize {
    let bytes: usize = options.mptcp.iter().map(MptcpOption::encoded_bytes).sum();
    bytes.next_multiple_of(4)
}

fn is_outdated(known: &MptcpOption, new: &MptcpOption) -> bool {
    match (known, new) {
        (MptcpOption::Priority { .. }, MptcpOption::Priority { .. })
        | (MptcpOption::Fail { .. }, MptcpOption::Fail { .. })
        | (MptcpOption::Dss(_), MptcpOption::Dss(_)) => true,
        (MptcpOption::AddAddress(known), MptcpOption::AddAddress(new)) => known == new,
        _ => false,
    }
}

/// Echo of an announcement (RFC 8684, section 3.4.1).
pub(super) fn echo_of(announcement: &AddAddress) -> MptcpOption {
    MptcpOption::AddAddress(AddAddress {
        echo: true,
        hmac: None,
        ..*announcement
    })
}

/// REMOVE_ADDR of one address.
pub(super) fn removal_of(id: u8) -> Option<MptcpOption> {
    AddressIds::new(&[id]).map(MptcpOption::RemoveAddress)
}

/// MP_TCPRST.
pub(super) fn reset(reason: u8, transient: bool) -> MptcpOption {
    MptcpOption::Reset(Reset { transient, reason })
}

/// Reasons of MP_TCPRST (RFC 8684, section 3.6).
pub(super) mod reason {
    /// Not specified.
    pub(crate) const UNSPECIFIED: u8 = 0;
    /// MPTCP-specific error.
    pub(crate) const MPTCP_ERROR: u8 = 1;
    /// Administratively prohibited.
    pub(crate) const PROHIBITED: u8 = 3;
    /// Middlebox interference.
    pub(crate) const MIDDLEBOX: u8 = 6;
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use super::*;
    use mptcplab_wire::option::DataNumber;

    /// Room beside timestamps.
    const ROOM: usize = 28;

    fn announcement(address: &str) -> MptcpOption {
        let address: IpAddr = address.parse().unwrap();
        MptcpOption::AddAddress(AddAddress {
            echo: false,
            address_id: 1,
            address,
            port: None,
            hmac: Some(7),
        })
    }

    fn acknowledgement() -> Dss {
        Dss {
            data_fin: false,
            acknowledgement: Some(DataNumber::Long(9)),
            mapping: None,
        }
    }

    fn written(signals: &mut Signals) -> alloc::vec::Vec<MptcpOption> {
        let mut options = Options::default();
        signals.write(Some(acknowledgement()), ROOM, &mut options);
        options.mptcp.to_vec()
    }

    #[test]
    fn an_announcement_goes_with_the_acknowledgement_where_both_have_room() {
        let (v4, v6) = (announcement("10.0.0.1"), announcement("fd00::1"));
        let dss = MptcpOption::Dss(acknowledgement());
        let mut signals = Signals::default();
        signals.push(v4);
        signals.push(v6);
        assert_eq!(written(&mut signals), [dss, v4]);
        assert_eq!(written(&mut signals), [v6]);
        assert_eq!(written(&mut signals), [dss]);
    }

    #[test]
    fn an_announcement_that_goes_alone_is_not_replaced_by_the_next() {
        let (one, other) = (announcement("fd00::1"), announcement("fd00::2"));
        let mut signals = Signals::default();
        signals.push(one);
        signals.push(other);
        assert_eq!(written(&mut signals), [one]);
        assert_eq!(written(&mut signals), [other]);
    }

    #[test]
    fn what_fits_nowhere_is_dropped() {
        let mut signals = Signals::default();
        signals.push(MptcpOption::RemoveAddress(
            AddressIds::new(&[1; 30]).unwrap(),
        ));
        assert_eq!(written(&mut signals), [MptcpOption::Dss(acknowledgement())]);
        assert_eq!(signals.len(), 0);
    }

    #[test]
    fn a_later_priority_or_failure_replaces_the_one_that_waits_and_little_waits() {
        let priority = |backup| MptcpOption::Priority {
            backup,
            address_id: None,
        };
        let mut signals = Signals::default();
        signals.push(priority(true));
        signals.push(priority(false));
        assert_eq!(signals.waiting, [priority(false)]);
        let fail = |data_sequence| MptcpOption::Fail { data_sequence };
        signals.push(fail(1));
        signals.push(fail(2));
        assert_eq!(signals.waiting, [priority(false), fail(2)]);
        for id in 0..100 {
            signals.push(removal_of(id).unwrap());
        }
        assert_eq!(signals.waiting.len(), MAX_WAITING);
    }
}
