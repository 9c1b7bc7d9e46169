//! Rules of a subflow: one for each direction in each switch of its path, and those of the ways round
//! the links of the path.

use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::port::number::IN_PORT;
use mptcplab_openflow::{Action, Instruction, Match};

use crate::messages;
use crate::place::{Link, PortRef};
use crate::subflows::{Flow, Subflow};

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
    /// The packets that it matches.
    pub(crate) flow: Flow,
    pub(crate) fields: Match,
    pub(crate) output: Forward,
    /// Whether the controller gets a copy of each packet.
    pub(crate) copies: bool,
    /// Whether the switch tells when the rule is gone.
    tells: bool,
    /// Whether the rule is gone without packets after a while. Those of ways round a link wait for
    /// its failure.
    pub(crate) ages: bool,
}

/// The ports of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Forward {
    pub(crate) in_port: u32,
    pub(crate) out_port: u32,
    /// The port that packets go out by if the link at the other one has failed.
    pub(crate) instead: Option<u32>,
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
    // The last hop of each direction sends to a host, and there is no link of its place.
    let instead = |direction: usize, place: usize| {
        let link = subflow.detours[direction].instead.get(place).copied();
        link.flatten().map(|link| link.from.port)
    };
    let mut rules = Vec::with_capacity(2 * hops.len());
    for (index, hop) in hops.iter().enumerate().rev() {
        rules.push(Rule {
            datapath: hop.datapath,
            flow: subflow.flow,
            fields: subflow.flow.fields(hop.in_port),
            output: Forward {
                in_port: hop.in_port,
                out_port: hop.out_port,
                instead: instead(0, index),
            },
            copies: index == 0 && subflow.copies[0] > 0,
            tells: index == 0,
            ages: true,
        });
        if subflow.flow.is_tcp() {
            rules.push(Rule {
                datapath: hop.datapath,
                flow: subflow.flow.reversed(),
                fields: subflow.flow.reversed().fields(hop.out_port),
                output: Forward {
                    in_port: hop.out_port,
                    out_port: hop.in_port,
                    instead: instead(1, last - index),
                },
                copies: index == last && subflow.copies[1] > 0,
                tells: index == 0,
                ages: true,
            });
        }
    }
    rules
}

/// Whether the switch of the opener has a rule of a subflow's path that matches so.
pub(crate) fn has(subflow: &Subflow, fields: &Match) -> bool {
    let rules = rules(subflow);
    rules
        .iter()
        .any(|rule| rule.tells && is_same(&rule.fields, fields))
}

/// Whether a switch tells of a rule of ours: it may give the fields in another order (Open vSwitch
/// does).
fn is_same(own: &Match, told: &Match) -> bool {
    let has = |field| told.fields.contains(field);
    own.fields.len() == told.fields.len() && own.fields.iter().all(has) && told.unknown.is_empty()
}

/// The rules of the ways round the links of a subflow's path, by switches.
pub(crate) fn detours(subflow: &Subflow) -> Vec<Rule> {
    let directions = [
        (subflow.flow, subflow.ends[1]),
        (subflow.flow.reversed(), subflow.ends[0]),
    ];
    let count = if subflow.flow.is_tcp() { 2 } else { 1 };
    let directions = directions.iter().zip(&*subflow.detours).take(count);
    let steps = directions.flat_map(|((flow, end), detours)| {
        let steps = detours.steps.iter();
        steps.map(|(at, next)| Rule {
            datapath: at.datapath,
            flow: *flow,
            fields: flow.fields(at.port),
            output: Forward {
                in_port: at.port,
                out_port: next.map_or(end.port, |link| link.from.port),
                instead: None,
            },
            copies: false,
            tells: false,
            ages: false,
        })
    });
    steps.collect()
}

/// All rules of a subflow.
pub(crate) fn all(subflow: &Subflow) -> Vec<Rule> {
    let mut all = rules(subflow);
    all.append(&mut detours(subflow));
    all
}

/// The port to send by: packets leave by the port that they came by only where it is called so.
pub(crate) fn send_by(in_port: u32, out_port: u32) -> u32 {
    if in_port == out_port {
        IN_PORT
    } else {
        out_port
    }
}

impl Rule {
    /// The message that adds the rule, by which packets are forwarded so.
    pub(crate) fn add(&self, number: u64, idle_s: u16, forward: Action) -> FlowMod {
        let mut request = self.message(FlowCommand::Add, number);
        request.instructions = self.instructions(forward);
        if self.ages {
            request.idle_timeout = idle_s;
        }
        if self.tells {
            request.flags = FlowFlags::SEND_FLOW_REM;
        }
        request
    }

    /// The message that changes what the rule does, and leaves its counters and times.
    pub(crate) fn modify(&self, number: u64, forward: Action) -> FlowMod {
        let mut request = self.message(FlowCommand::ModifyStrict, number);
        request.cookie_mask = u64::MAX;
        request.instructions = self.instructions(forward);
        request
    }

    /// The message that deletes the rule, if it still is this subflow's.
    pub(crate) fn delete(&self, number: u64) -> FlowMod {
        let mut request = self.message(FlowCommand::DeleteStrict, number);
        request.cookie_mask = u64::MAX;
        request
    }

    /// Whether both match the same packets of the same switch.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.datapath == other.datapath && self.fields == other.fields
    }

    fn message(&self, command: FlowCommand, number: u64) -> FlowMod {
        let fields = self.fields.clone();
        let mut request = messages::flow_mod(command, messages::SUBFLOW, fields);
        request.cookie = number;
        request
    }

    fn instructions(&self, forward: Action) -> Vec<Instruction> {
        let mut actions = vec![forward];
        if self.copies {
            actions.push(messages::to_controller());
        }
        vec![Instruction::ApplyActions(actions)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_known_whatever_the_order_of_its_fields() {
        let flow = Flow {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol: 6,
            source_port: 1000,
            destination_port: 80,
        };
        let own = flow.fields(7);
        // Open vSwitch has the protocol after the addresses.
        let mut told = own.clone();
        told.fields[2..5].rotate_left(1);
        assert_ne!(own, told);
        assert!(is_same(&own, &told));
        told.fields.reverse();
        assert!(is_same(&own, &told));
        for other in [flow.fields(8), flow.reversed().fields(7)] {
            assert!(!is_same(&own, &other));
        }
        told.fields.pop();
        assert!(!is_same(&own, &told) && !is_same(&told, &own));
    }
}
