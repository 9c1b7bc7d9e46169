//! Address and priority signals, MP_FAIL, MP_FASTCLOSE and resets (RFC 8684, sections 3.3.8 and 3.4
//! to 3.7).

use mptcplab_wire::option::{AddAddress, MptcpOption};

use super::addresses::{Added, Announced};
use super::fallback::Fallback;
use super::flow::{Bits, PENDING};
use super::format_option::{format_option, format_options, reason_text};
use super::keys;
use super::registry::{Registry, Seen};
use super::subflow::Phase;
use crate::Event;

/// Subflows of a connection that a MP_PRIO of version 0 can change by their address id; those
/// that were opened later are not.
pub(super) const SUBFLOWS_BY_ID: usize = 256;

impl Registry {
    /// Takes an option of a segment that is not a duplicate.
    pub(super) fn take_option(
        &mut self,
        seen: Seen,
        option: &MptcpOption,
        events: &mut Vec<Event>,
    ) {
        match option {
            MptcpOption::Capable(capable) => self.take_capable(seen, capable, events),
            MptcpOption::Join(join) => self.take_join(seen, join, events),
            MptcpOption::Dss(dss) => {
                if dss.mapping.is_some() {
                    self.take_fallback_back(seen, events);
                }
                self.confirm(seen);
                self.take_dss(seen, dss, events);
            }
            signal => {
                self.confirm(seen);
                self.take_signal(seen, signal, events);
            }
        }
    }

    fn take_signal(&mut self, seen: Seen, option: &MptcpOption, events: &mut Vec<Event>) {
        let kind = match option {
            MptcpOption::AddAddress(add) => return self.take_add_address(seen, add, events),
            MptcpOption::RemoveAddress(ids) => {
                if let Some(announced) = &mut self.connection(seen).announced {
                    announced.remove(seen.from, ids.as_slice());
                }
                "address_removed"
            }
            MptcpOption::Priority { backup, address_id } => {
                self.prioritise(seen, *backup, *address_id);
                "priority_changed"
            }
            MptcpOption::Fail { .. } => "mp_fail",
            MptcpOption::FastClose { receiver_key } => {
                self.recognise(seen, *receiver_key);
                "fast_close"
            }
            MptcpOption::Reset(reset) => {
                self.connection(seen).version.get_or_insert(1);
                self.subflow(seen).reset_reason.get_or_insert(reset.reason);
                return;
            }
            MptcpOption::Capable(_) | MptcpOption::Join(_) | MptcpOption::Dss(_) => return,
        };
        self.report(seen, kind, format_option(option), events);
        if matches!(option, MptcpOption::Fail { .. }) && !seen.segment.flags.rst {
            self.fall_back(seen, Fallback::MpFail, events);
        }
    }

    fn take_add_address(&mut self, seen: Seen, add: &AddAddress, events: &mut Vec<Event>) {
        let (own, other) = (seen.from, seen.from.other());
        let connection = self.connection(seen);
        let version = u8::from(add.echo || add.hmac.is_some());
        connection.version.get_or_insert(version);
        let mut text = format_option(&MptcpOption::AddAddress(*add));
        if add.echo {
            return self.report(seen, "address_echoed", text, events);
        }
        let keys = (connection.keys[own], connection.keys[other]);
        let added = connection
            .announced
            .get_or_insert_with(Box::<Announced>::default)
            .add(own, add);
        if added == Added::Again {
            text.push_str(", sent again");
        }
        self.report(seen, "address_announced", text, events);
        if let Added::InPlaceOf(address, port) = added {
            let port = port.map_or_else(String::new, |port| format!(" port={port}"));
            let text = format!("id {} was that of {address}{port} before", add.address_id);
            self.report(seen, "address_changed", text, events);
        }
        let (Some(hmac), (Some(own), Some(other))) = (add.hmac, keys) else {
            return;
        };
        let expected = keys::address_hmac(own, other, add.address_id, add.address, add.port);
        if hmac != expected {
            let text = format!(
                "the HMAC of ADD_ADDR id={} does not follow from the keys",
                add.address_id
            );
            self.report(seen, "hmac_wrong", text, events);
        }
    }

    /// Takes a MP_PRIO: about the subflow that it is sent on or, in version 0, those of an address.
    fn prioritise(&mut self, seen: Seen, backup: bool, address_id: Option<u8>) {
        let Some(id) = address_id else {
            return self.subflow(seen).prioritise(seen.from, backup);
        };
        let connection = self.connection(seen);
        connection.version.get_or_insert(0);
        let mut index = connection.first;
        for _ in 0..SUBFLOWS_BY_ID {
            if index == PENDING {
                break;
            }
            let subflow = &mut self.subflows[index as usize];
            if subflow.address_ids[seen.from] == Some(id) {
                subflow.prioritise(seen.from, backup);
            }
            index = subflow.following;
        }
    }

    /// Takes the receiver's key in a MP_FASTCLOSE of a connection whose handshake was not captured.
    /// The version is the one whose token of the key is known; MP_TCPRST implies version 1.
    fn recognise(&mut self, seen: Seen, key: u64) {
        let owner = seen.from.other();
        let options = &seen.segment.options.mptcp;
        let has_reason = options.iter().any(|it| matches!(it, MptcpOption::Reset(_)));
        let connection = self.connection(seen);
        if connection.keys[owner].is_some() {
            return;
        }
        let version = connection.version.or(has_reason.then_some(1));
        let versions = version.map_or([1, 0], |version| [version; 2]);
        let found = match connection.tokens[owner] {
            Some(token) => versions
                .into_iter()
                .find(|&version| keys::token(version, key) == token),
            None => version,
        };
        if found.is_some() {
            connection.version = found;
            self.learn(seen.connection, owner, Some(key));
        }
    }

    /// Takes the first RST of an end.
    pub(super) fn take_reset(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let flow = &mut self.flows[seen.index as usize];
        if flow.bits.any(Bits::reset(seen.from)) {
            return;
        }
        flow.bits.set(Bits::reset(seen.from), true);
        let mut text = "RST".to_owned();
        let options = &seen.segment.options.mptcp;
        if !options.is_empty() {
            text.push_str("; ");
            format_options(options, &mut text);
        }
        for option in options {
            if let MptcpOption::Reset(reset) = option {
                text.push_str(": ");
                text.push_str(reason_text(reset.reason));
            }
        }
        let subflow = self.subflow(seen);
        let is_opening = matches!(subflow.phase, Phase::Syn | Phase::SynAck);
        let rejects = subflow.join && is_opening && !subflow.rejected;
        subflow.rejected |= rejects;
        let kind = if rejects { "join_rejected" } else { "reset" };
        self.report(seen, kind, text, events);
    }
}
