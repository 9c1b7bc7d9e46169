//! Rules of a subflow: one for each direction in each switch of its path.

use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::port::number::IN_PORT;
use mptcplab_openflow::{Instruction, Match};

use crate::messages;
use crate::place::{Link, PortRef};
use crate::subflows::Subflow;

/// A switch on a path, with the ports by which packets come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) datapath: u64,
    pub(crate) in_port: u32,
    pub(crate) out_port: u32,
}

/// A rule of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) datapath: u64,
    pub(crate) fields: Match,
    out_port: u32,
    /// Whether the controller gets a copy of each packet.
    copies: bool,
    /// Whether the switch tells when the rule is gone.
    tells: bool,
}

/// The switches between two ports.
pub(crate) fn hops(from: PortRef, links: &[Link], to: PortRef) -> Vec<Hop> {
    let ins = std::iter::once(from).chain(links.iter().map(|link| link.to));
    let outs = links
        .iter()
        .map(|link| link.from)
        .chain(std::iter::once(to));
    ins.zip(outs)
        .map(|(own, out)| Hop {
            datapath: own.datapath,
            in_port: own.port,
            out_port: out.port,
        })
        .collect()
}

/// The rules of a subflow, those of the last switch first: a packet that meets the first one finds
/// the others. The switch of the opener tells of the end of its rules.
pub(crate) fn rules(subflow: &Subflow) -> Vec<Rule> {
    let hops = hops(subflow.ends[0], &subflow.path, subflow.ends[1]);
    let last = hops.len() - 1;
    let mut rules = Vec::with_capacity(2 * hops.len());
    for (index, hop) in hops.iter().enumerate().rev() {
        rules.push(Rule {
            datapath: hop.datapath,
            fields: subflow.flow.fields(hop.in_port),
            out_port: send_by(hop.in_port, hop.out_port),
            copies: index == 0 && subflow.copies[0],
            tells: index == 0,
        });
        if subflow.flow.is_tcp() {
            rules.push(Rule {
                datapath: hop.datapath,
                fields: subflow.flow.reversed().fields(hop.out_port),
                out_port: send_by(hop.out_port, hop.in_port),
                copies: index == last && subflow.copies[1],
                tells: index == 0,
            });
        }
    }
    rules
}

/// The port to send by: packets leave by the port that they came by only where it is called so.
fn send_by(in_port: u32, out_port: u32) -> u32 {
    if in_port == out_port {
        IN_PORT
    } else {
        out_port
    }
}

impl Rule {
    /// The message that adds the rule.
    pub(crate) fn add(&self, number: u64, idle_s: u16) -> FlowMod {
        let mut request = self.message(FlowCommand::Add, number);
        request.idle_timeout = idle_s;
        if self.tells {
            request.flags = FlowFlags::SEND_FLOW_REM;
        }
        request
    }

    /// The message that changes what the rule does, and leaves its counters and times.
    pub(crate) fn modify(&self, number: u64) -> FlowMod {
        let mut request = self.message(FlowCommand::ModifyStrict, number);
        request.cookie_mask = u64::MAX;
        request
    }

    /// The message that deletes the rule, if it still is this subflow's.
    pub(crate) fn delete(&self, number: u64) -> FlowMod {
        let mut request = self.message(FlowCommand::DeleteStrict, number);
        request.cookie_mask = u64::MAX;
        request.instructions.clear();
        request
    }

    /// Whether both match the same packets of the same switch.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.datapath == other.datapath && self.fields == other.fields
    }

    fn message(&self, command: FlowCommand, number: u64) -> FlowMod {
        let mut actions = vec![messages::output(self.out_port)];
        if self.copies {
            actions.push(messages::to_controller());
        }
        let fields = self.fields.clone();
        let mut request = messages::flow_mod(command, messages::SUBFLOW, fields);
        request.cookie = number;
        request.instructions = vec![Instruction::ApplyActions(actions)];
        request
    }
}
