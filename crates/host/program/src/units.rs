//! Figures as people read them.

/// A size with three digits: `1.25 MB`.
pub(crate) fn size(bytes: u64) -> String {
    scaled(bytes as f64, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// A rate with three digits: `12.5 Mbit/s`.
pub(crate) fn rate(bits_per_second: f64) -> String {
    scaled(
        bits_per_second,
        &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
    )
}

/// A round-trip time: `12.3 ms`.
pub(crate) fn milliseconds(microseconds: u32) -> String {
    format!("{:.1} ms", f64::from(microseconds) / 1e3)
}

fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    let digits = match (unit, value) {
        (0, _) => 0,
        (_, value) if value < 9.995 => 2,
        (_, value) if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates_have_three_digits() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_250), "1.25 kB");
        assert_eq!(size(9_999), "10.0 kB");
        assert_eq!(size(12_540_000), "12.5 MB");
        assert_eq!(size(999_600), "1.00 MB");
        assert_eq!(size(u64::MAX), "18.4 EB");
        assert_eq!(rate(48e6), "48.0 Mbit/s");
        assert_eq!(rate(1e16), "10000 Tbit/s");
        assert_eq!(milliseconds(12_345), "12.3 ms");
    }
}
