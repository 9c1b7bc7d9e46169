//! Windows: times of the day, in UTC.

use serde::{Deserialize, Deserializer, de::Error};

const DAY_S: u32 = 86_400;

/// A part of each day; over midnight where it ends before it begins, the whole of it where both are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Window {
    #[serde(deserialize_with = "time_of_day")]
    from: u32,
    #[serde(deserialize_with = "time_of_day")]
    to: u32,
}

impl Window {
    /// Its length, in seconds.
    fn length_s(self) -> u32 {
        match (self.to + DAY_S - self.from) % DAY_S {
            0 => DAY_S,
            length => length,
        }
    }

    /// Seconds since it has opened; none where it is closed.
    fn open_for_s(self, second_of_day: u32) -> Option<u32> {
        let since = (second_of_day + DAY_S - self.from) % DAY_S;
        (since < self.length_s()).then_some(since)
    }
}

/// Seconds since one of these windows has opened, and its length; none where all are closed. No
/// window at all is always open.
pub fn open_for(windows: &[Window], utc_s: i64) -> Option<(u32, u32)> {
    let second_of_day = utc_s.rem_euclid(DAY_S.into()) as u32;
    if windows.is_empty() {
        return Some((DAY_S, DAY_S));
    }
    let open = windows
        .iter()
        .filter_map(|window| Some((window.open_for_s(second_of_day)?, window.length_s())));
    open.max()
}

/// The second of the day of `22:30`, or of `24:00`.
fn time_of_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| D::Error::custom("a time of the day is wanted, 22:30 say"))
}

fn parse(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |digits: &str| -> Option<u32> {
        let is_number = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let seconds = hours * 3_600 + minutes * 60;
    (minutes < 60 && seconds <= DAY_S).then_some(seconds % DAY_S)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(from: &str, to: &str) -> Window {
        let (from, to) = (parse(from).unwrap(), parse(to).unwrap());
        Window { from, to }
    }

    fn is_open(window: Window, time: &str) -> bool {
        open_for(&[window], parse(time).unwrap().into()).is_some()
    }

    #[test]
    fn a_window_may_go_over_midnight() {
        let night = window("22:00", "06:00");
        for (time, open) in [
            ("22:00", true),
            ("23:59", true),
            ("05:59", true),
            ("06:00", false),
        ] {
            assert_eq!(is_open(night, time), open, "{time}");
        }
        assert_eq!(open_for(&[night], 3_600), Some((3 * 3_600, 8 * 3_600)));
        assert!(!is_open(window("06:00", "22:00"), "22:00"));
        assert!(is_open(window("00:00", "24:00"), "12:00"));
        assert!(open_for(&[], 0).is_some());
        // 1969, one second before midnight.
        assert_eq!(open_for(&[night], -1), Some((7_199, 8 * 3_600)));
    }

    #[test]
    fn times_of_the_day_have_two_digits_each() {
        for text in [
            "7:00", "07:0", "24:01", "12:60", "12", "-1:00", "+1:00", "", "1é:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_window_is_open_for_its_length(from in 0_u32..1_440, to in 0_u32..1_440) {
            let window = Window { from: from * 60, to: to * 60 };
            let open = (0..1_440).filter(|minute| window.open_for_s(minute * 60).is_some());
            prop_assert_eq!(open.count() as u32 * 60, window.length_s());
        }
    }
}
