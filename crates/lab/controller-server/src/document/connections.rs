//! Connections and the rules of their subflows as documents.

use mptcplab_controller::{ConnectionView, PlacedSubflow, RuleView, State};
use serde::Serialize;

use crate::names;
use crate::snapshot::Snapshot;

/// The connections opened last, the last one first.
#[derive(Debug, Serialize)]
pub(crate) struct Connections {
    pub(crate) t_ns: u64,
    /// All that the controller remembers.
    pub(crate) total: usize,
    pub(crate) connections: Vec<Connection>,
}

/// A connection.
#[derive(Debug, Serialize)]
pub(crate) struct Connection {
    pub(crate) connection: u64,
    pub(crate) is_multipath: bool,
    pub(crate) opened_ns: u64,
    pub(crate) expected_bytes: Option<u64>,
    pub(crate) opener_token: Option<u32>,
    pub(crate) other_token: Option<u32>,
    pub(crate) subflows: Vec<Subflow>,
}

/// A subflow.
#[derive(Debug, Serialize)]
pub(crate) struct Subflow {
    pub(crate) subflow: String,
    pub(crate) protocol: u8,
    pub(crate) rules: &'static str,
    pub(crate) path: Vec<String>,
}

/// Rules that switches were given for subflows.
#[derive(Debug, Serialize)]
pub(crate) struct Rules {
    pub(crate) t_ns: u64,
    pub(crate) is_complete: bool,
    pub(crate) rules: Vec<Rule>,
}

/// A rule.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rule {
    pub(crate) switch: String,
    pub(crate) priority: u16,
    pub(crate) in_port: u32,
    /// Addresses and ports of the packets that it matches.
    pub(crate) packets: String,
    pub(crate) protocol: u8,
    pub(crate) out_port: u32,
    pub(crate) instead_port: Option<u32>,
    pub(crate) copies: bool,
    pub(crate) idle_s: Option<u16>,
    pub(crate) connection: u64,
}

impl Connections {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self {
            t_ns: snapshot.t_ns,
            total: snapshot.connection_count,
            connections: snapshot.connections.iter().map(connection).collect(),
        }
    }
}

impl Rules {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut rules: Vec<Rule> = snapshot.rules.iter().map(rule).collect();
        rules.sort_by(|one, other| one.switch.cmp(&other.switch));
        Self {
            t_ns: snapshot.t_ns,
            is_complete: snapshot.has_all_rules,
            rules,
        }
    }

    /// The rules of one switch.
    pub(crate) fn of_switch(&self, switch: &str) -> Self {
        let own = self.rules.iter().filter(|rule| rule.switch == switch);
        Self {
            rules: own.cloned().collect(),
            ..*self
        }
    }
}

fn connection(view: &ConnectionView) -> Connection {
    let [opener_token, other_token] = view.tokens;
    Connection {
        connection: view.connection,
        is_multipath: view.is_multipath,
        opened_ns: view.opened_ns,
        expected_bytes: view.expected_bytes,
        opener_token,
        other_token,
        subflows: view.subflows.iter().map(subflow).collect(),
    }
}

fn subflow(placed: &PlacedSubflow) -> Subflow {
    Subflow {
        subflow: names::flow(&placed.flow),
        protocol: placed.flow.protocol,
        rules: match placed.state {
            State::Installing => "installing",
            State::Active => "active",
            State::Idle => "gone",
        },
        path: names::path(&placed.path),
    }
}

fn rule(view: &RuleView) -> Rule {
    Rule {
        switch: names::switch(view.datapath),
        priority: view.priority,
        in_port: view.in_port,
        packets: names::flow(&view.flow),
        protocol: view.flow.protocol,
        out_port: view.out_port,
        instead_port: view.instead_port,
        copies: view.copies,
        idle_s: view.idle_s,
        connection: view.connection,
    }
}
