//! Numbers as people read them.

/// Seconds, to the millisecond.
pub(super) fn seconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000_000, ns / 1_000_000 % 1_000)
}

/// Milliseconds, to the microsecond.
pub(super) fn milliseconds(ns: Option<u64>) -> String {
    let shown = |ns: u64| format!("{}.{:03}", ns / 1_000_000, ns / 1_000 % 1_000);
    ns.map_or(UNKNOWN.to_owned(), shown)
}

/// Mbit/s with three digits that count, at most three behind the point.
pub(super) fn megabits(bps: Option<u64>) -> String {
    let Some(bps) = bps else {
        return UNKNOWN.to_owned();
    };
    let megabits = bps as f64 / 1e6;
    let digits = match bps {
        0 => 0,
        1..1_000_000 => 3,
        1_000_000..10_000_000 => 2,
        10_000_000..100_000_000 => 1,
        _ => 0,
    };
    format!("{megabits:.digits$}")
}

/// Percent of a rate; `None`: the rate is not known.
pub(super) fn percent(load_bps: u64, rate_bps: Option<u64>) -> String {
    share(load_bps, rate_bps).map_or(UNKNOWN.to_owned(), |share| format!("{:.0}", 100.0 * share))
}

/// Share of a rate that is used.
pub(super) fn share(load_bps: u64, rate_bps: Option<u64>) -> Option<f64> {
    let rate_bps = rate_bps.filter(|rate| *rate > 0)?;
    Some(load_bps as f64 / rate_bps as f64)
}

/// A number, if it is known.
pub(super) fn whole(number: Option<impl ToString>) -> String {
    number.map_or(UNKNOWN.to_owned(), |number| number.to_string())
}

/// The sign of a value that is not known.
const UNKNOWN: &str = "–";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        assert_eq!(seconds(1_234_567_890), "1.234");
        assert_eq!(milliseconds(Some(1_234_567)), "1.234");
        assert_eq!(milliseconds(None), "–");
        let rates = [0, 1_500, 9_870_000, 98_700_000, 10_000_000_000];
        let shown = rates.map(|rate| megabits(Some(rate)));
        assert_eq!(shown, ["0", "0.002", "9.87", "98.7", "10000"]);
        assert_eq!(percent(5, Some(10)), "50");
        assert_eq!(percent(5, None), "–");
        assert_eq!(percent(5, Some(0)), "–");
    }
}
