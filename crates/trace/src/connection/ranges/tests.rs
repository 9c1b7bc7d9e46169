use super::*;
use proptest::prelude::*;

/// Claims all of `[start, end)`, calling `held` for each number with what it held.
fn claim_all(
    ranges: &mut Ranges<u8>,
    start: Number,
    end: Number,
    value: u8,
    mut prior: impl FnMut(Number, Occupancy<u8>),
) {
    let mut at = start;
    while at < end {
        let (to, what) = ranges.claim(at, end, value);
        assert!(at < to && to <= end);
        (at..to).for_each(|number| prior(number, what));
        at = to;
    }
}

#[test]
fn touching_ranges_of_one_value_are_one() {
    let mut ranges = Ranges::default();
    assert_eq!(ranges.claim(1, 10, 'a'), (10, Occupancy::Free));
    assert_eq!(ranges.claim(20, 30, 'a'), (30, Occupancy::Free));
    assert_eq!(ranges.claim(5, 25, 'a'), (10, Occupancy::Taken('a')));
    assert_eq!(ranges.claim(10, 25, 'a'), (20, Occupancy::Free));
    assert_eq!(ranges.len(), 1);
    assert_eq!(ranges.get(29).map(|range| range.end), Some(30));
    assert_eq!(ranges.get(30), None);
}

#[test]
fn what_is_forgotten_is_not_free() {
    let mut ranges = Ranges::default();
    ranges.claim(1, 10, 'a');
    ranges.claim(20, 30, 'b');
    assert_eq!(ranges.forget(9, 1, 2), None);
    let first = Range {
        start: 1,
        end: 10,
        value: 'a',
    };
    assert_eq!(ranges.forget(10, 1, 2), Some(first));
    assert_eq!(ranges.forget(10, 1, 2), None);
    assert_eq!(ranges.claim(0, 25, 'c'), (10, Occupancy::Forgotten));
    assert_eq!(ranges.claim(10, 25, 'c'), (20, Occupancy::Free));
    while ranges.forget(0, 0, 0).is_some() {}
    assert_eq!(ranges.claim(0, 30, 'd'), (30, Occupancy::Forgotten));
    assert_eq!(ranges.claim(29, 31, 'd'), (30, Occupancy::Forgotten));
    assert_eq!(ranges.claim(30, 31, 'd'), (31, Occupancy::Free));
    assert_eq!(ranges.last().map(|range| range.start), Some(30));
}

#[test]
fn all_numbers_move_together() {
    let mut ranges = Ranges::default();
    ranges.claim(1, 10, 'a');
    ranges.claim(20, 30, 'b');
    ranges.forget(10, 0, 1);
    ranges.shift(100);
    assert_eq!(ranges.sum(), 10);
    assert_eq!(ranges.claim(109, 125, 'c'), (110, Occupancy::Forgotten));
    assert_eq!(ranges.claim(125, 126, 'c'), (126, Occupancy::Taken('b')));
}

#[derive(Clone, Debug)]
enum Step {
    Claim(Number, Number, u8),
    Change(Number, Number, u8),
    ForgetFirst,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_i64..90, 1_i64..20, 0_u8..3).prop_map(|(at, len, v)| Step::Claim(at, len, v)),
        3 => (0_i64..90, 1_i64..20, 0_u8..3).prop_map(|(at, len, v)| Step::Change(at, len, v)),
        1 => Just(Step::ForgetFirst),
    ]
}

proptest! {
    #[test]
    fn each_number_keeps_the_value_that_it_was_given_first(
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut ranges = Ranges::default();
        let mut model = [None; 120];
        let mut floor = 0;
        for step in steps {
            match step {
                Step::Claim(start, len, value) => {
                    claim_all(&mut ranges, start, start + len, value, |number, prior| {
                        let index = number as usize;
                        let expected = match model[index] {
                            _ if number < floor => Occupancy::Forgotten,
                            Some(value) => Occupancy::Taken(value),
                            None => Occupancy::Free,
                        };
                        assert_eq!(prior, expected, "at {number}");
                        if expected == Occupancy::Free {
                            model[index] = Some(value);
                        }
                    });
                }
                Step::Change(start, len, value) => {
                    // Of one range only.
                    let Some(range) = ranges.get(start) else { continue };
                    let end = range.end.min(start + len);
                    ranges.change(start, end, value);
                    model[start as usize..end as usize].fill(Some(value));
                }
                Step::ForgetFirst => {
                    if let Some(range) = ranges.forget_first() {
                        floor = range.end;
                        model[..floor as usize].fill(None);
                    }
                }
            }
            for (index, value) in model.iter().enumerate() {
                prop_assert_eq!(ranges.get(index as Number).map(|range| range.value), *value);
            }
            for (one, next) in ranges.list.iter().zip(ranges.list.iter().skip(1)) {
                prop_assert!(one.start < one.end && one.end <= next.start);
                prop_assert!(one.end < next.start || one.value != next.value);
            }
        }
    }
}
