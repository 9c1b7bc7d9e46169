//! Finding the connection of a flow without captured handshake by its data sequence numbers.
//!
//! The ends of a connection begin with random numbers of 64 bits and are at most a window apart on
//! all their subflows. A number of 8 bytes within 2³¹ of one of a known connection is that
//! connection's: of n connections it is another's with a chance of n/2³¹. A number of 4 bytes needs
//! more: an address of the connection, and both ends' numbers within 2²⁴, or one within 2²⁰.

use std::collections::HashMap;
use std::net::IpAddr;

use mptcplab_wire::option::{DataNumber, MptcpOption};

use super::connection::{Connection, Known};
use super::flow::extend;
use super::tokens::Owner;
use crate::{Segment, Side};

/// Newest connections at an address that numbers of 4 bytes are compared with; a flow of an older
/// one becomes a connection of its own.
pub(super) const CONNECTIONS_AN_ADDRESS: usize = 64;

/// Largest distance between numbers of 8 bytes of one connection.
const NEAR: u64 = 1 << 31;
/// The same of 4 bytes, where both ends' are known.
const NEAR_SHORT: u64 = 1 << 24;
/// The same of 4 bytes, where one end's is known.
const NEAR_ALONE: u64 = 1 << 20;

/// Data sequence numbers that a flow was seen to carry: those of its low end, and of its high end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenDsns {
    low: Option<DataNumber>,
    high: Option<DataNumber>,
}

impl SeenDsns {
    /// Takes the numbers of a segment that the low or the high end sent.
    pub(super) fn take(&mut self, segment: &Segment, from_low: bool) {
        for option in &segment.options.mptcp {
            let MptcpOption::Dss(dss) = option else {
                continue;
            };
            let (own, other) = if from_low {
                (&mut self.low, &mut self.high)
            } else {
                (&mut self.high, &mut self.low)
            };
            if let Some(mapping) = dss.mapping.filter(|mapping| mapping.bytes > 0) {
                *own = Some(mapping.data_sequence);
            }
            // A number that the other end sent is newer than one that was acknowledged.
            *other = other.or(dss.acknowledgement);
        }
    }

    /// Returns whether both ends' numbers are known, or one of 8 bytes: more would not help.
    pub(super) fn are_sufficient(&self) -> bool {
        let all = |number| matches!(number, Some(DataNumber::Long(_)));
        all(self.low) || all(self.high) || (self.low.is_some() && self.high.is_some())
    }

    /// Returns the distance of these numbers from those of the connection, if the client is the low
    /// end or the high one; `None`: too far.
    fn distance(&self, connection: &Connection, client_low: bool) -> Option<u64> {
        let (client, server) = if client_low {
            (self.low, self.high)
        } else {
            (self.high, self.low)
        };
        let compared = [(client, Side::Client), (server, Side::Server)];
        let compared = compared
            .map(|(number, of)| number.and_then(|number| distance_to(connection, of, number)));
        let mut distances = compared.iter().flatten();
        let (one, other) = (distances.next()?, distances.next());
        let is_near = match other {
            Some(other) => one.is_near(NEAR_SHORT) && other.is_near(NEAR_SHORT),
            None => one.is_near(NEAR_ALONE),
        };
        is_near.then(|| one.bytes.max(other.map_or(0, |other| other.bytes)))
    }
}

/// Distance of a number from a connection's.
struct Distance {
    bytes: u64,
    in_full: bool,
}

impl Distance {
    fn is_near(&self, limit_short: u64) -> bool {
        self.bytes < if self.in_full { NEAR } else { limit_short }
    }
}

fn distance_to(connection: &Connection, of: Side, number: DataNumber) -> Option<Distance> {
    let newest = connection.data[of];
    let (number, in_full) = match (number, connection.known[of]) {
        (_, Known::Nothing) => return None,
        (DataNumber::Long(number), Known::All) => (number, true),
        (DataNumber::Long(number), Known::Low) => (extend(newest, number as u32), false),
        (DataNumber::Short(low), _) => (extend(newest, low), false),
    };
    Some(Distance {
        bytes: (number.wrapping_sub(newest) as i64).unsigned_abs(),
        in_full,
    })
}

/// Connections by the numbers and addresses of their flows.
#[derive(Debug, Default)]
pub(super) struct DsnIndex {
    /// The newest end with a number in each range of 2³².
    by_number: HashMap<u32, Owner>,
    /// Connections that an address was seen in, the newest last.
    by_address: HashMap<IpAddr, Vec<u32>>,
}

impl DsnIndex {
    /// Notes that the newest number of an end is `new`; it was `old` if it was known.
    pub(super) fn update(&mut self, owner: Owner, old: Option<u64>, new: u64) {
        let half = |number: u64| (number >> 32) as u32;
        if let Some(old) = old.map(half) {
            if old == half(new) {
                return;
            }
            if self.by_number.get(&old) == Some(&owner) {
                self.by_number.remove(&old);
            }
        }
        self.by_number.insert(half(new), owner);
    }

    /// Notes that a connection was seen at an address.
    pub(super) fn add_address(&mut self, address: IpAddr, connection: u32) {
        let known = self.by_address.entry(address).or_default();
        if known.last() == Some(&connection) {
            return;
        }
        if known.len() == CONNECTIONS_AN_ADDRESS {
            known.remove(0);
        }
        known.push(connection);
    }

    /// Finds the connection of a flow between two addresses with these numbers. Returns it with
    /// whether its client is the low end.
    pub(super) fn find(
        &self,
        numbers: &SeenDsns,
        addresses: [IpAddr; 2],
        connections: &[Connection],
    ) -> Option<(u32, bool)> {
        if numbers.low.is_none() && numbers.high.is_none() {
            return None;
        }
        let by_number = [numbers.low, numbers.high]
            .into_iter()
            .filter_map(|number| match number? {
                DataNumber::Long(number) => Some((number >> 32) as u32),
                DataNumber::Short(_) => None,
            })
            .flat_map(|half| [half.wrapping_sub(1), half, half.wrapping_add(1)])
            .filter_map(|half| self.by_number.get(&half))
            .map(|owner| owner.connection);
        let by_address = addresses
            .iter()
            .filter_map(|address| self.by_address.get(address))
            .flatten()
            .rev()
            .copied();
        by_number
            .chain(by_address)
            .flat_map(|connection| [(connection, true), (connection, false)])
            .filter_map(|(connection, client_low)| {
                let distance = numbers.distance(&connections[connection as usize], client_low)?;
                Some((distance, connection, client_low))
            })
            .min_by_key(|&(distance, ..)| distance)
            .map(|(_, connection, client_low)| (connection, client_low))
    }
}
