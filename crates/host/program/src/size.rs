//! Sizes as users write them: `100 kB`.

use anyhow::{anyhow, bail};

const UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Other words for the units, in small letters.
const MISTAKES: [(&str, &str); 11] = [
    ("byte", "B"),
    ("bytes", "B"),
    ("k", "kB"),
    ("kbyte", "kB"),
    ("kbytes", "kB"),
    ("m", "MB"),
    ("mbyte", "MB"),
    ("mbytes", "MB"),
    ("g", "GB"),
    ("gbyte", "GB"),
    ("gbytes", "GB"),
];

/// Bytes of a size with its unit.
///
/// # Errors
/// A text that is none; the message names what was probably meant.
pub(crate) fn parse_size(text: &str) -> anyhow::Result<u64> {
    let unit_begins = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(unit_begins.unwrap_or(text.len()));
    let unit = unit.trim();
    let is_number = number.contains(|letter: char| letter.is_ascii_digit());
    if !is_number || number.matches('.').count() > 1 {
        bail!("{text:?} is no size: write 500 kB, say");
    }
    if unit.is_empty() {
        bail!("a size needs a unit: did you mean \"{number} B\"?");
    }
    let Some(&(_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        match meant(unit) {
            Some(meant) => bail!("unknown unit {unit:?}: did you mean \"{number} {meant}\"?"),
            None => bail!("unknown unit {unit:?}: write 500 kB, say"),
        }
    };
    whole(number, factor).ok_or_else(|| anyhow!("{text:?} is no whole number of bytes"))
}

/// A decimal number times a factor, where that is a whole number.
fn whole(number: &str, factor: u64) -> Option<u64> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{integer}{fraction}").parse::<u128>().ok()?;
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(factor.into())?;
    let is_whole = product.is_multiple_of(scale);
    is_whole.then(|| u64::try_from(product / scale).ok())?
}

/// The unit that a word probably stands for.
fn meant(unit: &str) -> Option<&'static str> {
    let small = unit.to_lowercase();
    let other_case = UNITS.iter().find(|(name, _)| name.to_lowercase() == small);
    let word = MISTAKES.iter().find(|(word, _)| *word == small);
    other_case
        .map(|(name, _)| *name)
        .or(word.map(|(_, name)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("100kB").unwrap(), 100_000);
        assert_eq!(parse_size("1.5 MiB").unwrap(), 3 << 19);
        assert_eq!(parse_size("1.005kB").unwrap(), 1005);
        for (text, said) in [
            ("100", "did you mean \"100 B\"?"),
            ("100 kb", "did you mean \"100 kB\"?"),
            ("3 bytes", "did you mean \"3 B\"?"),
            ("3 miles", "unknown unit \"miles\""),
            ("", "\"\" is no size"),
            ("0.5 B", "no whole number"),
            ("-1 kB", "is no size"),
            ("1.2.3 kB", "is no size"),
            ("99999999999999999999 GB", "no whole number"),
        ] {
            let error = parse_size(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
