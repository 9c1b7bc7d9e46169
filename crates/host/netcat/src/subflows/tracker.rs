//! Reads what each subflow has carried, those that have closed included.
//!
//! The kernel forgets a subflow when it closes. What it carried is therefore read again and again;
//! of one that closes in mid-transfer the last reading counts, and is marked as incomplete.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use mptcplab_linux::TcpInfo;
use mptcplab_subflow::own::Connection;

use crate::account::Subflow;

/// A change from one reading to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A subflow is open.
    Opened(u32),
    /// A subflow has closed.
    Closed(u32),
}

/// Keeps the figures of all subflows of a connection.
pub(super) struct Tracker {
    began: Instant,
    known: BTreeMap<u32, Known>,
    reasons: HashMap<u32, String>,
    paths: HashMap<u32, String>,
    over: bool,
}

struct Known {
    subflow: Subflow,
    open: bool,
}

impl Tracker {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            known: BTreeMap::new(),
            reasons: HashMap::new(),
            paths: HashMap::new(),
            over: false,
        }
    }

    /// Takes a reading.
    pub(super) fn take(&mut self, connection: &Connection) -> Vec<Change> {
        let mut changes = Vec::new();
        for one in &connection.subflows {
            let seen_s = self.began.elapsed().as_secs_f64();
            // One that is being opened may fail.
            if !one.is_open() && !self.known.contains_key(&one.id) {
                continue;
            }
            let known = self.known.entry(one.id).or_insert_with(|| {
                changes.push(Change::Opened(one.id));
                Known {
                    subflow: new(one.id, one.local, one.remote, seen_s),
                    open: true,
                }
            });
            count(&mut known.subflow, &one.info);
        }
        for (id, known) in &mut self.known {
            // One that is closed while its path is dead stays listed, and waits for the peer.
            let mut subflows = connection.subflows.iter();
            let lives = subflows.any(|one| one.id == *id && one.is_open());
            if known.open && !lives {
                known.open = false;
                if !self.over {
                    known.subflow.state = "closed";
                    known.subflow.complete = false;
                    changes.push(Change::Closed(*id));
                }
            }
        }
        changes
    }

    /// Notes that the connection is over: from now on subflows close with it, and the last reading is
    /// complete.
    pub(super) fn is_over(&mut self) {
        self.over = true;
    }

    /// Notes why a subflow closed.
    pub(super) fn because(&mut self, id: u32, reason: String) {
        self.reasons.entry(id).or_insert(reason);
    }

    /// Notes the name of a subflow's path.
    pub(super) fn name(&mut self, id: u32, path: &str) {
        self.paths.insert(id, path.to_owned());
    }

    /// The address of a subflow.
    pub(super) fn local(&self, id: u32) -> Option<IpAddr> {
        Some(self.known.get(&id)?.subflow.local.ip())
    }

    /// A subflow as messages name it.
    pub(super) fn describe(&self, id: u32) -> String {
        let path = self.paths.get(&id).map(|path| format!(" ({path})"));
        let ends = self.known.get(&id).map(|known| {
            let (local, remote) = (known.subflow.local, known.subflow.remote);
            format!(" from {local} to {remote}")
        });
        let (path, ends) = (path.unwrap_or_default(), ends.unwrap_or_default());
        format!("subflow {id}{path}{ends}")
    }

    /// Why a subflow closed, as the end of a message.
    pub(super) fn reason(&self, id: u32) -> String {
        let reason = self.reasons.get(&id);
        reason.map_or_else(String::new, |reason| format!(": {reason}"))
    }

    /// Number of open subflows.
    pub(super) fn open(&self) -> usize {
        self.known.values().filter(|known| known.open).count()
    }

    /// The account as it is now.
    pub(super) fn account(&self) -> Vec<Subflow> {
        let carried = |one: &Subflow| one.bytes_sent + one.bytes_received;
        let total: u64 = self
            .known
            .values()
            .map(|known| carried(&known.subflow))
            .sum();
        let finish = |known: &Known| Subflow {
            path: self.paths.get(&known.subflow.id).cloned(),
            reason: self.reasons.get(&known.subflow.id).cloned(),
            share: (total > 0).then(|| carried(&known.subflow) as f64 / total as f64),
            ..known.subflow.clone()
        };
        self.known.values().map(finish).collect()
    }
}

fn new(id: u32, local: SocketAddr, remote: SocketAddr, seen_s: f64) -> Subflow {
    let canonical = |at: SocketAddr| SocketAddr::new(at.ip().to_canonical(), at.port());
    Subflow {
        id,
        path: None,
        local: canonical(local),
        remote: canonical(remote),
        seen_s,
        bytes_sent: 0,
        bytes_received: 0,
        share: None,
        rtt_us: None,
        state: "open",
        reason: None,
        complete: true,
    }
}

/// Counters only grow: a socket that is being closed may show less.
fn count(subflow: &mut Subflow, info: &TcpInfo) {
    let sent = info.bytes_sent.unwrap_or(0);
    let sent = sent.saturating_sub(info.bytes_retrans.unwrap_or(0));
    subflow.bytes_sent = subflow.bytes_sent.max(sent);
    subflow.bytes_received = subflow.bytes_received.max(info.bytes_received.unwrap_or(0));
    subflow.rtt_us = info.rtt_us.filter(|&rtt| rtt > 0).or(subflow.rtt_us);
}

#[cfg(test)]
mod tests {
    use mptcplab_linux::MptcpInfo;
    use mptcplab_subflow::own::OwnSubflow;

    use super::*;
    use crate::account::SubflowAccount;

    fn reading(subflows: &[(u32, u64)]) -> Connection {
        let subflow = |&(id, bytes_sent): &(u32, u64)| OwnSubflow {
            id,
            local: "10.0.1.6:1000".parse().unwrap(),
            remote: "10.0.4.7:64000".parse().unwrap(),
            info: TcpInfo {
                state: Some("ESTABLISHED"),
                bytes_sent: Some(bytes_sent),
                ..TcpInfo::default()
            },
            tcp_info: Vec::new(),
        };
        Connection {
            info: MptcpInfo::default(),
            token: 1,
            subflows: subflows.iter().map(subflow).collect(),
        }
    }

    #[test]
    fn what_has_gone_keeps_its_last_figures_and_is_marked() {
        let mut tracker = Tracker::new();
        assert_eq!(tracker.take(&reading(&[(0, 10)])), [Change::Opened(0)]);
        assert_eq!(
            tracker.take(&reading(&[(0, 30), (1, 5)])),
            [Change::Opened(1)]
        );
        assert_eq!(tracker.take(&reading(&[(1, 70)])), [Change::Closed(0)]);
        let account = tracker.account();
        assert_eq!((account[0].bytes_sent, account[0].complete), (30, false));
        assert_eq!((account[1].bytes_sent, account[1].complete), (70, true));
        assert_eq!((account[0].share, account[1].share), (Some(0.3), Some(0.7)));
        assert_eq!(tracker.open(), 1);
    }

    #[test]
    fn sums_that_do_not_cover_the_total_are_not_complete() {
        let mut tracker = Tracker::new();
        tracker.take(&reading(&[(0, 10), (1, 20)]));
        let complete = |sent, received| {
            let mut account = SubflowAccount {
                plain: None,
                subflows: tracker.account(),
            };
            account.compare(sent, received);
            account.subflows.iter().all(|one| one.complete)
        };
        assert!(complete(30, 0));
        assert!(complete(25, 0));
        assert!(!complete(31, 0));
        assert!(!complete(30, 1));
    }

    #[test]
    fn what_goes_with_the_connection_is_complete() {
        let mut tracker = Tracker::new();
        tracker.take(&reading(&[(0, 10)]));
        tracker.is_over();
        assert_eq!(tracker.take(&reading(&[])), []);
        let account = tracker.account();
        assert_eq!((account[0].state, account[0].complete), ("open", true));
    }
}
