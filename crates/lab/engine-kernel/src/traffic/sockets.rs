//! Transfers of the programs of an item: the kernel's accounts of their sockets, as rows.

use std::time::{Duration, Instant};

use super::item::Item;
use super::rows::SocketRow;
use super::stop::wait;
use crate::telemetry::NodeContext;
use crate::telemetry::accounts::{Account, Look};

/// Time limit for data that a program left to the kernel.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit for the sockets that its end closes.
const CLOSING: Duration = Duration::from_secs(1);
/// Interval of the checks.
const EVERY: Duration = Duration::from_millis(20);

/// Waits until the client's host has sent all that the client's program left to it.
pub(super) fn await_sent(item: &Item) {
    await_none(item, &[&item.client], PATIENCE, Look::is_sending);
}

/// Waits until no socket of the item is left, writes a row of each, and gives how many there are.
pub(super) fn write(item: &Item) -> usize {
    let mut written = 0;
    let nodes: &[&NodeContext] = if item.traffic.client == item.traffic.server {
        &[&item.client]
    } else {
        &[&item.client, &item.server]
    };
    await_none(item, nodes, CLOSING, Look::has);
    for node in nodes {
        let (rows, doubtful) = node.accounts.book(|book| {
            let own = book.of(&item.owner).into_iter();
            let rows: Vec<_> = own.map(|(account, at)| (account.clone(), at)).collect();
            (rows, book.doubtful(&item.owner))
        });
        let abroad = rows.iter().filter(|(account, _)| is_abroad(account, node));
        for (account, start_ns) in abroad {
            write_row(item, node, account, *start_ns);
            written += 1;
        }
        if doubtful > 0 {
            item.warn(&format!(
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
    item: &Item,
    nodes: &[&NodeContext],
    patience: Duration,
    is_left: impl Fn(&Look, &Account) -> bool,
) {
    let deadline = Instant::now() + patience;
    let any_left = || {
        nodes.iter().any(|node| {
            let look = node.accounts.look(node, &item.recorder);
            node.accounts.book(|book| {
                let own = book.of(&item.owner);
                own.iter()
                    .any(|(account, _)| is_abroad(account, node) && is_left(&look, account))
            })
        })
    };
    while any_left() && Instant::now() < deadline {
        let next = Some(Instant::now() + EVERY);
        if item.stop.reason().is_some() || wait(None, &[&item.stop], next).is_err() {
            return;
        }
    }
}

fn write_row(item: &Item, node: &NodeContext, account: &Account, start_ns: Option<u64>) {
    let (local, remote) = account.pair;
    let row = SocketRow {
        traffic: &item.traffic.name,
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
    item.write(row);
}
