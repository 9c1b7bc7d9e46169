//! Keys, tokens and data sequence numbers of a connection, as they become known.

use mptcplab_wire::option::{Capable, DataNumber, Dss};

use super::connection::Known;
use super::fallback::Fallback;
use super::flow::{Bits, extend, is_before};
use super::identity_events::IdentityEvent;
use super::keys::{initial_data_sequence, token};
use super::registry::{Registry, Seen};
use super::tokens::Owner;
use crate::{Event, Side};

/// Distance ahead of the newest known number from which a number is not believed: 1 TiB.
const FAR: u64 = 1 << 40;

impl Registry {
    /// Takes the keys of a MP_CAPABLE, and earlier ones whose version was not known.
    pub(super) fn learn_keys(&mut self, seen: Seen, capable: &Capable) {
        let (own, other) = (seen.from, seen.from.other());
        self.learn(seen.connection, own, capable.sender_key);
        self.learn(seen.connection, other, capable.receiver_key);
    }

    /// Takes a key, from which token and data sequence number follow. The first key of an end
    /// stays.
    pub(super) fn learn(&mut self, connection: u32, side: Side, key: Option<u64>) {
        let entry = &mut self.connections[connection as usize];
        let Some(key) = entry.keys[side].or(key) else {
            return;
        };
        let version = *entry.version.get_or_insert(1);
        let has_token = entry.tokens[side].is_some();
        let is_new = entry.keys[side].replace(key).is_none() || !has_token;
        if !is_new {
            return;
        }
        let owner = Owner { connection, side };
        if !has_token {
            self.own_token(owner, token(version, key));
        }
        let initial = initial_data_sequence(version, key);
        let event = IdentityEvent::InitialDataSequence(side, initial);
        self.identity_events.push_back((connection, event));
        if self.connections[connection as usize].known[side] == Known::Nothing {
            self.know(owner, DataNumber::Long(initial));
        }
    }

    /// Lets the token name this end; pending flows with it become ready.
    pub(super) fn own_token(&mut self, owner: Owner, token: u32) {
        self.tokens.insert(token, owner, &mut self.connections);
        self.ready.extend(self.pending.with_token(token));
    }

    /// Takes the token in the MP_JOIN of a subflow that was attached by other means.
    pub(super) fn claim(&mut self, index: u32, token: u32) {
        let connection = self.flows[index as usize].connection;
        let side = self.subflows[index as usize].opener.other();
        if self.connections[connection as usize].tokens[side].is_none() {
            self.own_token(Owner { connection, side }, token);
        }
    }

    /// Takes a DSS.
    pub(super) fn take_dss(&mut self, seen: Seen, dss: &Dss, events: &mut Vec<Event>) {
        if let Some(mapping) = dss.mapping {
            if mapping.bytes == 0 {
                return self.fall_back(seen, Fallback::InfiniteMapping, events);
            }
            self.take_number(seen, seen.from, mapping.data_sequence);
        }
        if let Some(number) = dss.acknowledgement {
            self.take_number(seen, seen.from.other(), number);
        }
    }

    /// Takes a data sequence number of an end, for its flow and for the connection.
    fn take_number(&mut self, seen: Seen, of: Side, number: DataNumber) {
        let owner = Owner {
            connection: seen.connection,
            side: of,
        };
        self.know(owner, number);
        let connection = &self.connections[seen.connection as usize];
        let (newest, known) = (connection.data[of], connection.known[of]);
        let flow = &mut self.flows[seen.index as usize];
        let near = if flow.bits.any(Bits::known(of)) {
            flow.data[of]
        } else {
            newest
        };
        let number = in_full(number, near);
        let is_believed = number.wrapping_sub(newest) < FAR || is_before(number, newest);
        if is_believed && (!flow.bits.any(Bits::known(of)) || is_before(flow.data[of], number)) {
            flow.data[of] = number;
        }
        flow.bits.set(Bits::known(of), true);
        flow.bits.set(Bits::short(of), known != Known::All);
    }

    /// Takes a data sequence number of an end of a connection.
    fn know(&mut self, owner: Owner, number: DataNumber) {
        let connection = &mut self.connections[owner.connection as usize];
        let (old, known) = (connection.data[owner.side], connection.known[owner.side]);
        let given = match number {
            DataNumber::Long(_) => Known::All,
            DataNumber::Short(_) => Known::Low,
        };
        let new = in_full(number, old);
        let is_newer = is_before(old, new) && new.wrapping_sub(old) < FAR;
        if known >= given && !is_newer {
            return;
        }
        connection.data[owner.side] = new;
        connection.known[owner.side] = known.max(given);
        if known.max(given) == Known::All {
            let old = (known == Known::All).then_some(old);
            self.dsn_index.update(owner, old, new);
        }
    }
}

/// Returns all of a number; one with only its low half is near another.
fn in_full(number: DataNumber, near: u64) -> u64 {
    match number {
        DataNumber::Long(number) => number,
        DataNumber::Short(low) => extend(near, low),
    }
}
