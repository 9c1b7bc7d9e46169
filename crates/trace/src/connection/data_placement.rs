//! Placement of a segment's data by its mapping: new, sent again, or reinjected.

use super::Connection;
use super::coverage::{Before, Carrier, Forgotten};
use super::current_segment::CurrentSegment;
use super::mapping::Mapped;
use super::path_switches::Share;
use super::ranges::Number;
use super::series::Series;
use crate::{DataVerdict, Event, Segment, Side};

impl Connection {
    /// Takes the data of a segment with the mapping `mapped`.
    #[inline(never)]
    pub(super) fn take_payload(
        &mut self,
        current: &CurrentSegment,
        segment: &Segment,
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        let start = flow.origin.read(segment.sequence) + Number::from(segment.flags.syn);
        let end = start + Number::from(segment.payload_bytes);
        let Some(shift) = flow.shift_of((start, end), mapped) else {
            return self.take_unusual_payload(current, (start, end), mapped, found, events);
        };
        let data = (start + shift, end + shift);
        found.data_sequence = Some(data.0);
        let direction = &mut self.directions[current.from];
        if !direction.path_switches.is_over(current.at)
            && direction.coverage.append(data, current.subflow, -shift)
        {
            direction.send(current, flow, data, found, events);
            flow.sent_to = flow.sent_to.max(end);
            direction.coverage.forget(direction.acknowledged);
        } else {
            self.place_range(current, (start, end), shift, found, events);
        }
    }

    #[inline(never)]
    fn take_unusual_payload(
        &mut self,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        if !flow.origin.is_known() {
            flow.keep_unmapped(start, end);
            return;
        }
        if flow.must_look_again() {
            self.place_unmapped(current, events);
        }
        found.data_sequence = self.place(current, (start, end), mapped, found, events);
    }

    /// Places data that had no mapping before.
    #[cold]
    pub(super) fn place_unmapped(&mut self, current: &CurrentSegment, events: &mut Vec<Event>) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        if !flow.origin.is_known() {
            return;
        }
        // Results for earlier segments are not those of this one.
        let mut found = DataVerdict::default();
        for range in flow.take_unmapped().iter() {
            self.place(current, (range.start, range.end), None, &mut found, events);
        }
    }

    /// Places the mapped parts of `[start, end)` of a subflow. Returns the data sequence number of
    /// the first byte.
    #[inline(never)]
    fn place(
        &mut self,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) -> Option<Number> {
        let mut first = None;
        let mut at = start;
        while at < end {
            let flow = &mut self.flows[current.subflow as usize][current.from];
            let beside = mapped.filter(|mapped| (mapped.start..mapped.end).contains(&at));
            // The first mapping counts; one that was forgotten may stand beside the data.
            let mapping = flow
                .mapped(at)
                .or_else(|| beside.map(|mapped| (mapped.end, mapped.shift)));
            let Some((to, shift)) = mapping else {
                at = flow.keep_unmapped(at, end);
                continue;
            };
            let to = to.min(end);
            if at == start {
                first = Some(at + shift);
            }
            self.place_range(current, (at, to), shift, found, events);
            at = to;
        }
        first
    }

    /// Places data of one mapping.
    #[inline(never)]
    fn place_range(
        &mut self,
        current: &CurrentSegment,
        (flow_start, flow_end): (Number, Number),
        shift: Number,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let (mut at, end) = (flow_start + shift, flow_end + shift);
        while at < end {
            let coverage = &mut self.directions[current.from].coverage;
            let (to, before) = coverage.cover((at, end), current.subflow, -shift);
            match before {
                Before::New => {
                    if self.directions[current.from]
                        .path_switches
                        .is_over(current.at)
                    {
                        self.end_period(current, events);
                    }
                    let flow = &mut self.flows[current.subflow as usize][current.from];
                    self.directions[current.from].send(current, flow, (at, to), found, events);
                }
                // These very numbers of this subflow.
                Before::Carried(carrier)
                    if carrier.subflow == current.subflow && carrier.shift == -shift => {}
                Before::Carried(carrier) => {
                    self.place_again(current, (at, to), shift, carrier, found, events);
                }
                Before::Forgotten(forgotten) => {
                    self.place_forgotten(current, (at, to), shift, forgotten, found, events);
                }
            }
            at = to;
        }
        let flow = &mut self.flows[current.subflow as usize][current.from];
        flow.sent_to = flow.sent_to.max(flow_end);
        let direction = &mut self.directions[current.from];
        direction.coverage.forget(direction.acknowledged);
    }

    /// Places data of `[start, end)` that `carrier` carried before, all of it with other numbers.
    fn place_again(
        &mut self,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        shift: Number,
        mut carrier: Carrier,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let by_another = carrier.subflow != current.subflow;
        let mut at = start;
        while at < end {
            let flow = &mut self.flows[current.subflow as usize][current.from];
            let (to, first_time) = flow.copy(at - shift, end - shift, shift);
            let to = to + shift;
            if first_time && (by_another || carrier.shared) {
                self.reinject(current, (at, to), Some(carrier.subflow), found, events);
            }
            at = to;
        }
        if by_another && !carrier.shared {
            carrier.shared = true;
            let direction = &mut self.directions[current.from];
            direction.coverage.change(start, end, carrier);
        }
    }

    /// Places data of `[start, end)` whose carrier was forgotten.
    #[cold]
    fn place_forgotten(
        &mut self,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        shift: Number,
        forgotten: Forgotten,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let of = match forgotten {
            Forgotten::By(subflow) if subflow != current.subflow => Some(subflow),
            Forgotten::BySeveral => None,
            Forgotten::By(_) | Forgotten::Nothing => return,
        };
        // Below that it was sent before, if perhaps not seen.
        let sent_to = self.flows[current.subflow as usize][current.from].sent_to;
        let start = start.max(sent_to + shift);
        if start < end {
            self.reinject(current, (start, end), of, found, events);
        }
    }

    fn reinject(
        &mut self,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        of: Option<u32>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let bytes = (end - start) as u64;
        if found.reinjected_bytes == 0 {
            found.reinjected_from = of;
        }
        found.reinjected_bytes += bytes as u32;
        self.directions[current.from].totals.reinjected_bytes += bytes;
        let flow = &mut self.flows[current.subflow as usize][current.from];
        flow.reinjected_bytes += bytes;
        events.extend(Series::add(
            &mut flow.rare().series,
            current,
            (start, end),
            of,
        ));
    }

    /// Ends a period of new data.
    #[cold]
    fn end_period(&mut self, current: &CurrentSegment, events: &mut Vec<Event>) {
        let from = current.from;
        let shares: Vec<Share> = (0..)
            .zip(&mut self.flows)
            .map(|(subflow, flows)| flows[from].take_share(subflow))
            .collect();
        events.extend(
            self.directions[from]
                .path_switches
                .end_period(current, &shares),
        );
        if self.is_paused(current) {
            self.directions[from].path_switches.forget();
        }
    }

    /// Returns whether the application at the sender has paused. At the receiver's side, where a
    /// round trip to the receiver is shorter than one to the sender, unseen data may be missing.
    fn is_paused(&self, current: &CurrentSegment) -> bool {
        let gaps = &self.directions[current.from].gaps;
        let trip = |by| self.subflow(gaps.last_subflow)?.smoothed_rtt(by);
        gaps.is_paused(current.at)
            && trip(current.from) > trip(current.from.other())
            && trip(current.from.other()).is_some()
    }

    /// Adds the events that depend on later packets, at the end of the connection.
    pub fn finish(&mut self, connection: u32, events: &mut Vec<Event>) {
        for from in [Side::Client, Side::Server] {
            let current = CurrentSegment {
                at: self.last_at,
                frame: 0,
                connection,
                subflow: 0,
                from,
            };
            self.end_period(&current, events);
            for flows in &mut self.flows {
                let rare = flows[from].rare_if_any();
                let series = rare.and_then(|rare| rare.series.take());
                events.extend(series.map(|series| series.event()));
            }
        }
    }
}
