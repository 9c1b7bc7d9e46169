//! Memory of queues that are long at times.

use alloc::collections::VecDeque;

/// Places that a queue keeps, however short it is.
const LEAST: usize = 8;

/// Halves the memory of a queue that uses a quarter of it at most, as after a burst: a host may have
/// very many connections that were busy once. It is called when something has left the queue.
pub(crate) fn give_back<T>(queue: &mut VecDeque<T>) {
    let capacity = queue.capacity();
    if capacity > LEAST && queue.len() <= capacity / 4 {
        queue.shrink_to(capacity / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_was_long_once_gives_its_memory_back_as_it_empties() {
        let mut queue: VecDeque<u32> = (0..1000).collect();
        while queue.pop_front().is_some() {
            give_back(&mut queue);
            assert!(queue.capacity() < (4 * queue.len()).max(1025), "{queue:?}");
        }
        assert!(queue.capacity() <= LEAST, "{}", queue.capacity());
    }
}
