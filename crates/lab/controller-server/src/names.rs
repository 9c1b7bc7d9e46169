//! Names of what the controller knows by numbers, the same in events, in the API and on its page.

use std::net::SocketAddr;

use mptcplab_controller::{Flow, Link, PortRef};

/// A datapath as Open vSwitch shows it.
pub(crate) fn switch(datapath: u64) -> String {
    format!("{datapath:016x}")
}

pub(crate) fn port(at: PortRef) -> String {
    format!("{:016x}:{}", at.datapath, at.port)
}

pub(crate) fn link(link: &Link) -> String {
    format!("{}-{}", port(link.from), port(link.to))
}

pub(crate) fn path(path: &[Link]) -> Vec<String> {
    path.iter().map(link).collect()
}

/// Addresses and ports, from the opener; addresses alone of protocols other than TCP.
pub(crate) fn flow(flow: &Flow) -> String {
    match flow.source_port {
        0 => format!("{}-{}", flow.source, flow.destination),
        port => format!("{}-{}", SocketAddr::new(flow.source, port), flow.server()),
    }
}

/// Names of switches, ports, links and paths without the zeros that datapaths begin with.
pub(crate) fn short(names: &str) -> String {
    let parts = names.split_inclusive([':', '-', ',']);
    let short = parts.map(|part| {
        let digits = part.trim_end_matches([':', '-', ',']).len();
        let zeros = part.len() - part.trim_start_matches('0').len();
        match digits {
            DATAPATH_DIGITS => &part[zeros.min(digits - 1)..],
            _ => part,
        }
    });
    short.collect()
}

/// Digits of a datapath.
const DATAPATH_DIGITS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datapaths_are_shortened_wherever_they_stand() {
        let pairs = [
            ("0000000000000000", "0"),
            ("0000525400123456", "525400123456"),
            ("00000000000000a0:100", "a0:100"),
            ("0000000000000001:1-0000000000000002:30", "1:1-2:30"),
            (
                "0000000000000001:1-0000000000000002:3,0000000000000002:1-0000000000000003:1",
                "1:1-2:3,2:1-3:1",
            ),
            ("10.0.0.1", "10.0.0.1"),
            ("", ""),
        ];
        for (name, shown) in pairs {
            assert_eq!(short(name), shown);
        }
    }
}
