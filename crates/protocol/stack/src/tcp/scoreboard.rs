//! The scoreboard of RFC 6675: segments that were sent and are not acknowledged.

use alloc::collections::{BTreeSet, VecDeque};

use arrayvec::ArrayVec;
use bytes::Bytes;

use super::delivery::Delivery;
use super::extension::DataMapping;
use super::rate::RateStamp;
use crate::Nanos;

/// A segment that was sent. It keeps its bounds when it is sent again.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Offset of its first byte.
    pub(crate) start: u64,
    pub(crate) payload: Bytes,
    pub(crate) mapping: Option<DataMapping>,
    /// FIN follows the payload.
    pub(crate) fin: bool,
    /// When it was last sent.
    pub(crate) sent: Nanos,
    /// Number of its last transmission among all transmissions of the connection.
    pub(crate) transmission: u64,
    /// It was sent more than once.
    pub(crate) retransmitted: bool,
    pub(crate) status: Status,
    pub(crate) stamp: RateStamp,
}

/// Fate of a record's last transmission, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Taken to be in the network.
    InFlight,
    /// Taken to be lost; to be sent again.
    Lost,
    /// Received out of order.
    Sacked,
}

impl Record {
    /// Length in the sequence space.
    pub(crate) fn bytes(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.fin)
    }

    /// Offset that follows it.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.bytes()
    }
}

/// One transmission, in the order of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Number of the record.
    pub(crate) record: u64,
    /// Number of the transmission.
    pub(crate) number: u64,
    /// When.
    pub(crate) sent: Nanos,
}

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
    /// Transmissions by their time; those that are overtaken by an acknowledgement, a loss or
    /// another transmission are dropped when they come to the front.
    order: VecDeque<Transmission>,
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

    /// All records, oldest data first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.deque.iter()
    }

    /// Adds what is sent now for the first time.
    pub(crate) fn push(
        &mut self,
        now: Nanos,
        start: u64,
        payload: Bytes,
        mapping: Option<DataMapping>,
        fin: bool,
        stamp: RateStamp,
    ) {
        let number = self.first + self.deque.len() as u64;
        let transmission = self.transmit(number, now);
        let record = Record {
            start,
            payload,
            mapping,
            fin,
            sent: now,
            transmission,
            retransmitted: false,
            status: Status::InFlight,
            stamp,
        };
        self.in_flight_bytes += record.bytes();
        self.deque.push_back(record);
    }

    /// Notes that a record is sent again now.
    pub(crate) fn retransmit(&mut self, number: u64, now: Nanos, stamp: RateStamp) {
        let transmission = self.transmit(number, now);
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

    fn transmit(&mut self, record: u64, now: Nanos) -> u64 {
        let number = self.next_transmission;
        self.next_transmission += 1;
        self.order.push_back(Transmission {
            record,
            number,
            sent: now,
        });
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
        // Without SACK the oldest transmission is never asked for.
        while self
            .order
            .front()
            .is_some_and(|transmission| transmission.record < self.first)
        {
            self.order.pop_front();
        }
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
        let alike = |record: &Record| record.status == Status::Sacked && record.mapping.is_none();
        records.map_or(0, |(a, b)| usize::from(alike(a) && alike(b)))
    }

    /// The oldest transmission whose fate is not known.
    pub(crate) fn oldest_in_flight(&mut self) -> Option<Transmission> {
        while let Some(&transmission) = self.order.front() {
            let current = self.get(transmission.record).is_some_and(|record| {
                record.transmission == transmission.number && record.status == Status::InFlight
            });
            if current {
                return Some(transmission);
            }
            self.order.pop_front();
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
        let mut order: alloc::vec::Vec<Transmission> = self
            .deque
            .iter()
            .enumerate()
            .filter(|(_, record)| record.status == Status::InFlight)
            .map(|(index, record)| Transmission {
                record: self.first + index as u64,
                number: record.transmission,
                sent: record.sent,
            })
            .collect();
        order.sort_unstable_by_key(|transmission| transmission.number);
        self.order = order.into();
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
