//! Segments made by hand, whose truth is known.

mod checksums;
mod ending;
mod hostile;
mod model;
mod placing;
mod plain;
mod reinjection;
mod schedule;
mod times;
mod unknown;

use mptcplab_wire::option::{Capable, DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options};

use super::*;

/// A connection and what was told of it. Each subflow's initial sequence numbers are those of
/// [`Lab::initial`].
struct Lab {
    connection: Connection,
    events: Vec<Event>,
    at: Nanos,
    frame: u64,
    window: u64,
    /// Initial data sequence numbers by side.
    idsn: [u64; 2],
}

/// A segment to be.
#[derive(Clone, Default)]
struct Draft {
    /// Subflow sequence number of the data, and its bytes.
    data: (i64, u32),
    /// Data sequence number, subflow sequence number, bytes.
    mapping: Option<(i64, u32, u16)>,
    data_fin: bool,
    /// Subflow sequence number that it acknowledges.
    acknowledgement: Option<i64>,
    data_acknowledgement: Option<i64>,
    /// Data sequence numbers in 4 bytes.
    short: bool,
    flags: Flags,
    kind: Option<Kind>,
}

/// Data of `bytes` at subflow sequence number `ssn`, mapped to data sequence number `dsn`.
fn data(ssn: i64, dsn: i64, bytes: u32) -> Draft {
    Draft {
        data: (ssn, bytes),
        mapping: Some((dsn, ssn as u32, bytes as u16)),
        ..Draft::default()
    }
}

/// Data of `bytes` at `ssn` without a mapping.
fn bare(ssn: i64, bytes: u32) -> Draft {
    Draft {
        data: (ssn, bytes),
        ..Draft::default()
    }
}

/// An acknowledgement of the subflow up to `ssn` and of data up to `dsn`.
fn ack(ssn: i64, dsn: i64) -> Draft {
    Draft {
        acknowledgement: Some(ssn),
        data_acknowledgement: Some(dsn),
        ..Draft::default()
    }
}

impl Lab {
    /// A connection of MPTCP with `subflows` that were opened.
    fn new(subflows: u32) -> Self {
        Self::with([0xffff_fff0, u64::MAX - 20], subflows)
    }

    /// Returns the same with these initial data sequence numbers.
    fn with(idsn: [u64; 2], subflows: u32) -> Self {
        let mut lab = Self::unknown();
        lab.idsn = idsn;
        lab.connection.set_initial(Side::Client, idsn[0]);
        lab.connection.set_initial(Side::Server, idsn[1]);
        (0..subflows).for_each(|subflow| lab.open(subflow));
        lab
    }

    /// Returns the same, with nothing known of it.
    fn unknown() -> Self {
        Self {
            connection: Connection::new(false),
            events: Vec::new(),
            at: 0,
            frame: 0,
            window: 1 << 20,
            idsn: [7, 7],
        }
    }

    fn initial(subflow: u32, side: Side) -> u32 {
        let offset = 0x4000_0000 * subflow;
        match side {
            Side::Client => 0xffff_ff00_u32.wrapping_add(offset),
            Side::Server => 5_u32.wrapping_add(offset),
        }
    }

    /// SYN and SYN/ACK.
    fn open(&mut self, subflow: u32) {
        let mut syn = Draft::default();
        syn.flags.syn = true;
        self.take(subflow, Side::Client, syn.clone());
        syn.acknowledgement = Some(1);
        self.take(subflow, Side::Server, syn);
    }

    fn segment(&mut self, subflow: u32, from: Side, draft: &Draft) -> Segment {
        let number = |side: Side, number: i64| {
            let number = self.idsn[side as usize].wrapping_add(number as u64);
            if draft.short {
                DataNumber::Short(number as u32)
            } else {
                DataNumber::Long(number)
            }
        };
        let dss = Dss {
            data_fin: draft.data_fin,
            acknowledgement: draft
                .data_acknowledgement
                .map(|dsn| number(from.other(), dsn)),
            mapping: draft.mapping.map(|(dsn, ssn, bytes)| Mapping {
                data_sequence: number(from, dsn),
                subflow_sequence: ssn,
                bytes,
                checksum: None,
            }),
        };
        let mut options = Options::default();
        if dss.acknowledgement.is_some() || dss.mapping.is_some() {
            options.mptcp.push(MptcpOption::Dss(dss));
        }
        let address = |side| match side {
            Side::Client => "10.0.0.1:1".parse().expect("an address"),
            Side::Server => "10.0.0.2:2".parse().expect("an address"),
        };
        self.frame += 1;
        let acknowledgement = draft.acknowledgement.unwrap_or(0) as u32;
        Segment {
            at: self.at,
            frame: self.frame,
            interface: 0,
            source: address(from),
            destination: address(from.other()),
            identification: None,
            hop_limit: 64,
            ecn: Ecn::NotCapable,
            packet_bytes: 40 + draft.data.1,
            sequence: Self::initial(subflow, from).wrapping_add(draft.data.0 as u32),
            acknowledgement: Self::initial(subflow, from.other()).wrapping_add(acknowledgement),
            flags: Flags {
                ack: draft.acknowledgement.is_some() || draft.data_acknowledgement.is_some(),
                ..draft.flags
            },
            window: 0,
            checksum: 0,
            payload_bytes: draft.data.1,
            payload_sum: None,
            options,
            options_cut: false,
            layers: crate::dissect::Layers::NONE,
        }
    }

    fn take(&mut self, subflow: u32, from: Side, draft: Draft) -> DataVerdict {
        let segment = self.segment(subflow, from, &draft);
        let place = Place {
            connection: 0,
            subflow,
            from,
        };
        let verdict = Verdict {
            sequence: draft.data.0,
            acknowledgement: draft.acknowledgement,
            new_bytes: draft.data.1,
            window_bytes: Some(self.window),
            ..Verdict::of(draft.kind.unwrap_or(Kind::New))
        };
        self.take_segment(&segment, place, &verdict)
    }

    fn take_segment(&mut self, segment: &Segment, place: Place, verdict: &Verdict) -> DataVerdict {
        let count = self.connection.subflows.len();
        let count = count.max(place.subflow as usize + 1);
        self.connection.add_subflows(count);
        let mut found = DataVerdict::default();
        self.connection
            .take_data(segment, place, verdict, &mut found, &mut self.events);
        found
    }

    /// Sends this from the client on the first subflow.
    fn client_sends(&mut self, segment: &Segment, verdict: &Verdict) -> DataVerdict {
        let place = Place {
            connection: 0,
            subflow: 0,
            from: Side::Client,
        };
        self.take_segment(segment, place, verdict)
    }

    fn client(&mut self, subflow: u32, draft: Draft) -> DataVerdict {
        self.take(subflow, Side::Client, draft)
    }

    fn server(&mut self, subflow: u32, draft: Draft) -> DataVerdict {
        self.take(subflow, Side::Server, draft)
    }

    fn sent_by_client(&self) -> SentData {
        self.connection.summary().client
    }

    /// Kinds and times of the events so far.
    fn told(&self) -> Vec<(&'static str, Nanos)> {
        self.events
            .iter()
            .map(|event| (event.kind, event.at))
            .collect()
    }
}
