//! Mappings of numbers of a subflow to data sequence numbers.

use mptcplab_wire::option::{Capable, Dss};

use super::Connection;
use super::now::Now;
use super::ranges::Number;
use crate::{DataVerdict, Event, Segment};

/// Numbers of a subflow from `start` to before `end`, and what is added to have their data
/// sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: Number,
    pub(super) end: Number,
    pub(super) shift: Number,
    /// Nothing else was told of any of them before.
    pub(super) alone: bool,
}

impl Connection {
    /// A DSS, in a segment that grants `window`; where it maps what of this subflow.
    #[inline(never)]
    pub(super) fn take_dss(
        &mut self,
        now: &Now,
        segment: &Segment,
        dss: &Dss,
        window: Option<u64>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) -> Option<Mapped> {
        let (direction, other) = self.directions.pair_mut(now.from);
        if let Some(number) = dss.acknowledgement
            && segment.flags.ack
            && !segment.flags.rst
            && let Some(number) = other.numbers.read(number, 1)
        {
            let before = other.fin.acknowledged_at;
            other.acknowledge(now, number, window, found, events);
            self.is_closing |= other.fin.acknowledged_at != before;
        }
        let mapping = dss.mapping.as_ref()?;
        let first = direction.next_number();
        let data = direction.numbers.read(mapping.data_sequence, first)?;
        let mut bytes = Number::from(mapping.bytes);
        if dss.data_fin && bytes > 0 {
            bytes -= 1;
            direction.fin.send(now, data + bytes, events);
            direction.is_complete = true;
            direction.note_window(now.at);
        }
        let flow = &mut self.flows[now.subflow as usize][now.from];
        let start = flow.origin.read_mapped(mapping.subflow_sequence);
        let (end, shift) = (start + bytes, data - start);
        if !flow.origin.is_known() && segment.payload_bytes > 0 {
            flow.learn_origin(segment, (start, end), mapping.bytes == 0);
        }
        if mapping.bytes == 0 {
            flow.map_on(start, shift);
            return None;
        }
        if bytes == 0 {
            return None;
        }
        let alone = flow.map((start, end), shift);
        if flow.must_look_again() {
            self.place_unmapped(now, events);
        }
        Some(Mapped {
            start,
            end,
            shift,
            alone,
        })
    }

    /// MP_CAPABLE with data maps the first of it (RFC 8684, section 3.1).
    #[cold]
    pub(super) fn take_first_mapping(&mut self, now: &Now, capable: &Capable) -> Option<Mapped> {
        let bytes = Number::from(capable.data_bytes.filter(|bytes| *bytes > 0)?);
        let flow = &mut self.flows[now.subflow as usize][now.from];
        let (start, end, shift) = (1, 1 + bytes, 0);
        let alone = flow.map((start, end), shift);
        Some(Mapped {
            start,
            end,
            shift,
            alone,
        })
    }
}
