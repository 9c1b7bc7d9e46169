//! Mappings of numbers of a subflow to data sequence numbers.

use mptcplab_wire::option::{Capable, Dss};

use super::Connection;
use super::current_segment::CurrentSegment;
use super::ranges::Number;
use crate::{DataVerdict, Event, Segment};

/// Numbers of a subflow from `start` to before `end`, and the difference of their data sequence
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: Number,
    pub(super) end: Number,
    pub(super) shift: Number,
    /// None of them was mapped otherwise before.
    pub(super) alone: bool,
}

impl Connection {
    /// Takes a DSS, in a segment that grants `window`. Returns its mapping.
    #[inline(never)]
    pub(super) fn take_dss(
        &mut self,
        current: &CurrentSegment,
        segment: &Segment,
        dss: &Dss,
        window: Option<u64>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) -> Option<Mapped> {
        let (direction, other) = self.directions.pair_mut(current.from);
        if let Some(number) = dss.acknowledgement
            && segment.flags.ack
            && !segment.flags.rst
            && let Some(number) = other.numbers.read(number, 1)
        {
            let before = other.fin.acknowledged_at;
            other.acknowledge(current, number, window, found, events);
            self.is_closing |= other.fin.acknowledged_at != before;
        }
        let mapping = dss.mapping.as_ref()?;
        let first = direction.next_number();
        let data = direction.numbers.read(mapping.data_sequence, first)?;
        let mut bytes = Number::from(mapping.bytes);
        if dss.data_fin && bytes > 0 {
            bytes -= 1;
            direction.fin.send(current, data + bytes, events);
            direction.is_complete = true;
            direction.note_window(current.at);
        }
        let flow = &mut self.flows[current.subflow as usize][current.from];
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
            self.place_unmapped(current, events);
        }
        Some(Mapped {
            start,
            end,
            shift,
            alone,
        })
    }

    /// Takes a MP_CAPABLE with data, which maps the first of it (RFC 8684, section 3.1).
    #[cold]
    pub(super) fn take_first_mapping(
        &mut self,
        current: &CurrentSegment,
        capable: &Capable,
    ) -> Option<Mapped> {
        let bytes = Number::from(capable.data_bytes.filter(|bytes| *bytes > 0)?);
        let flow = &mut self.flows[current.subflow as usize][current.from];
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
