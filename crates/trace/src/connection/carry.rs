//! Data that is carried: new, again, on another subflow.

use super::Connection;
use super::carried::{Before, Carrier, Forgotten};
use super::mapping::Mapped;
use super::moves::Share;
use super::now::Now;
use super::ranges::Number;
use super::series::Series;
use crate::{DataVerdict, Event, Segment, Side};

impl Connection {
    /// The data of a segment that bears the mapping `mapped`.
    #[inline(never)]
    pub(super) fn take_payload(
        &mut self,
        now: &Now,
        segment: &Segment,
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[now.subflow as usize][now.from];
        let start = flow.origin.read(segment.sequence) + Number::from(segment.flags.syn);
        let end = start + Number::from(segment.payload_bytes);
        let Some(shift) = flow.shift_of((start, end), mapped) else {
            return self.take_unusual_payload(now, (start, end), mapped, found, events);
        };
        let data = (start + shift, end + shift);
        found.data_sequence = Some(data.0);
        let direction = &mut self.directions[now.from];
        if !direction.moves.is_over(now.at) && direction.carried.append(data, now.subflow, -shift) {
            direction.send(now, flow, data, found, events);
            flow.sent_to = flow.sent_to.max(end);
            direction.carried.forget(direction.acknowledged);
        } else {
            self.carry(now, (start, end), shift, found, events);
        }
    }

    #[inline(never)]
    fn take_unusual_payload(
        &mut self,
        now: &Now,
        (start, end): (Number, Number),
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[now.subflow as usize][now.from];
        if !flow.origin.is_known() {
            flow.keep_unmapped(start, end);
            return;
        }
        if flow.must_look_again() {
            self.place_unmapped(now, events);
        }
        found.data_sequence = self.place(now, (start, end), mapped, found, events);
    }

    /// Looks once more for mappings of what has none.
    #[cold]
    pub(super) fn place_unmapped(&mut self, now: &Now, events: &mut Vec<Event>) {
        let flow = &mut self.flows[now.subflow as usize][now.from];
        if !flow.origin.is_known() {
            return;
        }
        // What is found of earlier segments is not that of this one.
        let mut found = DataVerdict::default();
        for range in flow.take_unmapped().iter() {
            self.place(now, (range.start, range.end), None, &mut found, events);
        }
    }

    /// Carries what is mapped of `[at, end)` of a subflow; the data sequence number of its first
    /// byte.
    #[inline(never)]
    fn place(
        &mut self,
        now: &Now,
        (start, end): (Number, Number),
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) -> Option<Number> {
        let mut first = None;
        let mut at = start;
        while at < end {
            let flow = &mut self.flows[now.subflow as usize][now.from];
            let beside = mapped.filter(|mapped| (mapped.start..mapped.end).contains(&at));
            // The mapping that was told first counts; one that was forgotten may stand here.
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
            self.carry(now, (at, to), shift, found, events);
            at = to;
        }
        first
    }

    /// Data is carried whose mapping is known.
    #[inline(never)]
    fn carry(
        &mut self,
        now: &Now,
        (flow_start, flow_end): (Number, Number),
        shift: Number,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let (mut at, end) = (flow_start + shift, flow_end + shift);
        while at < end {
            let carried = &mut self.directions[now.from].carried;
            let (to, before) = carried.carry((at, end), now.subflow, -shift);
            match before {
                Before::New => {
                    if self.directions[now.from].moves.is_over(now.at) {
                        self.end_period(now, events);
                    }
                    let flow = &mut self.flows[now.subflow as usize][now.from];
                    self.directions[now.from].send(now, flow, (at, to), found, events);
                }
                // These very numbers of this subflow.
                Before::Carried(carrier)
                    if carrier.subflow == now.subflow && carrier.shift == -shift => {}
                Before::Carried(carrier) => {
                    self.carry_again(now, (at, to), shift, carrier, found, events);
                }
                Before::Forgotten(forgotten) => {
                    self.carry_forgotten(now, (at, to), shift, forgotten, found, events);
                }
            }
            at = to;
        }
        let flow = &mut self.flows[now.subflow as usize][now.from];
        flow.sent_to = flow.sent_to.max(flow_end);
        let direction = &mut self.directions[now.from];
        direction.carried.forget(direction.acknowledged);
    }

    /// Data of `[start, end)` is carried that `carrier` carried before, all of it with other
    /// numbers.
    fn carry_again(
        &mut self,
        now: &Now,
        (start, end): (Number, Number),
        shift: Number,
        mut carrier: Carrier,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let by_another = carrier.subflow != now.subflow;
        let mut at = start;
        while at < end {
            let flow = &mut self.flows[now.subflow as usize][now.from];
            let (to, first_time) = flow.copy(at - shift, end - shift, shift);
            let to = to + shift;
            if first_time && (by_another || carrier.shared) {
                self.reinject(now, (at, to), Some(carrier.subflow), found, events);
            }
            at = to;
        }
        if by_another && !carrier.shared {
            carrier.shared = true;
            let direction = &mut self.directions[now.from];
            direction.carried.change(start, end, carrier);
        }
    }

    /// The same, where it is no longer known how it was carried before.
    #[cold]
    fn carry_forgotten(
        &mut self,
        now: &Now,
        (start, end): (Number, Number),
        shift: Number,
        forgotten: Forgotten,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let of = match forgotten {
            Forgotten::By(subflow) if subflow != now.subflow => Some(subflow),
            Forgotten::BySeveral => None,
            Forgotten::By(_) | Forgotten::Nothing => return,
        };
        // Below that it was sent before, if perhaps not seen.
        let sent_to = self.flows[now.subflow as usize][now.from].sent_to;
        let start = start.max(sent_to + shift);
        if start < end {
            self.reinject(now, (start, end), of, found, events);
        }
    }

    fn reinject(
        &mut self,
        now: &Now,
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
        self.directions[now.from].totals.reinjected_bytes += bytes;
        let flow = &mut self.flows[now.subflow as usize][now.from];
        flow.reinjected_bytes += bytes;
        events.extend(Series::add(&mut flow.rare().series, now, (start, end), of));
    }

    /// A period of new data is over.
    #[cold]
    fn end_period(&mut self, now: &Now, events: &mut Vec<Event>) {
        let from = now.from;
        let shares: Vec<Share> = (0..)
            .zip(&mut self.flows)
            .map(|(subflow, flows)| flows[from].take_share(subflow))
            .collect();
        events.extend(self.directions[from].moves.end_period(now, &shares));
    }

    /// Tells the events that awaited what follows. Nothing does.
    pub fn finish(&mut self, connection: u32, events: &mut Vec<Event>) {
        for from in [Side::Client, Side::Server] {
            let now = Now {
                at: self.last_at,
                frame: 0,
                connection,
                subflow: 0,
                from,
            };
            self.end_period(&now, events);
            for flows in &mut self.flows {
                let rare = flows[from].rare_if_any();
                let series = rare.and_then(|rare| rare.series.take());
                events.extend(series.map(|series| series.event()));
            }
        }
    }
}
