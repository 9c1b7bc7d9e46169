//! Time: that since the boot, which no step of a clock changes, and UTC as far as it is known.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// Milliseconds since 1970 of a time that a clock cannot show any more: 1 January 2025.
pub(crate) const EARLIEST_MS: i64 = 1_735_689_600_000;
/// The same of one that no clock shows yet: the year 2200.
const LATEST_MS: i64 = 7_258_118_400_000;

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Since the boot, with the time asleep.
    pub boot: Duration,
    /// Milliseconds since 1970; none where no clock is to be believed.
    pub utc_ms: Option<i64>,
    /// This is the server's time, and not the system's.
    pub is_servers: bool,
}

impl Now {
    /// Seconds since 1970.
    pub fn utc_s(&self) -> Option<i64> {
        self.utc_ms.map(|ms| ms.div_euclid(1_000))
    }

    /// Days since 1970.
    pub fn utc_day(&self) -> Option<i64> {
        self.utc_s().map(|seconds| seconds.div_euclid(86_400))
    }
}

/// UTC as the time since the boot and a constant. The server's time makes it; before that, the first
/// time of the system's clock that can be: its later steps change nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utc {
    offset_ms: Option<i64>,
    is_servers: bool,
}

impl Utc {
    /// This moment, by the time since the boot and the system's clock.
    pub fn now(&mut self, boot: Duration, system_ms: i64) -> Now {
        if self.offset_ms.is_none() && can_be(system_ms) {
            self.offset_ms = Some(system_ms - millis(boot));
        }
        Now {
            boot,
            utc_ms: self.offset_ms.map(|offset| offset + millis(boot)),
            is_servers: self.is_servers,
        }
    }

    /// The server's time is known.
    pub fn is_servers(&self) -> bool {
        self.is_servers
    }

    /// Takes the server's time, of a moment after the boot.
    pub fn set(&mut self, boot: Duration, server_ms: i64) {
        if can_be(server_ms) {
            self.offset_ms = Some(server_ms - millis(boot));
            self.is_servers = true;
        }
    }
}

fn can_be(utc_ms: i64) -> bool {
    (EARLIEST_MS..LATEST_MS).contains(&utc_ms)
}

/// Milliseconds of a time.
pub fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

/// The time since the boot, with the time asleep.
pub fn boot_time() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME).expect("Linux has this clock");
    time.into()
}

/// The system's clock, in milliseconds since 1970.
pub fn system_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AT: i64 = 1_800_000_000_000;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_year_1970_is_no_time() {
        let mut utc = Utc::default();
        assert_eq!(utc.now(s(10), 10_000).utc_ms, None);
        assert_eq!(utc.now(s(20), AT).utc_ms, Some(AT));
        // A step back is none of ours.
        assert_eq!(utc.now(s(30), 10_000).utc_ms, Some(AT + 10_000));
    }

    #[test]
    fn the_servers_time_counts() {
        let mut utc = Utc::default();
        assert!(!utc.now(s(10), AT + 86_400_000).is_servers);
        utc.set(s(10), AT);
        assert!(utc.now(s(10), 0).is_servers);
        assert_eq!(utc.now(s(11), AT + 86_400_000).utc_ms, Some(AT + 1_000));
        utc.set(s(12), 0);
        assert_eq!(utc.now(s(12), 0).utc_ms, Some(AT + 2_000));
    }

    #[test]
    fn days_begin_at_midnight() {
        let day = |utc_ms| {
            let now = Now {
                boot: s(0),
                utc_ms,
                is_servers: true,
            };
            now.utc_day()
        };
        assert_eq!(day(Some(86_399_999)), Some(0));
        assert_eq!(day(Some(86_400_000)), Some(1));
        assert_eq!(day(None), None);
    }

    proptest! {
        #[test]
        fn time_goes_forward_whatever_the_systems_clock_does(
            steps in proptest::collection::vec((0_u64..100_000, any::<i64>()), 1..40),
        ) {
            let mut utc = Utc::default();
            let (mut boot, mut last) = (Duration::ZERO, None);
            for (later_ms, system_ms) in steps {
                boot += Duration::from_millis(later_ms);
                let now = utc.now(boot, system_ms).utc_ms;
                if let Some(last) = last {
                    prop_assert_eq!(now, Some(last + later_ms as i64));
                }
                last = now.or(last);
            }
        }
    }
}
