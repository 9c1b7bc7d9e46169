//! Plans, and clocks that go, stand, and are set.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::clock::Utc;
use crate::plan::tests::{plan, value};
use crate::plan::{Interval, Plan};

/// 1 January 2027, at midnight.
const MIDNIGHT_MS: i64 = 1_798_761_600_000;
const HOUR: Duration = Duration::from_secs(3_600);

fn hours(hours: u32) -> Duration {
    HOUR * hours
}

fn now(boot: Duration) -> Now {
    Now {
        boot,
        utc_ms: Some(MIDNIGHT_MS + boot.as_millis() as i64),
        is_servers: true,
    }
}

fn schedule(plans: &[&Arc<Plan>], at: Duration) -> Schedule {
    let mut schedule = Schedule::new("boot".to_owned(), Chance::new(1));
    let plans: Vec<_> = plans.iter().copied().cloned().collect();
    schedule.set_plans(&plans, &Ledger::default(), at);
    schedule
}

fn hourly(spread_s: u64) -> Arc<Plan> {
    let every_s = 3_600;
    Arc::new(plan(|plan| plan.schedule = Interval { every_s, spread_s }))
}

fn nightly(spread_s: u64) -> Arc<Plan> {
    let mut plan = Plan::parse(&value()).unwrap();
    plan.schedule.spread_s = spread_s;
    Arc::new(plan)
}

/// Times at which experiments begin, looked at each minute.
fn begun(schedule: &mut Schedule, from: Duration, until: Duration) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut boot = from;
    while boot < until {
        if let Next::Begin(plan) = schedule.next(&now(boot), &Ledger::default()) {
            schedule.begun(&plan, boot);
            times.push(boot);
        }
        boot += Duration::from_secs(60);
    }
    times
}

#[test]
fn experiments_begin_at_once_and_then_at_their_interval() {
    let mut schedule = schedule(&[&hourly(0)], hours(1));
    let times = begun(&mut schedule, hours(1), hours(6));
    assert_eq!(times, [1, 2, 3, 4, 5].map(hours));
}

#[test]
fn what_a_sleep_or_a_long_experiment_missed_is_not_made_up_for() {
    let plan = hourly(0);
    let mut schedule = schedule(&[&plan], hours(0));
    schedule.begun(&plan, hours(0));
    let woken = hours(7) + HOUR / 2;
    assert!(matches!(
        schedule.next(&now(woken), &Ledger::default()),
        Next::Begin(_)
    ));
    assert_eq!(schedule.begun(&plan, woken), Some(hours(8)));
    assert!(matches!(
        schedule.next(&now(woken), &Ledger::default()),
        Next::Wait(_)
    ));
}

#[test]
fn a_window_that_is_closed_is_waited_for() {
    // It is noon.
    let mut schedule = schedule(&[&nightly(0)], hours(12));
    let times = begun(&mut schedule, hours(12), hours(36));
    assert_eq!(times, [22, 23, 24, 25, 26, 27, 28, 29].map(hours));
}

#[test]
fn agents_do_not_come_all_at_once_when_a_window_opens() {
    let first = |seed| {
        let mut schedule = Schedule::new("boot".to_owned(), Chance::new(seed));
        schedule.set_plans(&[nightly(1_800)], &Ledger::default(), hours(12));
        begun(&mut schedule, hours(12), hours(36))[0]
    };
    let mut times: Vec<_> = (0..20).map(first).collect();
    assert!(
        times
            .iter()
            .all(|time| (hours(22)..hours(23)).contains(time))
    );
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 10);
}

#[test]
fn a_plan_with_windows_waits_for_a_clock_and_others_do_not() {
    let unknown = Now {
        boot: hours(1),
        utc_ms: None,
        is_servers: false,
    };
    let ledger = Ledger::default();
    let mut one = schedule(&[&nightly(0)], hours(1));
    assert!(matches!(one.next(&unknown, &ledger), Next::Wait(_)));
    let mut other = schedule(&[&hourly(0)], hours(1));
    assert!(matches!(other.next(&unknown, &ledger), Next::Begin(_)));
}

#[test]
fn the_one_that_is_due_first_begins() {
    let early = hourly(0);
    let late = Arc::new(plan(|plan| plan.id = "other@1".to_owned()));
    let mut schedule = schedule(&[&late, &early], hours(0));
    let next = schedule.next(&now(hours(5)), &Ledger::default());
    assert_eq!(next, Next::Begin(Arc::clone(&early)));
    schedule.begun(&early, hours(5));
    let next = schedule.next(&now(hours(5)), &Ledger::default());
    assert_eq!(next, Next::Begin(late));
}

#[test]
fn a_plan_that_is_gone_or_over_does_not_begin() {
    let plan = hourly(0);
    let mut ledger = Ledger::default();
    let mut schedule = schedule(&[&plan], hours(0));
    schedule.set_plans(&[], &ledger, hours(0));
    assert_eq!(
        schedule.next(&now(hours(1)), &ledger),
        Next::Wait(LOOK_AGAIN)
    );
    let mut once = Plan::clone(&plan);
    once.most_experiments = Some(1);
    schedule.set_plans(&[Arc::new(once.clone())], &ledger, hours(1));
    assert!(matches!(
        schedule.next(&now(hours(1)), &ledger),
        Next::Begin(_)
    ));
    ledger.begin(&once, &now(hours(1)), 0);
    assert_eq!(
        schedule.next(&now(hours(1)), &ledger),
        Next::Wait(LOOK_AGAIN)
    );
}

#[test]
fn a_restart_does_not_measure_at_once_again() {
    let plan = hourly(0);
    let mut ledger = Ledger::default();
    let time = schedule(&[&plan], hours(0)).begun(&plan, hours(0)).unwrap();
    ledger.set_next_time(&plan, "boot", time);
    let restarted = |boot: &str, at| {
        let mut schedule = Schedule::new(boot.to_owned(), Chance::new(2));
        schedule.set_plans(&[Arc::clone(&plan)], &ledger, at);
        schedule.next(&now(at), &ledger)
    };
    assert!(matches!(restarted("boot", HOUR / 2), Next::Wait(_)));
    assert!(matches!(restarted("boot", hours(1)), Next::Begin(_)));
    assert!(matches!(restarted("other boot", HOUR / 2), Next::Begin(_)));
}

proptest! {
    /// Experiments lie at their interval, whatever the system's clock shows.
    #[test]
    fn steps_of_a_clock_bring_no_experiments_and_prevent_none(
        spread_s in 0_u64..3_600,
        seed: u64,
        steps in vec((1_u64..120, any::<i64>()), 1..400),
    ) {
        let plan = hourly(spread_s);
        let mut schedule = Schedule::new("boot".to_owned(), Chance::new(seed));
        let ledger = Ledger::default();
        schedule.set_plans(&[Arc::clone(&plan)], &ledger, Duration::ZERO);
        let (mut boot, mut utc, mut count) = (Duration::ZERO, Utc::default(), 0_u64);
        for (later_s, system_ms) in steps {
            boot += Duration::from_secs(later_s);
            let now = utc.now(boot, system_ms);
            if let Next::Begin(plan) = schedule.next(&now, &ledger) {
                schedule.begun(&plan, boot);
                count += 1;
            }
        }
        let intervals = boot.as_secs() / 3_600;
        prop_assert!(count <= intervals + 1, "{} in {} intervals", count, intervals);
        prop_assert!(count + 1 >= intervals, "{} in {} intervals", count, intervals);
    }

    #[test]
    fn a_wait_is_never_longer_than_the_next_look(seed: u64, spread_s in 0_u64..10_000, at_s: u32) {
        let at = Duration::from_secs(at_s.into());
        let mut schedule = Schedule::new("boot".to_owned(), Chance::new(seed));
        let ledger = Ledger::default();
        schedule.set_plans(&[hourly(spread_s), nightly(spread_s)], &ledger, at);
        if let Next::Wait(wait) = schedule.next(&now(at), &ledger) {
            prop_assert!(!wait.is_zero() && wait <= LOOK_AGAIN);
        }
    }
}
