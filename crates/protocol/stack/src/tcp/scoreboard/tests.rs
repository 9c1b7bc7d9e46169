use super::*;

#[test]
fn a_record_fills_a_line_of_the_cache() {
    assert_eq!(size_of::<Record>(), 64);
}

#[test]
fn neighbours_that_were_selectively_acknowledged_are_merged() {
    let mut scoreboard = Scoreboard::default();
    for start in (1..101).step_by(10) {
        scoreboard.push(0, start, 10, false, false, RateStamp::default());
    }
    let mut delivery = Delivery::new(1, 0, 0);
    scoreboard.sack(&[(11, 21), (31, 51)], &mut delivery);
    assert_eq!((scoreboard.sacked(), scoreboard.merged()), (3, 1));
    scoreboard.sack(&[(11, 61)], &mut delivery);
    assert_eq!((scoreboard.sacked(), scoreboard.merged()), (5, 4));
    scoreboard.acknowledge(31, &mut delivery);
    assert_eq!((scoreboard.sacked(), scoreboard.merged()), (3, 2));
    scoreboard.acknowledge(61, &mut delivery);
    assert_eq!((scoreboard.sacked(), scoreboard.merged()), (0, 0));
}

#[test]
fn retransmissions_of_what_is_acknowledged_are_forgotten_though_the_oldest_is_never_asked_for() {
    let mut scoreboard = Scoreboard::default();
    let mut start = 1;
    for round in 0..100 {
        for _ in 0..3 {
            scoreboard.push(round, start, 10, false, false, RateStamp::default());
            start += 10;
        }
        let first = scoreboard.first().expect("pushed just now");
        scoreboard.mark_lost(first);
        scoreboard.retransmit(first, round, RateStamp::default());
        // All but the last segment.
        let mut delivery = Delivery::new(round, 0, 0);
        scoreboard.acknowledge(start - 10, &mut delivery);
        assert!(scoreboard.again.len() <= 3, "{}", scoreboard.again.len());
    }
}
