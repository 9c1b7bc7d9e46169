//! All steps of an experiment, and the data that they use at most.

use serde::Deserialize;

use super::Chance;
use super::step::{Direction, Kind, SAMPLES_BYTES, Step};

/// Data of a transfer that is there to load a path, at most.
const MOST_LOAD_BYTES: u64 = 25_000_000;
/// Data of one that loads a path for a moment.
const LEAST_LOAD_BYTES: u64 = 30_000;

/// For a cookie, with data, and again where that failed.
const FAST_OPEN_LOOKS: u32 = 3;

/// The order within a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Of chance, another one in each.
    Random,
    /// As they are listed: all that is compared lies beside each other.
    Interleaved,
}

/// The transfers that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// Their sizes, in bytes.
    pub sizes: Vec<u64>,
    /// Where their data go.
    pub directions: Vec<Direction>,
    /// Repetitions.
    pub repeat: u32,
}

/// All steps: first what passes on each path, then each repetition. Data in SYNs are tried where both
/// ends' settings allow it, which is `fast_open`.
///
/// The second look at survival on a path is for what the first ones leave open, and the last one at
/// data in a SYN for one that failed, perhaps by chance.
pub fn steps(
    paths: usize,
    transfers: &Transfers,
    order: Order,
    seed: u64,
    fast_open: bool,
) -> Vec<Step> {
    let looks = [
        (Kind::Survival, if paths > 1 { 2 } else { 1 }),
        (Kind::Payload, 1),
        (Kind::FastOpen, if fast_open { FAST_OPEN_LOOKS } else { 0 }),
    ];
    let looks = looks
        .into_iter()
        .flat_map(|(kind, count)| (0..count).map(move |look| (kind, look)));
    let mut planned: Vec<_> = looks
        .flat_map(|(kind, look)| (0..paths).map(move |path| Step::of_path(kind, look, path)))
        .collect();
    let mut chance = Chance::new(seed);
    for repetition in 0..transfers.repeat {
        let mut one = of_repetition(paths, transfers, repetition);
        if order == Order::Random {
            chance.shuffle(&mut one);
        }
        planned.append(&mut one);
    }
    planned
}

fn of_repetition(paths: usize, transfers: &Transfers, repetition: u32) -> Vec<Step> {
    let mut found: Vec<_> = (0..paths)
        .map(|path| Step::of_path(Kind::Idle, repetition, path))
        .collect();
    for &direction in &transfers.directions {
        for &size_bytes in &transfers.sizes {
            let step = |kind, path| Step {
                kind,
                repetition,
                path,
                direction: Some(direction),
                size_bytes,
            };
            found.extend((0..paths).map(|path| step(Kind::Tcp, Some(path))));
            found.push(step(Kind::Mptcp, None));
            if paths > 1 {
                found.push(step(Kind::AtOnce, None));
            }
        }
    }
    found
}

/// A step that loads each path, with what the budget leaves; none where that is too little.
pub fn loads(paths: usize, left_bytes: u64) -> Vec<Step> {
    let one = |path, size_bytes| Step {
        direction: Some(Direction::Down),
        size_bytes,
        ..Step::of_path(Kind::Loaded, 0, path)
    };
    let empty: Vec<_> = (0..paths).map(|path| one(path, 0)).collect();
    let for_data = left_bytes.saturating_sub(most_bytes(&empty, paths));
    let size = (for_data / (paths as u64).max(1)).saturating_sub(2 * SAMPLES_BYTES);
    if size < LEAST_LOAD_BYTES {
        return Vec::new();
    }
    let size = size.min(MOST_LOAD_BYTES);
    (0..paths).map(|path| one(path, size)).collect()
}

/// The data that all of them move at most.
pub fn most_bytes(planned: &[Step], paths: usize) -> u64 {
    let each = planned.iter().map(|step| step.most_bytes(paths));
    each.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Value, from_str, json};

    use super::*;

    const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];

    fn transfers(sizes: &[u64], repeat: u32) -> Transfers {
        Transfers {
            sizes: sizes.to_vec(),
            directions: BOTH.to_vec(),
            repeat,
        }
    }

    proptest! {
        #[test]
        fn a_seed_changes_the_order_alone(
            paths in 1_usize..9,
            sizes in vec(1_u64..1 << 40, 1..6),
            repeat in 1_u32..5,
            seed: u64,
        ) {
            let wanted = transfers(&sizes, repeat);
            let listed = steps(paths, &wanted, Order::Interleaved, seed, true);
            let mut shuffled = steps(paths, &wanted, Order::Random, seed, true);
            prop_assert_eq!(&shuffled, &steps(paths, &wanted, Order::Random, seed, true));
            let first = listed.iter().take_while(|step| step.is_look()).count();
            prop_assert_eq!(&listed[..first], &shuffled[..first]);
            let mut last = 0;
            for step in &shuffled[first..] {
                prop_assert!(step.repetition >= last);
                last = step.repetition;
            }
            let mut sorted = listed;
            sorted.sort();
            shuffled.sort();
            prop_assert_eq!(sorted, shuffled);
        }

        #[test]
        fn loads_keep_to_what_is_left(paths in 1_usize..9, left in 0_u64..1 << 40) {
            let planned = loads(paths, left);
            prop_assert!(planned.is_empty() || planned.len() == paths);
            prop_assert!(most_bytes(&planned, paths) <= left);
        }
    }

    #[test]
    fn repetitions_have_orders_of_their_own() {
        let wanted = transfers(&[1_000, 10_000], 2);
        let planned = steps(2, &wanted, Order::Random, 7, true);
        let of = |repetition| {
            let own = planned
                .iter()
                .filter(move |step| !step.is_look() && step.repetition == repetition);
            own.map(|step| (step.kind, step.path, step.direction, step.size_bytes))
                .collect::<Vec<_>>()
        };
        assert_ne!(of(0), of(1));
        let one_way = Transfers {
            directions: vec![Direction::Up],
            ..transfers(&[1_000], 1)
        };
        let planned = steps(1, &one_way, Order::Interleaved, 0, false);
        let kinds: Vec<_> = planned.iter().map(|step| step.kind).collect();
        let expected = [
            Kind::Survival,
            Kind::Payload,
            Kind::Idle,
            Kind::Tcp,
            Kind::Mptcp,
        ];
        assert_eq!(kinds, expected);
    }

    /// A step as the file of `tests/measure/steps.jsonl` has it.
    fn row(step: &Step, paths: usize) -> Value {
        json!([
            step.kind,
            step.repetition,
            step.path,
            step.direction,
            step.size_bytes,
            step.most_bytes(paths)
        ])
    }

    fn sorted(rows: impl Iterator<Item = Value>) -> Vec<String> {
        let mut rows: Vec<_> = rows.map(|row| row.to_string()).collect();
        rows.sort();
        rows
    }

    /// The same file is compared with the steps of `mptcplab probe`.
    #[test]
    fn the_steps_are_those_of_the_probe() {
        let file = include_str!("../../../../../tests/measure/steps.jsonl");
        for line in file.lines() {
            let one: Value = from_str(line).unwrap();
            let number = |key: &str| one[key].as_u64().unwrap();
            let paths = number("paths") as usize;
            let sizes: Vec<u64> = serde_json::from_value(one["sizes"].clone()).unwrap();
            let wanted = transfers(&sizes, number("repeat") as u32);
            let fast_open = one["fast_open"].as_bool().unwrap();
            let planned = steps(paths, &wanted, Order::Random, number("seed"), fast_open);
            let rows = |name: &str| sorted(one[name].as_array().unwrap().iter().cloned());
            assert_eq!(
                sorted(planned.iter().map(|step| row(step, paths))),
                rows("steps")
            );
            assert_eq!(most_bytes(&planned, paths), number("most_bytes"));
            let loads = loads(paths, number("left_bytes"));
            assert_eq!(
                sorted(loads.iter().map(|step| row(step, paths))),
                rows("loads")
            );
        }
    }
}
