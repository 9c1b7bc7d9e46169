//! The readiness of servers that are programs of others.

use std::fs;
use std::io;
use std::time::Duration;

use super::flow::Flow;
use super::stop::{Stop, Wake, wait_on};

/// Interval of the checks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until something in the server's host listens on the flow's port, for `patience` at most;
/// gives whether nothing did. Of a run or a server that ends meanwhile that is not known.
pub(super) fn nothing_listens(flow: &Flow, patience: Duration, server_ended: &Stop) -> bool {
    let clock = flow.recorder.clock();
    let deadline = clock.instant() + patience;
    // The namespace may be entered and the files read whenever the server could be started.
    let listens = || flow.server.netns.run(|| listens(flow.traffic.port));
    while !matches!(listens(), Ok(Ok(true))) {
        if clock.instant() >= deadline {
            return true;
        }
        let next = Some(clock.instant() + LOOK);
        let look = wait_on(clock, None, &[&flow.stop, server_ended], next);
        if !matches!(look, Ok(Wake::Deadline)) {
            return false;
        }
    }
    false
}

/// Whether a TCP socket listens on `port` in the calling thread's namespace.
fn listens(port: u16) -> io::Result<bool> {
    let tables =
        ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/thread-self/net/{name}")));
    Ok(tables
        .iter()
        .flatten()
        .any(|table| has_listener(table, port)))
}

/// Whether a table as of `/proc/net/tcp` has a listener on `port`.
fn has_listener(table: &str, port: u16) -> bool {
    const LISTEN: &str = "0A";
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace();
        let (local, state) = (fields.nth(1), fields.nth(1));
        let number = local.and_then(|local| u16::from_str_radix(local.split_once(':')?.1, 16).ok());
        number == Some(port) && state == Some(LISTEN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_port_and_state() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
            0: 00000000:1389 00000000:0000 0A 00000000:00000000\n   \
            1: 0201000A:138A 0101000A:1389 01 00000000:00000000\n";
        assert!(has_listener(table, 5001));
        assert!(!has_listener(table, 5002), "a connection is not a listener");
        assert!(!has_listener(table, 80));
    }
}
