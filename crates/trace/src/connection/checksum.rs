//! Verification of the checksums of mappings (RFC 8684, section 3.3.1).

use mptcplab_wire::option::{Capable, DataNumber, Dss, MptcpOption};

use super::Connection;
use super::current_segment::{CurrentSegment, name};
use super::ranges::{Number, Occupancy, Ranges};
use crate::{DataVerdict, Event, Segment};

/// Most mappings of one direction of a subflow that are summed up at a time; beyond it the first is
/// given up, and its checksum stays unverified.
pub(super) const MAX_SUMS: usize = 16;

/// A mapping with its checksum, as it stands in an option but for the data sequence number, of
/// which all 8 bytes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Declared {
    data_sequence: u64,
    subflow_sequence: u32,
    bytes: u16,
    checksum: u16,
}

/// A mapping, while its data is summed up.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    declared: Declared,
    /// Its data, in numbers of the subflow.
    start: Number,
    end: Number,
    /// Data that was summed up.
    summed: Ranges<()>,
    /// Ones' complement sum of that, of the pseudo-header and of the checksum, not folded.
    total: u64,
}

/// Effect of a segment on a [`Sum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is complete, and right or not.
    Done(bool),
    /// More is to come.
    More,
    /// It holds part of what was summed up before, and cannot be taken apart.
    Lost,
}

impl Sum {
    fn new(declared: Declared, (start, end): (Number, Number)) -> Self {
        let header = [
            declared.data_sequence >> 32,
            declared.data_sequence & 0xffff_ffff,
            declared.subflow_sequence.into(),
            declared.bytes.into(),
            declared.checksum.into(),
        ];
        Self {
            declared,
            start,
            end,
            summed: Ranges::default(),
            total: header.iter().sum(),
        }
    }

    /// Returns whether a segment with data of `[start, end)` belongs to it: one without data if
    /// only a DATA_FIN is mapped.
    fn holds(&self, start: Number, end: Number) -> bool {
        if start == end {
            self.start == self.end
        } else {
            self.start <= start && end <= self.end
        }
    }

    /// Adds the ones' complement sum of data of `[start, end)`, which lies within.
    fn add(&mut self, start: Number, end: Number, sum: u16) -> Step {
        if start < end {
            match self.summed.claim(start, end, ()) {
                (to, _) if to < end => return Step::Lost,
                (_, Occupancy::Free) => {
                    // Where it begins amid a word of the whole its bytes change places.
                    let odd = (start - self.start) % 2 != 0;
                    self.total += u64::from(if odd { sum.swap_bytes() } else { sum });
                }
                _ => {}
            }
        }
        if self.summed.sum() < (self.end - self.start) as u64 {
            return Step::More;
        }
        Step::Done(fold(self.total) == 0xffff)
    }
}

/// Folds a ones' complement sum to 16 bits.
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

impl Connection {
    /// Sums up data for the checksums of its mappings. `sum` is that of the segment's data.
    #[cold]
    pub(super) fn take_sum(
        &mut self,
        current: &CurrentSegment,
        segment: &Segment,
        sum: u16,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        if !flow.origin.is_known() {
            return;
        }
        let start = flow.origin.read(segment.sequence) + Number::from(segment.flags.syn);
        let end = start + Number::from(segment.payload_bytes);
        for option in &segment.options.mptcp {
            if let Some((declared, data_fin)) = self.declared(current, option) {
                self.begin_sum(current, declared, data_fin);
            }
        }
        let sums = &mut self.flows[current.subflow as usize][current.from]
            .rare()
            .sums;
        if start < end {
            // Data that lies in several mappings was not summed up for each of them.
            sums.retain(|open| end <= open.start || open.end <= start || open.holds(start, end));
        }
        let Some(index) = sums.iter().position(|open| open.holds(start, end)) else {
            return;
        };
        match sums[index].add(start, end, sum) {
            Step::More => {}
            Step::Lost => drop(sums.remove(index)),
            Step::Done(valid) => {
                let declared = sums.remove(index).declared;
                found.checksum_valid = Some(valid);
                let totals = &mut self.directions[current.from].totals;
                totals.checksums_verified += 1;
                totals.checksums_wrong += u64::from(!valid);
                if !valid {
                    events.push(wrong(current, declared));
                }
            }
        }
    }

    /// Returns the mapping of an option, and whether it ends the data.
    fn declared(
        &mut self,
        current: &CurrentSegment,
        option: &MptcpOption,
    ) -> Option<(Declared, bool)> {
        let numbers = &mut self.directions[current.from].numbers;
        match option {
            MptcpOption::Dss(Dss {
                mapping: Some(mapping),
                data_fin,
                ..
            }) if mapping.bytes > 0 => {
                let data_sequence = match mapping.data_sequence {
                    DataNumber::Long(number) => number,
                    short => numbers.read(short, 1).and_then(|it| numbers.wire(it))?,
                };
                let declared = Declared {
                    data_sequence,
                    subflow_sequence: mapping.subflow_sequence,
                    bytes: mapping.bytes,
                    checksum: mapping.checksum?,
                };
                Some((declared, *data_fin))
            }
            MptcpOption::Capable(Capable {
                data_bytes: Some(bytes),
                data_checksum: Some(checksum),
                ..
            }) => {
                let declared = Declared {
                    data_sequence: numbers.wire(1)?,
                    subflow_sequence: 1,
                    bytes: *bytes,
                    checksum: *checksum,
                };
                Some((declared, false))
            }
            _ => None,
        }
    }

    /// Begins to sum up a mapping, unless that is under way.
    fn begin_sum(&mut self, current: &CurrentSegment, declared: Declared, data_fin: bool) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        let start = flow.origin.read_mapped(declared.subflow_sequence);
        let end = start + Number::from(declared.bytes) - Number::from(data_fin);
        let sums = &mut flow.rare().sums;
        if sums.iter().any(|open| open.declared == declared) {
            return;
        }
        if sums.len() == MAX_SUMS {
            sums.remove(0);
        }
        sums.push(Sum::new(declared, (start, end)));
    }
}

fn wrong(current: &CurrentSegment, declared: Declared) -> Event {
    let Declared {
        data_sequence,
        bytes,
        checksum,
        ..
    } = declared;
    current.event(
        "checksum_wrong",
        format!(
            "checksum 0x{checksum:04x} of the {} is wrong: of {bytes} bytes from data sequence \
             number {data_sequence} on",
            name(current.from)
        ),
    )
}
