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
    #[inline]
    pub(super) fn take_payload(
        &mut self,
        now: &Now,
        segment: &Segment,
        mapped: Option<Mapped>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
        let start = flow.origin.read(segment.sequence) + Number::from(segment.flags.syn);
        let end = start + Number::from(segment.payload_bytes);
        if flow.origin.is_known() {
            let at = self.place(now, (start, end), mapped, found, events);
            found.data_sequence = at;
        } else {
            flow.keep_unmapped(start, end);
        }
    }

    /// Looks once more for mappings of what has none.
    #[cold]
    pub(super) fn place_unmapped(&mut self, now: &Now, events: &mut Vec<Event>) {
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
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
    #[inline]
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
            let flow = &mut self.flows[now.subflow as usize][now.from as usize];
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
    #[inline]
    fn carry(
        &mut self,
        now: &Now,
        (start, end): (Number, Number),
        shift: Number,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let (mut at, data_end) = (start + shift, end + shift);
        while at < data_end {
            let direction = &mut self.directions[now.from as usize];
            let (to, before) = direction.carried.carry((at, data_end), now.subflow, -shift);
            match before {
                Before::New => {
                    if direction.moves.is_over(now.at) {
                        self.end_period(now, events);
                    }
                    let direction = &mut self.directions[now.from as usize];
                    let flow = &mut self.flows[now.subflow as usize][now.from as usize];
                    direction.send(now, flow, (at, to), found, events);
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
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
        flow.sent_to = flow.sent_to.max(end);
        let direction = &mut self.directions[now.from as usize];
        direction.carried.forget(direction.acknowledged);
    }

    /// Data of `[start, end)` is carried that `carrier` carried before, all of it with other
    /// numbers.
    #[cold]
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
            let flow = &mut self.flows[now.subflow as usize][now.from as usize];
            let (to, first_time) = flow.copy(at - shift, end - shift, shift);
            let to = to + shift;
            if first_time && (by_another || carrier.shared) {
                self.reinject(now, (at, to), Some(carrier.subflow), found, events);
            }
            at = to;
        }
        if by_another && !carrier.shared {
            carrier.shared = true;
            let direction = &mut self.directions[now.from as usize];
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
        let sent_to = self.flows[now.subflow as usize][now.from as usize].sent_to;
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
        self.directions[now.from as usize].totals.reinjected_bytes += bytes;
        let flow = &mut self.flows[now.subflow as usize][now.from as usize];
        flow.reinjected_bytes += bytes;
        events.extend(Series::add(&mut flow.rare().series, now, (start, end), of));
    }

    /// A period of new data is over.
    #[cold]
    fn end_period(&mut self, now: &Now, events: &mut Vec<Event>) {
        let from = now.from as usize;
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
                let rare = flows[from as usize].rare_if_any();
                let series = rare.and_then(|rare| rare.series.take());
                events.extend(series.map(|series| series.event()));
            }
        }
    }
}
