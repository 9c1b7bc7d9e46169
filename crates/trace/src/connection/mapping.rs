//! Mappings of numbers of a subflow to data sequence numbers.

use mptcplab_wire::option::{Capable, Dss, Mapping};

use super::Connection;
use super::now::Now;
use super::ranges::{BOUND, Number};
use crate::{Event, Segment};

/// Numbers of a subflow from `start` to before `end`, and what is added to have their data
/// sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: Number,
    pub(super) end: Number,
    pub(super) shift: Number,
}

impl Connection {
    /// The mapping of a DSS; where it maps what of this subflow.
    #[inline]
    pub(super) fn take_mapping(
        &mut self,
        now: &Now,
        segment: &Segment,
        dss: &Dss,
        mapping: &Mapping,
        events: &mut Vec<Event>,
    ) -> Option<Mapped> {
        let direction = &mut self.directions[now.from as usize];
        let first = if direction.sent_to > -BOUND {
            direction.sent_to
        } else {
            1
        };
        let data = direction.numbers.read(mapping.data_sequence, first)?;
        let mut bytes = Number::from(mapping.bytes);
        if dss.data_fin && bytes > 0 {
            bytes -= 1;
            events.extend(direction.fin.send(now, data + bytes));
        }
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
        let start = flow.origin.read_mapped(mapping.subflow_sequence);
        let mapped = Mapped {
            start,
            end: start + bytes,
            shift: data - start,
        };
        if !flow.origin.is_known() && segment.payload_bytes > 0 {
            let data = flow.origin.read(segment.sequence);
            // An infinite mapping begins with the data beside it.
            let data_bytes = if mapping.bytes == 0 {
                0
            } else {
                segment.payload_bytes
            };
            let data = (data, data + Number::from(data_bytes));
            if let Some(by) = flow.origin.learn(data, (mapped.start, mapped.end)) {
                flow.correct(by);
            }
        }
        if mapping.bytes == 0 {
            flow.map_on(mapped.start, mapped.shift);
            return None;
        }
        if bytes == 0 {
            return None;
        }
        flow.map((mapped.start, mapped.end), mapped.shift);
        Some(mapped)
    }

    /// MP_CAPABLE with data maps the first of it (RFC 8684, section 3.1).
    pub(super) fn take_first_mapping(&mut self, now: &Now, capable: &Capable) -> Option<Mapped> {
        let bytes = Number::from(capable.data_bytes.filter(|bytes| *bytes > 0)?);
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
        let mapped = Mapped {
            start: 1,
            end: 1 + bytes,
            shift: 0,
        };
        flow.map((mapped.start, mapped.end), mapped.shift);
        Some(mapped)
    }
}
