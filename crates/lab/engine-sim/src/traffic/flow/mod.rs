//! One flow of the plan's traffic, from its start to its end.

mod conversations;
mod files;
mod planned;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use mptcplab_plan::{Plan, Traffic, Workload};
use mptcplab_traffic::splitmix64;
use mptcplab_traffic::verdict::Tally;
use mptcplab_wire::Packet;

use self::planned::Planned;
use super::conversation::Conversation;
use super::datagrams::Datagrams;
use super::ftp::Control;
use super::ping::Ping;
use super::verdict::{self, Counters};
use crate::Nanos;
use crate::network::{Network, Owner};
use mptcplab_traffic::Failure;

/// In place of a conversation's number: the control connection of FTP.
const CONTROL: u32 = u32::MAX;

/// The stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    Ended,
}

/// State that depends on the workload.
#[derive(Clone, Debug)]
enum Work {
    /// Conversations that were all opened at the start.
    Parallel,
    /// Downloads; the number of the next one, and when it begins, once the one before has ended.
    Downloads {
        next: u32,
        at: Option<Nanos>,
    },
    /// Files over FTP; the number of the next one, and whether the client has heard that the one
    /// under way is complete.
    Files {
        control: Control,
        next: u32,
        is_complete: bool,
    },
    Ping(Ping),
    Datagrams(Vec<Datagrams>),
}

/// The flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    number: u32,
    traffic: Planned,
    /// Seed of its content, its random choices and its pings.
    seed: u64,
    stage: Stage,
    work: Work,
    /// Boxed, for there is room for eleven in the smallest map, and most flows have one.
    conversations: BTreeMap<u32, Box<Conversation>>,
    /// Number of the next conversation.
    opened: u32,
    /// Not later than any conversation's deadline.
    wake: Option<Nanos>,
    tally: Tally,
    before: Option<Counters>,
}

impl Flow {
    /// Flow number `number` of a run, from 0.
    pub(crate) fn new(plan: &Arc<Plan>, number: usize) -> Self {
        let traffic = Planned::new(plan, number);
        Self {
            number: number as u32,
            seed: splitmix64(plan.seed, number as u64 + 1),
            stage: Stage::Waiting,
            work: Work::Parallel,
            conversations: BTreeMap::new(),
            opened: 0,
            wake: Some(traffic.start_ns),
            traffic,
            tally: Tally::default(),
            before: None,
        }
    }

    /// The ports on which its server listens.
    pub(crate) fn listening_ports(&self) -> Vec<u16> {
        match self.traffic.workload {
            Workload::Ftp { .. } => vec![self.traffic.port, self.data_port()],
            Workload::Ping { .. } | Workload::Datagrams { .. } | Workload::Command { .. } => vec![],
            _ => vec![self.traffic.port],
        }
    }

    /// The nodes where it takes packets other than TCP.
    pub(crate) fn packet_nodes(&self) -> Vec<usize> {
        let Traffic { client, server, .. } = *self.traffic;
        match self.traffic.workload {
            Workload::Ping { .. } => vec![client],
            Workload::Datagrams { .. } => vec![client, server],
            _ => vec![],
        }
    }

    /// FTP's data port: as different from those of other flows as the control port.
    fn data_port(&self) -> u16 {
        self.traffic.port ^ 0x8000
    }

    /// Its part of the plan.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// The time at which it acts by itself.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        match (&self.work, self.stage) {
            (_, Stage::Ended) => None,
            (Work::Ping(ping), Stage::Running) => Some(ping.deadline()),
            (Work::Datagrams(ways), Stage::Running) => ways.iter().map(Datagrams::deadline).min(),
            _ => self.wake,
        }
    }

    /// Does what is due.
    pub(crate) fn act(&mut self, network: &mut Network) {
        match self.stage {
            Stage::Waiting => self.begin(network),
            Stage::Running => {}
            Stage::Ended => return,
        }
        match &mut self.work {
            Work::Ping(ping) => {
                if ping.go(network, &self.traffic) {
                    self.end(network);
                }
            }
            Work::Datagrams(ways) => {
                ways.retain_mut(|way| {
                    let is_over = way.go(network, &self.traffic);
                    if is_over {
                        way.finish(network, &self.traffic);
                    }
                    !is_over
                });
                if ways.is_empty() {
                    self.end(network);
                }
            }
            _ => self.wake_conversations(network),
        }
    }

    fn owner(&self, conversation: u32, side: usize) -> Owner {
        Owner {
            flow: self.number,
            conversation,
            side: side as u8,
        }
    }

    fn end_if_idle(&mut self, network: &mut Network) {
        if self.conversations.is_empty() {
            self.end(network);
        }
    }

    /// Ends the flow.
    fn end(&mut self, network: &mut Network) {
        if self.stage == Stage::Ended {
            return;
        }
        self.stage = Stage::Ended;
        let Traffic {
            client,
            server,
            expected_joins,
            ..
        } = *self.traffic;
        if let Work::Files { control, .. } = &self.work {
            for (node, id) in [client, server].into_iter().zip(control.ids) {
                if let Some(id) = id {
                    network.shutdown(node, id);
                    network.release(node, id);
                }
            }
        }
        network.traffic_event(&self.traffic.name, "ended");
        if let Some(before) = self.before.take() {
            let nodes = [client, server];
            let warning = verdict::warning(network, nodes, &before, self.tally, expected_joins);
            if let Some(text) = warning {
                network.warn(&self.traffic.name, &text);
            }
        }
    }

    /// Ends the flow early, for a reason.
    pub(crate) fn stop(&mut self, network: &mut Network, reason: &'static str) {
        match self.stage {
            Stage::Ended => return,
            Stage::Waiting => network.warn(&self.traffic.name, "the run ended before it started"),
            Stage::Running => {}
        }
        // No further download begins.
        let work = std::mem::replace(&mut self.work, Work::Parallel);
        match work {
            Work::Ping(mut ping) => ping.give_up(network, &self.traffic),
            Work::Datagrams(ways) => {
                for mut way in ways {
                    way.finish(network, &self.traffic);
                }
            }
            Work::Parallel | Work::Downloads { .. } | Work::Files { .. } => {}
        }
        let numbers: Vec<u32> = self.conversations.keys().copied().collect();
        for number in numbers {
            self.close(network, number, Err(Failure::Stopped(reason)));
        }
        self.end(network);
    }

    /// Takes a packet other than TCP and echo requests that has reached one of the flow's nodes;
    /// says whether it was the flow's.
    pub(crate) fn take_packet(
        &mut self,
        network: &mut Network,
        node: usize,
        packet: &Packet,
    ) -> bool {
        let traffic = &self.traffic;
        match &mut self.work {
            Work::Ping(ping) if node == traffic.client => {
                let is_own = ping.take(network, traffic, packet);
                if is_own && ping.go(network, traffic) {
                    self.end(network);
                }
                is_own
            }
            Work::Datagrams(ways) => {
                let is_own = packet
                    .socket_addresses()
                    .is_some_and(|(_, to)| to.port() == traffic.port);
                if is_own {
                    for way in ways {
                        way.take(network, traffic, node, packet.payload.len());
                    }
                }
                is_own
            }
            _ => false,
        }
    }
}
