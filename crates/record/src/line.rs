//! A row as a line.

use serde::Serialize;

/// A row with the name of its table in front.
#[derive(Serialize)]
struct Line<'a, R> {
    record: &'a str,
    #[serde(flatten)]
    row: R,
}

/// Appends one row of `table` to `out`.
///
/// # Errors
/// When the row is not a flat record; `out` then is as before.
pub fn write_line(out: &mut Vec<u8>, table: &str, row: impl Serialize) -> serde_json::Result<()> {
    let length = out.len();
    let written = serde_json::to_writer(&mut *out, &Line { record: table, row });
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

    #[test]
    fn a_row_is_a_line_and_what_is_none_leaves_no_trace() {
        let mut out = Vec::new();
        write_line(&mut out, "warning", Warning { text: "beware" }).unwrap();
        assert!(write_line(&mut out, "warning", [1, 2]).is_err());
        assert_eq!(out, b"{\"record\":\"warning\",\"text\":\"beware\"}\n");
    }
}
