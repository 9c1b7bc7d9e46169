use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const MAPPING: DataMapping = DataMapping {
    data_sequence: 7,
    data_fin: false,
    push: false,
    checksum: None,
};

#[test]
fn a_push_ends_where_it_is_marked_or_other_data_follows_unless_more_joins_the_segment() {
    let mut queue = SendQueue::new(1);
    let pieces: [(u64, &[u8]); 5] = [(0, b"abc"), (3, b"def"), (6, b"g"), (7, b"h"), (20, b"i")];
    for (data_sequence, payload) in pieces {
        let mapping = DataMapping {
            data_sequence,
            ..MAPPING
        };
        queue.push(Bytes::from_static(payload).into(), Some(mapping), 3);
        if data_sequence == 6 {
            queue.mark_push();
        }
    }
    queue.mark_push();
    let pushes = core::iter::from_fn(|| queue.take(3).1);
    let pushes = pushes.map(|mapping| (mapping.data_sequence, mapping.push));
    let expected = [(0, false), (3, false), (6, true), (20, true)];
    assert_eq!(pushes.collect::<alloc::vec::Vec<_>>(), expected);
}

#[test]
fn bytes_are_cut_and_joined_to_segments() {
    let mut queue = SendQueue::new(1);
    queue.push(Bytes::from_static(b"abcde").into(), None, 9);
    queue.push(Bytes::from_static(b"fg").into(), None, 9);
    queue.push(Bytes::from_static(b"h").into(), None, 9);
    assert_eq!(queue.next_bytes(3), 3);
    assert_eq!(queue.take(3).0, "abc");
    assert_eq!(queue.take(3).0, "def");
    assert_eq!(queue.bytes(), 2);
    assert_eq!(queue.next_bytes(3), 2);
    assert_eq!(queue.take(3).0, "gh");
    assert!(queue.is_empty());
    assert_eq!(queue.sent(4, 3).0, "def");
    assert_eq!(queue.sent(7, 2).0, "gh");
    queue.release(7);
    assert_eq!(queue.pieces.len(), 2);
    assert_eq!(queue.sent(7, 2).0, "gh");
    queue.release(9);
    assert_eq!(queue.pieces.len(), 0);
}

#[test]
fn what_was_not_sent_is_dropped_and_the_rest_can_be_sent_again() {
    let mut queue = SendQueue::new(1);
    queue.push(Bytes::from_static(b"abcde").into(), None, 9);
    queue.push(Bytes::from_static(b"fg").into(), None, 9);
    queue.take(3);
    queue.drop_unsent();
    assert!(queue.is_empty());
    assert_eq!(queue.sent(1, 3).0, "abc");
    queue.push(Bytes::from_static(b"xy").into(), None, 9);
    assert_eq!(queue.take(9).0, "xy");
    assert_eq!(queue.sent(3, 3).0, "cxy");
    queue.release(6);
    assert_eq!(queue.pieces.len(), 0);
}

#[test]
fn what_follows_in_the_same_memory_is_one_piece() {
    let memory = Bytes::from_static(b"abcdefgh");
    let mut queue = SendQueue::new(1);
    queue.push(Stretch::new(memory.clone(), 3), None, 9);
    assert_eq!(queue.take(9).0, "abc");
    queue.push(Stretch::new(memory.slice(3..), 5), None, 9);
    assert_eq!((queue.pieces.len(), queue.bytes()), (1, 5));
    assert_eq!(queue.take(3).0, "def");
    assert_eq!(queue.take(3).0, "gh");
    assert_eq!(queue.sent(2, 7).0, "bcdefgh");
    queue.push(Bytes::from_static(b"i").into(), None, 9);
    assert_eq!(queue.take(3).0, "i");
    queue.release(10);
    assert_eq!(queue.pieces.len(), 0);
}

#[test]
fn a_mapped_chunk_keeps_its_bounds() {
    let mut queue = SendQueue::new(1);
    queue.push(Bytes::from_static(b"abcde").into(), Some(MAPPING), 9);
    queue.push(Bytes::from_static(b"fg").into(), Some(MAPPING), 9);
    assert_eq!(queue.next_bytes(3), 5);
    let (payload, mapping) = queue.take(3);
    assert_eq!(
        (&payload[..], mapping.unwrap().data_sequence),
        (&b"abcde"[..], 7)
    );
    assert_eq!(queue.take(3), (Bytes::from_static(b"fg"), Some(MAPPING)));
    assert_eq!(queue.sent(1, 5), (payload, mapping));
    assert_eq!(queue.sent(8, 0), (Bytes::new(), None));
}

#[test]
fn a_mapped_chunk_takes_what_follows_on_it_up_to_a_full_segment() {
    let mapping = |data_sequence, data_fin| {
        Some(DataMapping {
            data_sequence,
            data_fin,
            ..MAPPING
        })
    };
    let mut queue = SendQueue::new(1);
    queue.push(Bytes::from_static(b"abc").into(), mapping(7, false), 5);
    assert_eq!((queue.room(10, 5), queue.room(9, 5)), (Some(2), None));
    queue.push(Bytes::from_static(b"de").into(), mapping(10, false), 5);
    assert_eq!(queue.room(12, 5), None);
    queue.push(Bytes::from_static(b"f").into(), mapping(12, false), 5);
    queue.push(Bytes::from_static(b"g").into(), mapping(13, true), 5);
    assert_eq!(queue.room(14, 5), None);
    assert_eq!(queue.bytes(), 7);
    assert_eq!(
        queue.take(5),
        (Bytes::from_static(b"abcde"), mapping(7, false))
    );
    assert_eq!(
        queue.take(5),
        (Bytes::from_static(b"fg"), mapping(12, true))
    );
}

/// The memory of a test, and the mapping of its byte at a place.
const MEMORY: &[u8] = b"abcdefghijkl";

fn part(from: usize, len: usize) -> (Stretch, Option<DataMapping>) {
    let memory = Bytes::from_static(MEMORY).slice(from..);
    let mapping = DataMapping {
        data_sequence: 100 + from as u64,
        ..MAPPING
    };
    (Stretch::new(memory, len), Some(mapping))
}

fn pushed(parts: &[(usize, usize)]) -> SendQueue {
    let mut queue = SendQueue::new(1);
    for &(from, len) in parts {
        let (payload, mapping) = part(from, len);
        queue.push(payload, mapping, 3);
    }
    queue
}

#[test]
fn mapped_segments_in_a_row_are_one_piece_and_keep_their_bounds_and_mappings() {
    let mut queue = pushed(&[(0, 3), (3, 3), (6, 2)]);
    queue.mark_push();
    assert_eq!((queue.pieces.len(), queue.segments(3)), (1, 3));
    for (from, len, push) in [(0, 3, false), (3, 3, false), (6, 2, true)] {
        assert_eq!(queue.next_bytes(3), len as u64);
        let (payload, mapping) = queue.take(3);
        assert_eq!(payload, MEMORY[from..from + len]);
        let mapping = mapping.unwrap();
        assert_eq!(
            (mapping.data_sequence, mapping.push),
            (100 + from as u64, push)
        );
        assert_eq!(queue.sent(1 + from as u64, len), (payload, Some(mapping)));
    }
    assert_eq!((queue.segments(3), queue.is_empty()), (0, true));
    // A segment that follows later is a piece of its own, as all before were sent.
    let (payload, mapping) = part(8, 3);
    queue.push(payload, mapping, 3);
    assert_eq!((queue.pieces.len(), queue.segments(3)), (2, 1));
    queue.release(9);
    assert_eq!(queue.pieces.len(), 1);
}

#[test]
fn a_segment_at_the_end_of_a_piece_is_filled_from_any_memory() {
    for sent in [false, true] {
        let mut queue = pushed(&[(0, 3), (3, 2)]);
        if sent {
            queue.take(3);
        }
        let mapping = DataMapping {
            data_sequence: 105,
            data_fin: true,
            ..MAPPING
        };
        queue.push(Bytes::from_static(b"F").into(), Some(mapping), 3);
        assert_eq!(queue.segments(3), 2 - u64::from(sent));
        if !sent {
            assert_eq!(queue.take(3).0, "abc");
        }
        let (payload, mapping) = queue.take(3);
        assert_eq!(payload, "deF");
        let mapping = mapping.unwrap();
        assert_eq!((mapping.data_sequence, mapping.data_fin), (103, true));
        assert!(!queue.sent(1, 3).1.unwrap().data_fin);
        assert_eq!((queue.segments(3), queue.sent), (0, 2));
    }
}

#[test]
fn mapped_segments_that_were_not_sent_are_dropped_and_their_end_with_them() {
    let mut queue = pushed(&[(0, 3), (3, 3), (6, 2)]);
    queue.mark_push();
    queue.take(3);
    queue.drop_unsent();
    assert_eq!((queue.segments(3), queue.bytes()), (0, 0));
    let (payload, mapping) = queue.sent(1, 3);
    assert_eq!((&payload[..], mapping.unwrap().push), (&b"abc"[..], false));
}

/// Segments one by one, as the queue is to behave.
#[derive(Default)]
struct Model(VecDeque<(Vec<u8>, DataMapping)>);

impl Model {
    fn next_sequence(&self) -> Option<u64> {
        let (payload, mapping) = self.0.back()?;
        Some(mapping.data_sequence + payload.len() as u64)
    }

    fn push(&mut self, payload: &[u8], mapping: DataMapping, segment: usize) {
        let follows = self.next_sequence() == Some(mapping.data_sequence);
        if let Some((last, known)) = self.0.back_mut()
            && follows
            && !known.data_fin
            && last.len() < segment
            && payload.len() <= segment - last.len()
        {
            last.extend_from_slice(payload);
            known.data_fin = mapping.data_fin;
            known.push = mapping.push;
            return;
        }
        if !follows {
            self.mark_push();
        }
        self.0.push_back((payload.to_vec(), mapping));
    }

    fn mark_push(&mut self) {
        if let Some((_, mapping)) = self.0.back_mut() {
            mapping.push = true;
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push {
        len: usize,
        /// Bytes of the data that another subflow has.
        skip: usize,
        /// It lies in a memory of its own.
        own_memory: bool,
        data_fin: bool,
        segment: usize,
    },
    MarkPush,
    Take,
    Release,
    DropUnsent,
}

fn step() -> impl Strategy<Value = Step> {
    let push = (1..6_usize, 0..8_usize, 0..5, 0..12, 4..6_usize);
    prop_oneof![
        6 => push.prop_map(|(len, skip, own, fin, segment)| Step::Push {
            len,
            skip: skip.saturating_sub(5),
            own_memory: own == 0,
            data_fin: fin == 0,
            segment,
        }),
        1 => Just(Step::MarkPush),
        4 => Just(Step::Take),
        2 => Just(Step::Release),
        1 => Just(Step::DropUnsent),
    ]
}

proptest! {
    #[test]
    fn segments_leave_and_are_sent_again_as_if_each_were_kept_alone(
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        let memory: Bytes = (0..2000_u32).map(|place| (place % 251) as u8).collect();
        let mut queue = SendQueue::new(1);
        let mut model = Model::default();
        let mut sent: VecDeque<(u64, Bytes, Option<DataMapping>)> = VecDeque::new();
        let (mut place, mut next) = (0, 1);
        for step in steps {
            match step {
                Step::Push { len, skip, own_memory, data_fin, segment } => {
                    place += skip;
                    let data_sequence = 1000 + place as u64;
                    let len = len.min(queue.room(data_sequence, segment).unwrap_or(segment));
                    let part = &memory[place..place + len];
                    let payload = match own_memory {
                        true => Bytes::copy_from_slice(part).into(),
                        false => Stretch::new(memory.slice(place..), len),
                    };
                    let mapping = DataMapping { data_sequence, data_fin, ..MAPPING };
                    queue.push(payload, Some(mapping), segment);
                    model.push(part, mapping, segment);
                    place += len;
                }
                Step::MarkPush => {
                    queue.mark_push();
                    model.mark_push();
                }
                Step::Take => {
                    let (payload, mapping) = queue.take(5);
                    let expected = model.0.pop_front();
                    let expected = expected.map(|(payload, mapping)| (payload.into(), Some(mapping)));
                    prop_assert_eq!((payload.clone(), mapping), expected.unwrap_or_default());
                    if !payload.is_empty() {
                        sent.push_back((next, payload.clone(), mapping));
                        next += payload.len() as u64;
                    }
                }
                Step::Release => {
                    sent.pop_front();
                    queue.release(sent.front().map_or(next, |one| one.0));
                }
                Step::DropUnsent => {
                    queue.drop_unsent();
                    model.0.clear();
                }
            }
            let bytes: usize = model.0.iter().map(|(payload, _)| payload.len()).sum();
            let first = model.0.front().map_or(0, |(payload, _)| payload.len());
            prop_assert_eq!(queue.bytes(), bytes as u64);
            prop_assert_eq!(queue.segments(5), model.0.len() as u64);
            prop_assert_eq!(queue.next_bytes(5), first as u64);
            for (start, payload, mapping) in &sent {
                let again = queue.sent(*start, payload.len());
                prop_assert_eq!(again, (payload.clone(), *mapping));
            }
        }
    }
}
