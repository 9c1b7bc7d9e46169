use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

fn bytes(range: core::ops::Range<u64>) -> Bytes {
    range.map(|offset| offset as u8).collect()
}

fn insert(queue: &mut ReceiveQueue, range: core::ops::Range<u64>) -> Arrival {
    queue.insert(range.start, bytes(range), u64::MAX)
}

#[test]
fn a_hole_is_told_and_filled() {
    let mut queue = ReceiveQueue::new(1);
    assert_eq!(insert(&mut queue, 11..21), Arrival::Early { untold: false });
    assert_eq!(queue.blocks(4).collect::<Vec<_>>(), [(11, 21)]);
    assert_eq!(insert(&mut queue, 1..11), Arrival::InOrder { filled: true });
    assert_eq!(queue.next(), 21);
    assert!(!queue.has_hole());
    assert_eq!(queue.take(100), Some((1, bytes(1..11))));
    assert_eq!(queue.take(4), Some((11, bytes(11..15))));
    assert_eq!(queue.take(100), Some((15, bytes(15..21))));
}

#[test]
fn the_block_of_the_latest_arrival_comes_first() {
    let mut queue = ReceiveQueue::new(1);
    for start in [10, 20, 30, 40, 50] {
        insert(&mut queue, start..start + 5);
    }
    insert(&mut queue, 35..40);
    let blocks: Vec<_> = queue.blocks(4).collect();
    assert_eq!(blocks, [(30, 45), (50, 55), (20, 25)]);
}

#[test]
fn a_block_beyond_the_second_may_not_have_been_told() {
    let mut queue = ReceiveQueue::new(1);
    let mut untold = |range| insert(&mut queue, range) == Arrival::Early { untold: true };
    assert!(!untold(10..15));
    assert!(!untold(20..25));
    assert!(!untold(25..28));
    assert!(untold(30..35));
    assert!(!untold(35..38));
    assert!(!untold(28..29));
    assert!(untold(15..16));
}

#[test]
fn a_duplicate_is_told_once_before_the_ranges() {
    let mut queue = ReceiveQueue::new(1);
    insert(&mut queue, 1..11);
    insert(&mut queue, 21..31);
    assert_eq!(insert(&mut queue, 1..11), Arrival::Duplicate);
    assert_eq!(queue.blocks(3).collect::<Vec<_>>(), [(1, 11), (21, 31)]);
    assert_eq!(queue.blocks(3).collect::<Vec<_>>(), [(21, 31)]);
    assert_eq!(insert(&mut queue, 22..25), Arrival::Duplicate);
    assert_eq!(queue.blocks(3).collect::<Vec<_>>(), [(22, 25), (21, 31)]);
}

#[test]
fn many_small_segments_beyond_a_hole_run_out_of_room() {
    let mut queue = ReceiveQueue::new(1);
    let kept = (0..1000)
        .filter(|n| {
            let start = 10 + 2 * n;
            let arrival = queue.insert(start, bytes(start..start + 1), 10_000);
            matches!(arrival, Arrival::Early { .. })
        })
        .count();
    assert_eq!(kept, 38);
}

#[test]
fn the_end_is_reached_when_the_data_before_it_has_come() {
    let mut queue = ReceiveQueue::new(1);
    assert!(!queue.end_at(11));
    insert(&mut queue, 1..11);
    assert!(queue.reaches_end());
    assert!(!queue.reaches_end());
    assert_eq!(queue.next(), 12);
    assert_eq!(queue.take(100), Some((1, bytes(1..11))));
}

proptest! {
    #[test]
    fn any_cover_of_the_data_gives_it_once_and_in_order(
        pieces in proptest::collection::vec((0_u64..200, 1_u64..40), 1..100),
    ) {
        let mut queue = ReceiveQueue::new(1);
        let mut received = Vec::new();
        for (start, len) in pieces {
            insert(&mut queue, 1 + start..1 + start + len);
            while let Some((offset, data)) = queue.take(7) {
                prop_assert_eq!(offset, 1 + received.len() as u64);
                received.extend_from_slice(&data);
            }
            let early: Vec<_> = queue.ranges.iter().collect();
            prop_assert!(early.iter().all(|range| range.0 > queue.next));
            prop_assert!(early.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
        prop_assert_eq!(&received[..], &bytes(1..1 + received.len() as u64)[..]);
        prop_assert_eq!(queue.next(), 1 + received.len() as u64);
    }
}
