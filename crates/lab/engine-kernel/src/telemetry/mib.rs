//! The counters of a namespace's protocols: `/proc/net/snmp` and `/proc/net/netstat`.

use std::{fs, io};

use mptcplab_traffic::verdict::Mib;

/// Reads the counters of the calling thread's namespace.
pub(crate) fn read() -> io::Result<Mib> {
    let mut mib = Mib::new();
    for file in [
        "/proc/thread-self/net/snmp",
        "/proc/thread-self/net/netstat",
    ] {
        mib.extend(parse(&fs::read_to_string(file)?));
    }
    Ok(mib)
}

/// The differences, after − before.
pub(crate) fn differences(before: &Mib, after: &Mib) -> Mib {
    after
        .iter()
        .map(|(name, value)| {
            (
                name.clone(),
                value.saturating_sub(before.get(name).copied().unwrap_or(0)),
            )
        })
        .filter(|&(_, difference)| difference != 0)
        .collect()
}

/// Two lines a group: its name and the counters' names, its name and their values.
fn parse(text: &str) -> Mib {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut mib = Mib::new();
    while let (Some((group, names)), Some((_, values))) = (lines.next(), lines.next()) {
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                mib.insert(format!("{group}{name}"), value);
            }
        }
    }
    mib
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str =
        "Tcp: MaxConn ActiveOpens\nTcp: -1 3\nMPTcpExt: MPJoinSynRx\nMPTcpExt: 0\n";
    const AFTER: &str = "Tcp: MaxConn ActiveOpens\nTcp: -1 5\nMPTcpExt: MPJoinSynRx\nMPTcpExt: 1\n";

    #[test]
    fn only_what_changed_is_told() {
        let expected = Mib::from([
            ("TcpActiveOpens".into(), 2),
            ("MPTcpExtMPJoinSynRx".into(), 1),
        ]);
        assert_eq!(differences(&parse(BEFORE), &parse(AFTER)), expected);
    }
}
