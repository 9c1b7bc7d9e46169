//! Analysis of one share of the connections.

use std::slice;

use super::addresses::Addresses;
use super::batch::{Batch, Next, Visitor};
use super::bins::Bins;
use super::order::Collected;
use super::{mappings, rows};
use crate::identify::{IdentityEvent, Placed};
use crate::prefetch::prefetch;
use crate::tables::{EventRow, MappingRow, PacketRow, SampleRow};
use crate::{Connection, DataVerdict, Event, Nanos, Place, Segment, Side, Verdict};

/// Something to analyse.
#[expect(clippy::large_enum_variant, reason = "nearly all are segments")]
pub(super) enum Work {
    /// A change of a connection's identity.
    Identity(u32, IdentityEvent),
    /// A segment and its place.
    Segment(Segment, Placed),
}

impl Work {
    /// Returns the number of the connection that it is about.
    pub(super) fn connection(&self) -> u32 {
        match self {
            Self::Identity(connection, _) => *connection,
            Self::Segment(_, placed) => placed.place.connection,
        }
    }
}

/// Rows, each with the number of the work in its batch that made it.
pub(super) type Numbered<R> = Vec<(u32, R)>;

/// Rows of a batch of work.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) samples: Collected<SampleRow>,
    pub(super) events: Numbered<EventRow>,
    pub(super) packets: Numbered<PacketRow>,
    pub(super) mappings: Numbered<MappingRow>,
}

/// Analyses every `of`th connection.
pub(super) struct Worker {
    of: usize,
    /// Rows of single packets are wanted.
    packets: bool,
    /// By the connection's number divided by `of`.
    analyses: Vec<Analysis>,
    events: Vec<Event>,
}

/// The analysis of one connection.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
pub(super) struct Analysis {
    /// It goes on as TCP from the next data without a mapping.
    falls_back: bool,
    pub(super) subflows: Vec<Subflow>,
    pub(super) addresses: Addresses,
    pub(super) connection: Connection,
    /// Packets that another interface had seen before.
    pub(super) duplicates: u64,
}

/// State of a subflow.
#[derive(Default)]
pub(super) struct Subflow {
    /// Its last packet.
    pub(super) last: Nanos,
    /// Places of the addresses of its client and its server.
    addresses: Option<[usize; 2]>,
    bins: Bins,
}

/// A worker that takes a batch.
struct Taking<'a> {
    worker: &'a mut Worker,
    rows: &'a mut Rows,
}

impl Visitor for Taking<'_> {
    fn fetch(&self, next: Next) {
        let analysis = |index: Option<usize>| self.worker.analyses.get(index?);
        if let Some(analysis) = analysis(next.second) {
            prefetch(slice::from_ref(analysis));
        }
        if let Some(analysis) = analysis(next.first) {
            prefetch(&analysis.subflows);
            analysis.addresses.prefetch();
            analysis.connection.prefetch();
        }
    }

    #[inline(always)]
    fn take(&mut self, number: u32, work: &Work) {
        let Worker { of, analyses, .. } = self.worker;
        let index = work.connection() as usize / *of;
        if index >= analyses.len() {
            analyses.resize_with(index + 1, Analysis::new);
        }
        match work {
            Work::Identity(_, event) => analyses[index].on_identity_event(*event),
            Work::Segment(segment, placed) => self
                .worker
                .segment(index, number, segment, *placed, self.rows),
        }
    }
}

impl Worker {
    /// Creates one of `of` workers.
    pub(super) fn new(of: usize, packets: bool) -> Self {
        Self {
            of,
            packets,
            analyses: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Does the work of a batch. Its rows stand in the order of the pieces that made them.
    pub(super) fn take(&mut self, batch: &Batch, rows: &mut Rows) {
        batch.by_connection(&mut Taking { worker: self, rows });
        rows.sort();
    }

    fn segment(
        &mut self,
        index: usize,
        number: u32,
        segment: &Segment,
        placed: Placed,
        rows: &mut Rows,
    ) {
        let analysis = &mut self.analyses[index];
        let place = placed.place;
        if placed.duplicate {
            analysis.duplicates += 1;
            if self.packets {
                rows.packets.push((number, rows::duplicate(segment, place)));
            }
            return;
        }
        if !placed.acceptable {
            let (verdict, is_known) = analysis.refuse(segment, place, |sample| {
                rows.samples.push(number, sample);
            });
            if self.packets {
                let mut packet = rows::packet(segment, place, &verdict, &DataVerdict::default());
                packet.sequence = packet.sequence.filter(|_| is_known);
                rows.packets.push((number, packet));
            }
            return;
        }
        let (verdict, data) = analysis.take(segment, place, &mut self.events);
        analysis.count(segment, place, &verdict, &data, |sample| {
            rows.samples.push(number, sample);
        });
        let events = self.events.drain(..).map(|event| (number, event.into()));
        rows.events.extend(events);
        if self.packets {
            let packet = rows::packet(segment, place, &verdict, &data);
            rows.packets.push((number, packet));
            mappings::add(segment, place, &data, &analysis.connection, |mapping| {
                rows.mappings.push((number, mapping));
            });
        }
    }

    /// Returns the analyses of its connections, this being worker `number`, with the samples and
    /// events that are complete only at the end.
    pub(super) fn finish(mut self, number: usize) -> Ended {
        let mut samples = Vec::new();
        let of = self.of;
        let numbered = self.analyses.into_iter().enumerate();
        let analyses = numbered.map(|(index, mut analysis)| {
            let connection = (index * of + number) as u32;
            analysis.connection.finish(connection, &mut self.events);
            for (subflow, kept) in (0..).zip(&mut analysis.subflows) {
                let bins = std::mem::take(&mut kept.bins);
                bins.finish(connection, subflow, |sample| samples.push(sample));
            }
            (connection, analysis)
        });
        Ended {
            analyses: analyses.collect(),
            samples,
            events: self.events,
        }
    }
}

/// Results of a worker at its end.
pub(super) struct Ended {
    /// Its connections, by their numbers.
    pub(super) analyses: Vec<(u32, Analysis)>,
    /// Samples that were not complete.
    pub(super) samples: Vec<SampleRow>,
    /// Events that needed what follows.
    pub(super) events: Vec<Event>,
}

impl Analysis {
    /// Creates the analysis of a connection without segments.
    pub(super) fn new() -> Self {
        Self {
            connection: Connection::new(false),
            subflows: Vec::new(),
            addresses: Addresses::default(),
            duplicates: 0,
            falls_back: false,
        }
    }

    fn on_identity_event(&mut self, event: IdentityEvent) {
        match event {
            IdentityEvent::InitialDataSequence(side, number) => {
                self.connection.set_initial(side, number)
            }
            IdentityEvent::FellBack => self.falls_back = true,
            IdentityEvent::FallbackWithdrawn => self.falls_back = false,
        }
    }

    fn take(
        &mut self,
        segment: &Segment,
        place: Place,
        events: &mut Vec<Event>,
    ) -> (Verdict, DataVerdict) {
        let index = place.subflow as usize;
        if index >= self.subflows.len() {
            self.begin(index, segment);
        }
        if self.falls_back && segment.payload_bytes > 0 && !segment.has_mapping() {
            self.falls_back = false;
            self.connection.fall_back();
        }
        self.connection.take(segment, place, events)
    }

    /// Takes a segment that its receiver does not accept: only the packet counts. Returns the
    /// verdict, and whether the sequence numbers of its sender are known.
    #[cold]
    fn refuse(
        &mut self,
        segment: &Segment,
        place: Place,
        complete: impl FnMut(SampleRow),
    ) -> (Verdict, bool) {
        let index = place.subflow as usize;
        if index >= self.subflows.len() {
            self.begin(index, segment);
        }
        let (verdict, is_known) = self.connection.refuse(segment, place);
        self.count(segment, place, &verdict, &DataVerdict::default(), complete);
        (verdict, is_known)
    }

    /// Begins a subflow. A connection without options of MPTCP in its first segment is TCP.
    #[cold]
    fn begin(&mut self, subflow: usize, segment: &Segment) {
        if self.subflows.is_empty() && segment.options.mptcp.is_empty() {
            self.connection.fall_back();
        }
        self.subflows.resize_with(subflow + 1, Subflow::default);
    }

    fn count(
        &mut self,
        segment: &Segment,
        place: Place,
        verdict: &Verdict,
        data: &DataVerdict,
        complete: impl FnMut(SampleRow),
    ) {
        let subflow = &mut self.subflows[place.subflow as usize];
        subflow.last = subflow.last.max(segment.at);
        subflow.bins.take(segment, place, verdict, data, complete);
        let addresses = &mut self.addresses;
        let places = subflow.addresses.get_or_insert_with(|| {
            let ends = [segment.source.ip(), segment.destination.ip()];
            let mut at = |side: Side| addresses.place(ends[usize::from(side != place.from)], side);
            [at(Side::Client), at(Side::Server)]
        });
        addresses.take(places[place.from as usize], segment);
    }
}
