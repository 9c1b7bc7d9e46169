//! A row as a line.

use serde::Serialize;

use crate::Row;

/// A row with the name of its table in front.
#[derive(Serialize)]
struct Line<'a, R> {
    record: &'a str,
    #[serde(flatten)]
    row: R,
}

/// Appends a row to `out`.
///
/// # Errors
/// When the row is not a flat record; `out` then is as before.
pub fn write_line<R: Row>(out: &mut Vec<u8>, row: R) -> serde_json::Result<()> {
    let length = out.len();
    let written = serde_json::to_writer(
        &mut *out,
        &Line {
            record: R::TABLE,
            row,
        },
    );
    match &written {
        Ok(()) => out.push(b'\n'),
        Err(_) => out.truncate(length),
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Warning;

    /// No flat record.
    #[derive(Serialize)]
    struct Pair([u8; 2]);

    impl Row for Pair {
        const TABLE: &'static str = "pairs";
    }

    #[test]
    fn a_row_is_a_line_and_what_is_none_leaves_no_trace() {
        let mut out = Vec::new();
        write_line(&mut out, Warning { text: "beware" }).unwrap();
        assert!(write_line(&mut out, Pair([1, 2])).is_err());
        assert_eq!(out, b"{\"record\":\"warning\",\"text\":\"beware\"}\n");
    }
}
