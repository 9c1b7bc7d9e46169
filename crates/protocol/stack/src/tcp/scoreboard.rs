//! The scoreboard of RFC 6675: segments that were sent and are not acknowledged.

use alloc::collections::{BTreeSet, VecDeque};

use arrayvec::ArrayVec;

use super::delivery::Delivery;
use super::rate::RateStamp;
use super::record::{Record, Status, Transmission};
use crate::Nanos;
use crate::memory::give_back;

/// Segments that were sent and are not acknowledged, oldest data first. A record's number never
/// changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    deque: VecDeque<Record>,
    /// Number of the first record of the deque.
    first: u64,
    in_flight_bytes: u64,
    sacked: usize,
    /// How many of these follow another one: Linux keeps both in one buffer (`tcp_shift_skb_data`).
    merged: usize,
    /// Numbers of the records with [`Status::Lost`].
    lost: BTreeSet<u64>,
    /// No record before this one is in flight by its first transmission: those leave in the order of
    /// the records.
    originals: u64,
    /// Retransmissions by their time; those that are overtaken by an acknowledgement, a loss or
    /// another transmission are dropped when they come to the front.
    again: VecDeque<Transmission>,
    next_transmission: u64,
    /// Blocks of the last selective acknowledgement: what they hold need not be looked at again.
    known: ArrayVec<(u64, u64), 4>,
}

impl Scoreboard {
    pub(crate) fn is_empty(&self) -> bool {
        self.deque.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.deque.len()
    }

    /// Bytes taken to be in the network (pipe of RFC 6675).
    pub(crate) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Segments taken to be in the network.
    pub(crate) fn in_flight_segments(&self) -> u64 {
        (self.deque.len() - self.sacked - self.lost.len()) as u64
    }

    /// How many records were selectively acknowledged.
    pub(crate) fn sacked(&self) -> usize {
        self.sacked
    }

    /// How many of these are kept together with the one before.
    pub(crate) fn merged(&self) -> usize {
        self.merged
    }

    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Number of the first lost record.
    pub(crate) fn first_lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// Number of the first record.
    pub(crate) fn first(&self) -> Option<u64> {
        (!self.deque.is_empty()).then_some(self.first)
    }

    /// Number of the last record.
    pub(crate) fn last(&self) -> Option<u64> {
        (!self.deque.is_empty()).then(|| self.first + self.deque.len() as u64 - 1)
    }

    /// A record by its number.
    pub(crate) fn get(&self, number: u64) -> Option<&Record> {
        let index = number.checked_sub(self.first)?;
        self.deque.get(usize::try_from(index).ok()?)
    }

    /// The record of the oldest data.
    pub(crate) fn oldest(&self) -> Option<&Record> {
        self.deque.front()
    }

    /// Adds what is sent now for the first time.
    pub(crate) fn push(
        &mut self,
        now: Nanos,
        start: u64,
        payload_bytes: u32,
        is_mapped: bool,
        fin: bool,
        stamp: RateStamp,
    ) {
        let record = Record {
            start,
            payload_bytes,
            is_mapped,
            fin,
            sent: now,
            transmission: self.next_transmission(),
            retransmitted: false,
            status: Status::InFlight,
            stamp,
        };
        self.in_flight_bytes += record.bytes();
        self.deque.push_back(record);
    }

    /// Notes that a record is sent again now.
    pub(crate) fn retransmit(&mut self, number: u64, now: Nanos, stamp: RateStamp) {
        let transmission = self.next_transmission();
        self.again.push_back(Transmission {
            record: number,
            number: transmission,
            sent: now,
        });
        let index = (number - self.first) as usize;
        let record = &mut self.deque[index];
        record.sent = now;
        record.transmission = transmission;
        record.retransmitted = true;
        record.stamp = stamp;
        if record.status == Status::Lost {
            record.status = Status::InFlight;
            self.in_flight_bytes += record.bytes();
            self.lost.remove(&number);
        }
    }

    fn next_transmission(&mut self) -> u64 {
        let number = self.next_transmission;
        self.next_transmission += 1;
        number
    }

    /// Removes what is acknowledged cumulatively.
    pub(crate) fn acknowledge(&mut self, acknowledged: u64, delivery: &mut Delivery) {
        while let Some(record) = self.deque.front() {
            if record.end() > acknowledged {
                break;
            }
            match record.status {
                Status::InFlight => self.in_flight_bytes -= record.bytes(),
                Status::Lost => {
                    self.lost.remove(&self.first);
                }
                Status::Sacked => {
                    self.sacked -= 1;
                    self.merged -= self.is_merged(1).min(self.merged);
                }
            }
            if record.status != Status::Sacked {
                delivery.add(record);
            }
            self.deque.pop_front();
            self.first += 1;
        }
        give_back(&mut self.deque);
        // Without SACK the oldest transmission is never asked for.
        while self
            .again
            .front()
            .is_some_and(|transmission| transmission.record < self.first)
        {
            self.again.pop_front();
        }
        give_back(&mut self.again);
    }

    /// Marks what lies in the blocks of a selective acknowledgement, given as offsets.
    pub(crate) fn sack(&mut self, blocks: &[(u64, u64)], delivery: &mut Delivery) {
        for &(left, right) in blocks {
            let mut index = self.deque.partition_point(|record| record.start < left);
            while let Some(record) = self.deque.get_mut(index) {
                if record.end() > right {
                    break;
                }
                if record.status == Status::Sacked {
                    let start = record.start;
                    let known = self
                        .known
                        .iter()
                        .find(|block| block.0 <= start && start < block.1);
                    index = match known {
                        Some(&(_, end)) => self
                            .deque
                            .partition_point(|record| record.start < end)
                            .max(index + 1),
                        None => index + 1,
                    };
                    continue;
                }
                delivery.add(record);
                match record.status {
                    Status::Lost => {
                        self.lost.remove(&(self.first + index as u64));
                    }
                    _ => self.in_flight_bytes -= record.bytes(),
                }
                record.status = Status::Sacked;
                self.sacked += 1;
                self.merged += self.is_merged(index) + self.is_merged(index + 1);
                index += 1;
            }
        }
        self.known = blocks.iter().copied().take(4).collect();
    }

    /// 1 where a record and the one before were acknowledged selectively, and no mapping divides
    /// them; 0 else.
    fn is_merged(&self, index: usize) -> usize {
        let pair = index.checked_sub(1).zip(Some(index));
        let records = pair.and_then(|(a, b)| self.deque.get(a).zip(self.deque.get(b)));
        let alike = |record: &Record| record.status == Status::Sacked && !record.is_mapped;
        records.map_or(0, |(a, b)| usize::from(alike(a) && alike(b)))
    }

    /// The oldest transmission whose fate is not known.
    pub(crate) fn oldest_in_flight(&mut self) -> Option<Transmission> {
        match (self.oldest_original(), self.oldest_again()) {
            (Some(one), Some(other)) if other.number < one.number => Some(other),
            (one, other) => one.or(other),
        }
    }

    /// The same among first transmissions.
    fn oldest_original(&mut self) -> Option<Transmission> {
        self.originals = self.originals.max(self.first);
        while let Some(record) = self.get(self.originals) {
            if record.status == Status::InFlight && !record.retransmitted {
                return Some(record.transmission_of(self.originals));
            }
            self.originals += 1;
        }
        None
    }

    /// The same among retransmissions.
    fn oldest_again(&mut self) -> Option<Transmission> {
        while let Some(&transmission) = self.again.front() {
            let current = self.get(transmission.record).is_some_and(|record| {
                record.transmission == transmission.number && record.status == Status::InFlight
            });
            if current {
                return Some(transmission);
            }
            self.again.pop_front();
        }
        None
    }

    /// Takes the last transmission of a record to be lost.
    pub(crate) fn mark_lost(&mut self, number: u64) {
        let Some(index) = number.checked_sub(self.first) else {
            return;
        };
        let Some(record) = self.deque.get_mut(index as usize) else {
            return;
        };
        if record.status == Status::InFlight {
            record.status = Status::Lost;
            self.in_flight_bytes -= record.bytes();
            self.lost.insert(number);
        }
    }

    /// Takes the first record and all that were sent before `sent_before` to be lost.
    pub(crate) fn mark_timed_out(&mut self, sent_before: Nanos) {
        for index in 0..self.deque.len() {
            let record = &self.deque[index];
            if index == 0 || record.sent <= sent_before {
                self.mark_lost(self.first + index as u64);
            }
        }
    }

    /// The receiver seems to have forgotten what it had acknowledged selectively (RFC 2018,
    /// section 8): nothing is. True where there was anything.
    pub(crate) fn renege(&mut self) -> bool {
        if self.deque.front().map(|record| record.status) != Some(Status::Sacked) {
            return false;
        }
        for (index, record) in self.deque.iter_mut().enumerate() {
            if record.status == Status::Sacked {
                record.status = Status::Lost;
                self.lost.insert(self.first + index as u64);
            }
        }
        self.sacked = 0;
        self.merged = 0;
        self.known.clear();
        true
    }

    /// Without SACK, a duplicate acknowledgement tells that one segment behind the first has
    /// arrived: takes it to be the next one. Gives its length.
    pub(crate) fn presume_received(&mut self) -> u64 {
        let next = self
            .deque
            .iter_mut()
            .skip(1 + self.sacked)
            .find(|record| record.status == Status::InFlight);
        let Some(record) = next else { return 0 };
        record.status = Status::Sacked;
        self.sacked += 1;
        self.in_flight_bytes -= record.bytes();
        record.bytes()
    }

    /// Takes back what was presumed of the first record, or of all.
    pub(crate) fn forget_presumed(&mut self, all: bool) {
        if self.sacked == 0 {
            return;
        }
        let count = if all { self.deque.len() } else { 1 };
        for record in self.deque.iter_mut().take(count) {
            if record.status == Status::Sacked {
                record.status = Status::InFlight;
                self.sacked -= 1;
                self.in_flight_bytes += record.bytes();
            }
        }
    }

    /// Takes back all losses.
    pub(crate) fn unmark_lost(&mut self) {
        for number in core::mem::take(&mut self.lost) {
            let record = &mut self.deque[(number - self.first) as usize];
            record.status = Status::InFlight;
            self.in_flight_bytes += record.bytes();
        }
        self.originals = self.first;
        let mut again: alloc::vec::Vec<Transmission> = (self.first..)
            .zip(&self.deque)
            .filter(|(_, record)| record.status == Status::InFlight && record.retransmitted)
            .map(|(number, record)| record.transmission_of(number))
            .collect();
        again.sort_unstable_by_key(|transmission| transmission.number);
        self.again = again.into();
    }

    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            first: self.first + self.deque.len() as u64,
            next_transmission: self.next_transmission,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests;
