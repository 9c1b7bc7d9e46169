//! One item of the plan's traffic, from its start to its end.

mod files;
mod workload;

use std::collections::BTreeMap;

use mptcplab_plan::{Traffic, Workload};
use mptcplab_stack::endpoint::{ConnectionId, Event};
use mptcplab_traffic::splitmix64;
use mptcplab_traffic::verdict::Tally;
use mptcplab_wire::Packet;

use super::conversation::{CLIENT, Conversation, Happening, Outline, SERVER};
use super::datagrams::Datagrams;
use super::failure::Failure;
use super::ftp::Control;
use super::ping::Ping;
use super::verdict::{self, Counters};
use crate::Nanos;
use crate::core::{Core, Owner};
use crate::schedule::earlier;

/// In place of a conversation's number: the control connection of FTP.
const CONTROL: u32 = u32::MAX;

/// Where an item is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    Ended,
}

/// What is particular to a workload.
#[derive(Debug)]
enum Work {
    /// Conversations that were all opened at the start.
    Parallel,
    /// Downloads; the number of the next one.
    Downloads {
        next: u32,
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

/// The item.
#[derive(Debug)]
pub(crate) struct Item {
    number: u32,
    traffic: Traffic,
    /// Seed of its content, its random choices and its pings.
    seed: u64,
    stage: Stage,
    work: Work,
    /// Boxed, for there is room for eleven in the smallest map, and most items have one.
    conversations: BTreeMap<u32, Box<Conversation>>,
    /// Number of the next conversation.
    opened: u32,
    /// Not later than any conversation's deadline.
    wake: Option<Nanos>,
    tally: Tally,
    before: Option<Counters>,
}

impl Item {
    /// Item number `number` of a run, from 0.
    pub(crate) fn new(traffic: &Traffic, run_seed: u64, number: usize) -> Self {
        Self {
            number: number as u32,
            traffic: traffic.clone(),
            seed: splitmix64(run_seed, number as u64 + 1),
            stage: Stage::Waiting,
            work: Work::Parallel,
            conversations: BTreeMap::new(),
            opened: 0,
            wake: Some(traffic.start_ns),
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

    /// The nodes where it takes packets that are not of TCP.
    pub(crate) fn packet_nodes(&self) -> Vec<usize> {
        let Traffic { client, server, .. } = self.traffic;
        match self.traffic.workload {
            Workload::Ping { .. } => vec![client],
            Workload::Datagrams { .. } => vec![client, server],
            _ => vec![],
        }
    }

    /// FTP's port for data: as different from those of other items as the port for control.
    fn data_port(&self) -> u16 {
        self.traffic.port ^ 0x8000
    }

    /// What it is to do.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// It has come to its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// When it wants to act by itself.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        match (&self.work, self.stage) {
            (_, Stage::Ended) => None,
            (Work::Ping(ping), Stage::Running) => Some(ping.deadline()),
            (Work::Datagrams(ways), Stage::Running) => ways.iter().map(Datagrams::deadline).min(),
            _ => self.wake,
        }
    }

    /// Does what is due.
    pub(crate) fn act(&mut self, core: &mut Core) {
        match self.stage {
            Stage::Waiting => self.begin(core),
            Stage::Running => {}
            Stage::Ended => return,
        }
        match &mut self.work {
            Work::Ping(ping) => {
                if ping.go(core, &self.traffic) {
                    self.end(core);
                }
            }
            Work::Datagrams(ways) => {
                ways.retain_mut(|way| {
                    let is_over = way.go(core, &self.traffic);
                    if is_over {
                        way.finish(core, &self.traffic);
                    }
                    !is_over
                });
                if ways.is_empty() {
                    self.end(core);
                }
            }
            _ => self.wake_conversations(core),
        }
    }

    /// Lets the conversations go on whose time has come.
    fn wake_conversations(&mut self, core: &mut Core) {
        let due: Vec<u32> = self
            .conversations
            .iter()
            .filter(|(_, one)| one.deadline().is_some_and(|due| due <= core.now))
            .map(|(&number, _)| number)
            .collect();
        for number in due {
            let Some(conversation) = self.conversations.get_mut(&number) else {
                continue;
            };
            if conversation.until.is_some_and(|until| until <= core.now) {
                self.close(core, number, Err(Failure::Deadline));
                continue;
            }
            let mut result = Ok(());
            for side in [CLIENT, SERVER] {
                result = result.and_then(|()| conversation.go(core, &self.traffic, side));
            }
            self.settle(core, number, result);
        }
        let deadlines = self.conversations.values().map(|one| one.deadline());
        self.wake = deadlines.flatten().min();
    }

    fn owner(&self, conversation: u32, side: usize) -> Owner {
        Owner {
            item: self.number,
            conversation,
            side: side as u8,
        }
    }

    fn open(&mut self, core: &mut Core, outline: Outline, port: u16) {
        let number = self.opened;
        self.opened += 1;
        let (conversation, result) = Conversation::open(core, &self.traffic, outline, port);
        if let Some(id) = conversation.sides[CLIENT].id {
            core.own(self.traffic.client, id, self.owner(number, CLIENT));
        }
        self.conversations.insert(number, Box::new(conversation));
        self.settle(core, number, result);
    }

    /// A server of the item has accepted a connection.
    pub(crate) fn accept(&mut self, core: &mut Core, port: u16, id: ConnectionId) {
        let node = self.traffic.server;
        if let (Work::Files { control, .. }, true) = (&mut self.work, port == self.traffic.port)
            && control.ids[SERVER].is_none()
        {
            control.ids[SERVER] = Some(id);
            core.own(node, id, self.owner(CONTROL, SERVER));
            if let Work::Files { control, .. } = &mut self.work {
                control.greet(core, &self.traffic);
            }
            return;
        }
        // By the client's address, unless something on the way changes addresses.
        let peer = core.remote_address(node, id);
        let awaiting = || {
            self.conversations
                .iter()
                .filter(|(_, one)| one.awaits_server())
        };
        let of_peer = awaiting().find(|(_, one)| one.source().is_some() && one.source() == peer);
        let Some((&number, _)) = of_peer.or_else(|| awaiting().next()) else {
            core.abort(node, id);
            return core.release(node, id);
        };
        core.own(node, id, self.owner(number, SERVER));
        if let Some(conversation) = self.conversations.get_mut(&number) {
            conversation.sides[SERVER].id = Some(id);
        }
        self.tell(core, number, SERVER, Happening::Established);
    }

    /// Something happened to a connection of the item.
    pub(crate) fn take(&mut self, core: &mut Core, owner: Owner, event: &Event) {
        let side = usize::from(owner.side);
        let happening = match *event {
            Event::Connected { .. } => Happening::Established,
            Event::Readable { .. } | Event::Writable { .. } => Happening::Ready,
            Event::Finished { .. } => Happening::Finished,
            Event::Closed { reason, .. } => Happening::Closed(reason),
            Event::SubflowEstablished { subflow, .. } if subflow.0 > 0 => Happening::Joined,
            _ => return,
        };
        if owner.conversation == CONTROL {
            self.hear(core, side, happening);
        } else {
            self.tell(core, owner.conversation, side, happening);
        }
    }

    fn tell(&mut self, core: &mut Core, number: u32, side: usize, happening: Happening) {
        let Some(conversation) = self.conversations.get_mut(&number) else {
            return;
        };
        let was_done = conversation.sides[SERVER].is_done;
        let result = conversation.take(core, &self.traffic, side, happening);
        let server_is_done = !was_done && conversation.sides[SERVER].is_done;
        let index = conversation.index();
        if let (Work::Files { control, .. }, &Workload::Ftp { bytes, .. }) =
            (&mut self.work, &self.traffic.workload)
        {
            if matches!(happening, Happening::Established) && side == CLIENT {
                control.name_file(core, &self.traffic, index, bytes);
            }
            if server_is_done {
                control.confirm(core, &self.traffic);
            }
        }
        self.settle(core, number, result);
    }

    /// Looks whether a conversation has come to its end, and when it wants to go on.
    fn settle(&mut self, core: &mut Core, number: u32, result: Result<(), Failure>) {
        let Some(conversation) = self.conversations.get(&number) else {
            return;
        };
        if result.is_err() || conversation.is_done() {
            return self.close(core, number, result);
        }
        self.wake = earlier(self.wake, conversation.deadline());
    }

    fn close(&mut self, core: &mut Core, number: u32, result: Result<(), Failure>) {
        let Some(conversation) = self.conversations.remove(&number) else {
            return;
        };
        let has_failed = result.is_err();
        conversation.end(core, &self.traffic, result, &mut self.tally);
        match self.work {
            Work::Downloads { .. } => self.download(core),
            Work::Files { .. } if !has_failed => self.next_file(core),
            _ => self.end_if_idle(core),
        }
    }

    fn end_if_idle(&mut self, core: &mut Core) {
        if self.conversations.is_empty() {
            self.end(core);
        }
    }

    /// The item has come to its end.
    fn end(&mut self, core: &mut Core) {
        if self.stage == Stage::Ended {
            return;
        }
        self.stage = Stage::Ended;
        let Traffic {
            client,
            server,
            expected_joins,
            ..
        } = self.traffic;
        if let Work::Files { control, .. } = &self.work {
            for (node, id) in [client, server].into_iter().zip(control.ids) {
                if let Some(id) = id {
                    core.shutdown(node, id);
                    core.release(node, id);
                }
            }
        }
        core.traffic_event(&self.traffic.name, "ended");
        if let Some(before) = self.before.take() {
            let nodes = [client, server];
            let warning = verdict::judge(core, nodes, &before, self.tally, expected_joins);
            if let Some(text) = warning {
                core.warn(&self.traffic.name, &text);
            }
        }
    }

    /// Ends the item early, for a reason.
    pub(crate) fn stop(&mut self, core: &mut Core, reason: &'static str) {
        match self.stage {
            Stage::Ended => return,
            Stage::Waiting => core.warn(&self.traffic.name, "the run ended before it started"),
            Stage::Running => {}
        }
        // No further download begins.
        let work = std::mem::replace(&mut self.work, Work::Parallel);
        match work {
            Work::Ping(mut ping) => ping.give_up(core, &self.traffic),
            Work::Datagrams(ways) => {
                for mut way in ways {
                    way.finish(core, &self.traffic);
                }
            }
            Work::Parallel | Work::Downloads { .. } | Work::Files { .. } => {}
        }
        let numbers: Vec<u32> = self.conversations.keys().copied().collect();
        for number in numbers {
            self.close(core, number, Err(Failure::Stopped(reason)));
        }
        self.end(core);
    }

    /// A packet of neither TCP nor an echo request has reached one of the item's nodes; says
    /// whether it was the item's.
    pub(crate) fn take_packet(&mut self, core: &mut Core, node: usize, packet: &Packet) -> bool {
        let traffic = &self.traffic;
        match &mut self.work {
            Work::Ping(ping) if node == traffic.client => {
                let is_own = ping.take(core, traffic, packet);
                if is_own && ping.go(core, traffic) {
                    self.end(core);
                }
                is_own
            }
            Work::Datagrams(ways) => {
                let is_own = packet
                    .socket_addresses()
                    .is_some_and(|(_, to)| to.port() == traffic.port);
                if is_own {
                    for way in ways {
                        way.take(core, traffic, node, packet.payload.len());
                    }
                }
                is_own
            }
            _ => false,
        }
    }

    /// The connections of its client's side.
    pub(crate) fn client_connections(&self) -> Vec<ConnectionId> {
        let conversations = self.conversations.values();
        conversations
            .filter_map(|one| one.sides[CLIENT].id)
            .collect()
    }
}
