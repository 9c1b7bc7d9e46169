//! Transfers of the programs of a flow: the kernel's accounts of their sockets, as rows.

use std::time::Duration;

use super::flow::Flow;
use super::rows::SocketRow;
use super::stop::wait_on;
use crate::telemetry::NodeContext;
use crate::telemetry::accounts::{Account, Look};

/// Time limit for data that a program left to the kernel.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit for the sockets that its end closes.
const CLOSING: Duration = Duration::from_secs(1);
/// Interval of the checks.
const EVERY: Duration = Duration::from_millis(20);

/// Waits until the client's host has sent all that the client's program left to it.
pub(super) fn await_sent(flow: &Flow) {
    await_none(flow, &[&flow.client], PATIENCE, Look::is_sending);
}

/// Waits until no socket of the flow is left, writes a row of each, and gives how many there are.
pub(super) fn write(flow: &Flow) -> usize {
    let mut written = 0;
    let nodes: &[&NodeContext] = if flow.traffic.client == flow.traffic.server {
        &[&flow.client]
    } else {
        &[&flow.client, &flow.server]
    };
    await_none(flow, nodes, CLOSING, Look::has);
    for node in nodes {
        let (rows, doubtful) = node.accounts.book(|book| {
            let own = book.of(&flow.owner).into_iter();
            let rows: Vec<_> = own.map(|(account, at)| (account.clone(), at)).collect();
            (rows, book.doubtful(&flow.owner))
        });
        let abroad = rows.iter().filter(|(account, _)| is_abroad(account, node));
        for (account, start_ns) in abroad {
            write_row(flow, node, account, *start_ns);
            written += 1;
        }
        if doubtful > 0 {
            flow.warn(&format!(
                "{doubtful} sockets of {} are in no account: they may be its or another command's",
                node.name
            ));
        }
    }
    written
}

/// It does not stay in its host.
fn is_abroad(account: &Account, node: &NodeContext) -> bool {
    let remote = account.pair.1.ip();
    !remote.is_loopback() && node.interface_of(remote).is_none()
}

fn await_none(
    flow: &Flow,
    nodes: &[&NodeContext],
    patience: Duration,
    is_left: impl Fn(&Look, &Account) -> bool,
) {
    let clock = flow.recorder.clock();
    let deadline = clock.instant() + patience;
    let any_left = || {
        nodes.iter().any(|node| {
            let look = node.accounts.look(node, &flow.recorder);
            node.accounts.book(|book| {
                let own = book.of(&flow.owner);
                own.iter()
                    .any(|(account, _)| is_abroad(account, node) && is_left(&look, account))
            })
        })
    };
    while any_left() && clock.instant() < deadline {
        let next = Some(clock.instant() + EVERY);
        if flow.stop.reason().is_some() || wait_on(clock, None, &[&flow.stop], next).is_err() {
            return;
        }
    }
}

fn write_row(flow: &Flow, node: &NodeContext, account: &Account, start_ns: Option<u64>) {
    let (local, remote) = account.pair;
    let row = SocketRow {
        traffic: &flow.traffic.name,
        node: &node.name,
        token: account.token,
        subflow: format!("{local}-{remote}"),
        interface: node.interface_of(local.ip()),
        start_ns,
        first_ns: account.first_ns,
        end_ns: account.end_ns,
        last_received_ns: account.last_received_ns,
        last_acked_ns: account.last_acked_ns,
        info: &account.info,
    };
    flow.write(row);
}
