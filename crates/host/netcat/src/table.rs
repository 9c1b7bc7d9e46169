//! The table of subflows at the end.

use std::fmt::Write;

use crate::account::Subflow;

const HEADS: [&str; 8] = [
    "subflow", "from", "to", "sent", "received", "share", "RTT", "state",
];

/// Formats the table: columns as wide as their cells, figures aligned to the right.
pub(crate) fn table(subflows: &[Subflow]) -> String {
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(subflows.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..HEADS.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a String cannot fail.
            let _ = match column {
                0..=2 => write!(line, "{cell:<width$}  "),
                3..=6 => write!(line, "{cell:>width$}  "),
                _ => write!(line, "{cell}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(one: &Subflow) -> [String; 8] {
    let named = |path: &String| format!("{} {path}", one.id);
    let bytes = |bytes: u64| match one.complete {
        true => bytes.to_string(),
        false => format!("≥ {bytes}"),
    };
    let because = |reason: &String| format!("{}: {reason}", one.state);
    let unknown = || "-".to_owned();
    [
        one.path.as_ref().map_or_else(|| one.id.to_string(), named),
        one.local.to_string(),
        one.remote.to_string(),
        bytes(one.bytes_sent),
        bytes(one.bytes_received),
        one.share
            .map_or_else(unknown, |share| format!("{:.1} %", 100.0 * share)),
        one.rtt_us
            .map_or_else(unknown, |rtt| format!("{:.1} ms", f64::from(rtt) / 1000.0)),
        one.reason
            .as_ref()
            .map_or_else(|| one.state.to_owned(), because),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let whole = Subflow {
            id: 0,
            path: None,
            local: "10.0.1.6:41000".parse().unwrap(),
            remote: "10.0.4.7:64000".parse().unwrap(),
            seen_s: 0.0,
            bytes_sent: 75,
            bytes_received: 0,
            share: Some(0.75),
            rtt_us: Some(20_040),
            state: "open",
            reason: None,
            complete: true,
        };
        let partly = Subflow {
            id: 1,
            path: Some("wifi".to_owned()),
            bytes_sent: 25,
            share: Some(0.25),
            rtt_us: None,
            state: "closed",
            reason: Some("wifi has gone".to_owned()),
            complete: false,
            ..whole.clone()
        };
        let expected = "\
subflow  from            to              sent  received   share      RTT  state
0        10.0.1.6:41000  10.0.4.7:64000    75         0  75.0 %  20.0 ms  open
1 wifi   10.0.1.6:41000  10.0.4.7:64000  ≥ 25       ≥ 0  25.0 %        -  closed: wifi has gone
";
        assert_eq!(table(&[whole, partly]), expected);
    }
}
