//! Generated schedules of data over subflows, against a model that keeps the carriers of each byte.

use std::collections::{BTreeMap, BTreeSet};

use super::schedule::{Placement, Step, step};
use super::*;
use proptest::prelude::*;

/// One subflow, byte by byte.
#[derive(Default)]
struct Path {
    /// After the last number in use.
    next: i64,
    mapped: BTreeMap<i64, i64>,
    sent: BTreeSet<i64>,
    placed: BTreeSet<i64>,
    acknowledged: i64,
}

/// Expected results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    new: u64,
    reinjected: u64,
    won: u64,
    late: u64,
}

struct Model {
    lab: Lab,
    paths: Vec<Path>,
    /// Subflows that carried a byte of data, with its number there, in order.
    carried: BTreeMap<i64, Vec<(usize, i64)>>,
    won: BTreeSet<i64>,
    next: i64,
    acknowledged: i64,
    counts: Counts,
    reinjected_by: [u64; 4],
}

impl Model {
    fn new(idsn: u64, subflows: usize) -> Self {
        let path = || Path {
            next: 1,
            acknowledged: 1,
            ..Path::default()
        };
        Self {
            lab: Lab::with([idsn, 0], subflows as u32),
            paths: (0..subflows).map(|_| path()).collect(),
            carried: BTreeMap::new(),
            won: BTreeSet::new(),
            next: 1,
            acknowledged: 1,
            counts: Counts::default(),
            reinjected_by: [0; 4],
        }
    }

    /// A byte counts whose place is known now.
    fn place(&mut self, subflow: usize, ssn: i64, counts: &mut Counts) {
        let Some(&dsn) = self.paths[subflow].mapped.get(&ssn) else {
            return;
        };
        if !self.paths[subflow].placed.insert(ssn) {
            return;
        }
        let highest = self.carried.last_key_value().map_or(0, |(dsn, _)| *dsn);
        let carriers = self.carried.entry(dsn).or_default();
        if carriers.is_empty() {
            counts.new += 1;
            counts.late += u64::from(dsn < highest);
        } else if carriers.iter().any(|(other, _)| *other != subflow) {
            counts.reinjected += 1;
            self.reinjected_by[subflow] += 1;
        }
        carriers.push((subflow, ssn));
    }

    /// A segment, and what the analysis says of it.
    fn segment(&mut self, subflow: usize, draft: Draft) {
        if let Some((dsn, ssn, bytes)) = draft.mapping {
            for offset in 0..i64::from(bytes) {
                let mapped = &mut self.paths[subflow].mapped;
                mapped
                    .entry(i64::from(ssn) + offset)
                    .or_insert(dsn + offset);
            }
        }
        let mut earlier = Counts::default();
        for ssn in self.paths[subflow].sent.clone() {
            self.place(subflow, ssn, &mut earlier);
        }
        let mut own = Counts::default();
        let (start, bytes) = draft.data;
        for ssn in start..start + i64::from(bytes) {
            self.paths[subflow].sent.insert(ssn);
            self.place(subflow, ssn, &mut own);
        }
        let first = self.paths[subflow].mapped.get(&start).copied();
        let found = self.lab.client(subflow as u32, draft);
        assert_eq!(u64::from(found.new_data_bytes), own.new);
        assert_eq!(u64::from(found.reinjected_bytes), own.reinjected);
        if bytes > 0 {
            assert_eq!(found.data_sequence, first);
        }
        for counts in [earlier, own] {
            self.counts.new += counts.new;
            self.counts.reinjected += counts.reinjected;
            self.counts.late += counts.late;
        }
    }

    fn send(&mut self, step: &Step, subflow: usize) {
        let &Step::Send {
            again_from,
            bytes,
            pieces,
            reversed,
            placement,
            short,
            ..
        } = step
        else {
            return;
        };
        let dsn = match again_from {
            Some(index) if self.next > 1 => 1 + index.index(self.next as usize - 1) as i64,
            _ => self.next,
        };
        let ssn = self.paths[subflow].next;
        self.next = self.next.max(dsn + i64::from(bytes));
        self.paths[subflow].next += i64::from(bytes);
        let mapping = Some((dsn, ssn as u32, bytes as u16));
        let alone = |mapping| Draft {
            mapping,
            short,
            ..bare(ssn, 0)
        };
        if matches!(placement, Placement::Before) {
            self.segment(subflow, alone(mapping));
        }
        let piece_bytes = bytes.div_ceil(pieces);
        let mut starts: Vec<u32> = (0..bytes).step_by(piece_bytes as usize).collect();
        if reversed {
            starts.reverse();
        }
        for (index, start) in starts.iter().enumerate() {
            let here = match placement {
                Placement::Each => true,
                Placement::First => index == 0,
                Placement::Last => index + 1 == starts.len(),
                Placement::Before | Placement::After => false,
            };
            let draft = Draft {
                mapping: mapping.filter(|_| here),
                short,
                ..bare(ssn + i64::from(*start), piece_bytes.min(bytes - start))
            };
            self.segment(subflow, draft);
        }
        if matches!(placement, Placement::After) {
            self.segment(subflow, alone(mapping));
        }
    }

    fn acknowledge(&mut self, subflow: usize, to: i64, data_to: i64) {
        for ssn in self.paths[subflow].acknowledged..to {
            let Some(&dsn) = self.paths[subflow].mapped.get(&ssn) else {
                continue;
            };
            let Some(&(first, first_ssn)) = self.carried.get(&dsn).and_then(|all| all.first())
            else {
                continue;
            };
            let arrived = dsn < self.acknowledged || first_ssn < self.paths[first].acknowledged;
            let copy = first != subflow && self.paths[subflow].placed.contains(&ssn);
            if copy && !arrived && self.won.insert(dsn) {
                self.counts.won += 1;
            }
        }
        let path = &mut self.paths[subflow];
        path.acknowledged = path.acknowledged.max(to);
        self.acknowledged = self.acknowledged.max(data_to);
        self.lab.server(subflow as u32, ack(to, data_to));
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Send { subflow, .. } => self.send(step, subflow % self.paths.len()),
            Step::Retransmit {
                subflow,
                from,
                bytes,
            } => {
                let subflow = subflow % self.paths.len();
                let sent = self.paths[subflow].next - 1;
                if sent > 0 {
                    let start = 1 + from.index(sent as usize) as i64;
                    let bytes = i64::from(*bytes).min(sent + 1 - start);
                    self.segment(subflow, bare(start, bytes as u32));
                }
            }
            Step::Acknowledge {
                subflow,
                to,
                data_to,
            } => {
                let subflow = subflow % self.paths.len();
                let to = 1 + to.index(self.paths[subflow].next as usize) as i64;
                let data_to = 1 + data_to.index(self.next as usize) as i64;
                self.acknowledge(subflow, to, data_to);
            }
        }
    }
}

fn initial() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0_u64..2000).prop_map(|back| u64::MAX - back),
        (0_u64..2000).prop_map(|back| (7_u64 << 32) - back),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn each_byte_is_told_as_it_was(
        idsn in initial(),
        subflows in 1_usize..=4,
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut model = Model::new(idsn, subflows);
        for step in &steps {
            model.run(step);
        }
        let sent = model.lab.sent_by_client();
        let counts = Counts {
            new: sent.bytes,
            reinjected: sent.reinjected_bytes,
            won: sent.reinjected_won_bytes,
            late: sent.late_bytes,
        };
        prop_assert_eq!(counts, model.counts);
        prop_assert_eq!(counts.new, model.carried.len() as u64);
        for subflow in 0..subflows {
            let told = model.lab.connection.reinjected_bytes(subflow as u32, Side::Client);
            prop_assert_eq!(told, model.reinjected_by[subflow]);
        }
        prop_assert_eq!(sent.unmapped_bytes, 0);
    }
}
