//! Reasons for which connections fall back to TCP.

use std::fs;

/// Counters of fallbacks (`MPTcpExt`), and what each says.
const CAUSES: [(&str, &str); 9] = [
    (
        "MPCapableFallbackSYNACK",
        "the SYN/ACK had no MP_CAPABLE: the peer does not speak MPTCP, or a middlebox took it away",
    ),
    (
        "MPCapableFallbackACK",
        "the third ACK had no MP_CAPABLE: a middlebox took it away",
    ),
    (
        "MPCapableDataFallback",
        "the first data came without MP_CAPABLE or a mapping",
    ),
    (
        "DssFallback",
        "data came without a mapping: a middlebox took options away",
    ),
    (
        "DSSCorruptionFallback",
        "data and mapping did not fit together: a middlebox changed either",
    ),
    (
        "DataCsumErr",
        "a checksum of the data was wrong: a middlebox changed it",
    ),
    ("InfiniteMapRx", "the peer told that it goes on as TCP"),
    ("MPFallbackTokenInit", "no token could be made"),
    (
        "MPCapableSYNTXDisabled",
        "MPTCP was switched off for a while, as SYNs with it were lost",
    ),
];

/// Gives why connections of the calling thread's namespace fell back. The kernel does not tell it of a
/// connection, but counts the causes by namespace: where only one has occurred, that is the reason.
pub(crate) fn reason() -> String {
    match fs::read_to_string("/proc/thread-self/net/netstat") {
        Ok(counters) => told(&counters),
        Err(_) => "the kernel does not tell why".to_owned(),
    }
}

fn told(counters: &str) -> String {
    let mut lines = counters
        .lines()
        .filter(|line| line.starts_with("MPTcpExt:"));
    let (names, values) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let counted = names.split_whitespace().zip(values.split_whitespace());
    let counted: Vec<_> = counted.filter(|(_, value)| *value != "0").collect();
    let causes = CAUSES
        .iter()
        .filter(|(cause, _)| counted.iter().any(|(name, _)| name == cause));
    match causes.collect::<Vec<_>>()[..] {
        [] => "the kernel does not tell why".to_owned(),
        [(_, says)] => (*says).to_owned(),
        ref several => {
            let says: Vec<_> = several.iter().map(|(_, says)| *says).collect();
            format!("one of these, as others here did: {}", says.join("; or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_cause_that_occurred_is_the_reason() {
        let counters = "TcpExt: A B\nTcpExt: 1 2\nMPTcpExt: MPJoinSynRx MPCapableFallbackACK\n\
                        MPTcpExt: 4 1\n";
        assert!(told(counters).starts_with("the third ACK had no MP_CAPABLE"));
    }

    #[test]
    fn of_several_causes_none_is_claimed() {
        let counters = "MPTcpExt: DssFallback InfiniteMapRx\nMPTcpExt: 1 2\n";
        assert!(told(counters).starts_with("one of these"));
        assert_eq!(told("nonsense"), "the kernel does not tell why");
    }
}
