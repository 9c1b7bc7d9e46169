//! Sessions of holders, and their turns: who has waited longest is served next.

use std::time::Duration;

/// Sessions of one token, and of all, at most.
const MOST_OF_TOKEN: usize = 8;
const MOST: usize = 64;
/// Time for which the place of one who waits and does not ask again is kept. A probe asks at least
/// every four seconds.
const PLACE_KEPT: Duration = Duration::from_secs(6);

/// The sessions that there are.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Number and holder of each.
    sessions: Vec<(u64, usize)>,
    /// Number of each that waits, and the time of its last request, the longest wait first.
    waiting: Vec<(u64, Duration)>,
    next: u64,
}

impl Turns {
    /// The number of a new session; `None` where there are too many.
    pub(super) fn enter(&mut self, holder: usize) -> Option<u64> {
        let of_holder = self.sessions.iter().filter(|(_, one)| *one == holder);
        if of_holder.count() >= MOST_OF_TOKEN || self.sessions.len() >= MOST {
            return None;
        }
        self.next += 1;
        self.sessions.push((self.next, holder));
        Some(self.next)
    }

    pub(super) fn leave(&mut self, session: u64) {
        self.sessions.retain(|(one, _)| *one != session);
        self.waiting.retain(|(one, _)| *one != session);
    }

    /// Whether a session that asks may begin; else it waits.
    pub(super) fn may_begin(&mut self, session: u64, is_free: bool, now: Duration) -> bool {
        self.waiting
            .retain(|(_, asked)| now.saturating_sub(*asked) < PLACE_KEPT);
        let place = self.waiting.iter().position(|(one, _)| *one == session);
        if is_free && (self.waiting.is_empty() || place == Some(0)) {
            self.waiting.retain(|(one, _)| *one != session);
            return true;
        }
        match place {
            Some(place) => self.waiting[place].1 = now,
            None => self.waiting.push((session, now)),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    #[test]
    fn who_has_had_a_turn_waits_for_the_others() {
        let mut turns = Turns::default();
        assert!(turns.may_begin(1, true, NOW));
        assert!(!turns.may_begin(2, false, NOW));
        assert!(!turns.may_begin(1, true, NOW));
        assert!(turns.may_begin(2, true, NOW));
        assert!(turns.may_begin(1, true, NOW));
    }

    #[test]
    fn who_asks_no_more_or_leaves_loses_the_place() {
        let mut turns = Turns::default();
        assert!(!turns.may_begin(2, false, NOW));
        assert!(!turns.may_begin(1, true, NOW));
        assert!(turns.may_begin(1, true, NOW + PLACE_KEPT));
        assert!(!turns.may_begin(2, false, NOW));
        turns.leave(2);
        assert!(turns.may_begin(1, true, NOW));
    }

    #[test]
    fn a_token_has_so_many_sessions() {
        let mut turns = Turns::default();
        let numbers: Vec<_> = (0..MOST_OF_TOKEN).map(|_| turns.enter(0)).collect();
        assert!(numbers.iter().all(Option::is_some));
        assert_eq!(turns.enter(0), None);
        assert!(turns.enter(1).is_some());
        turns.leave(numbers[0].unwrap());
        assert!(turns.enter(0).is_some());
    }
}
