//! One item of the plan's traffic, from its start to its end.

use std::collections::BTreeMap;

use mptcplab_plan::{Protocol, Traffic, Way, Workload};
use mptcplab_stack::endpoint::{ConnectionId, Event};
use mptcplab_traffic::splitmix64;
use mptcplab_traffic::verdict::Tally;
use mptcplab_wire::Packet;

use super::conversation::{CLIENT, Conversation, Happening, Outline, SERVER};
use super::datagrams::{self, Datagrams};
use super::end::Role;
use super::failure::Failure;
use super::ftp::{Control, Order};
use super::http;
use super::payload::{Receive, Send};
use super::ping::Ping;
use super::request_response::{Answer, Ask, Pattern};
use super::verdict::{self, Counters};
use crate::Nanos;
use crate::core::{Core, Owner};
use crate::random::{Purpose, Random};
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
    conversations: BTreeMap<u32, Conversation>,
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
        let deadlines = self.conversations.values().map(Conversation::deadline);
        self.wake = deadlines.flatten().min();
    }

    /// The item's time has come.
    fn begin(&mut self, core: &mut Core) {
        self.stage = Stage::Running;
        self.wake = None;
        let Traffic {
            client,
            server,
            protocol,
            expected_joins,
            ..
        } = self.traffic;
        if protocol == Protocol::Mptcp && expected_joins > 0 {
            self.before = Some(Counters::read(core, client, server));
        }
        core.traffic_event(&self.traffic.name, "started");
        match self.traffic.workload {
            Workload::Bulk {
                way,
                streams,
                duration_ns,
                bytes,
                rate_bps,
            } => {
                for way in ways(way) {
                    for index in 0..streams {
                        self.open_bulk(core, *way, index, (duration_ns, bytes), rate_bps);
                    }
                }
                self.end_if_idle(core);
            }
            Workload::Http { .. } => {
                self.work = Work::Downloads { next: 0 };
                self.download(core);
            }
            Workload::RequestResponse {
                request_bytes,
                response_bytes,
                interval_ns,
                count,
            } => {
                let pattern = Pattern {
                    request_bytes,
                    response_bytes,
                    interval_ns,
                    count,
                };
                let roles: [Box<dyn Role>; 2] =
                    [Box::new(Ask::new(pattern)), Box::new(Answer::new(pattern))];
                let outline = self.outline("request_response", 0, Way::Down, roles);
                self.open(core, outline, self.traffic.port);
            }
            Workload::Ftp { way, .. } => self.log_in(core, way),
            Workload::Ping {
                interval_ns,
                count,
                payload_bytes,
            } => {
                let identifier = self.seed as u16;
                let ping = Ping::new(core.now, identifier, interval_ns, count, payload_bytes);
                self.work = Work::Ping(ping);
            }
            Workload::Datagrams {
                way,
                rate_bps,
                packet_bytes,
                duration_ns,
                on_off_ns,
            } => {
                let pattern = datagrams::Pattern {
                    rate_bps,
                    packet_bytes,
                    duration_ns,
                    on_off_ns,
                };
                let target = self.traffic.target;
                let one = |(index, &way)| {
                    let random = Random::new(self.seed, Purpose::Datagrams, index);
                    Datagrams::new(core.now, way, target, pattern, random)
                };
                self.work = Work::Datagrams(ways(way).iter().enumerate().map(one).collect());
            }
            // Refused before the run begins.
            Workload::Command { .. } => self.end(core),
        }
    }

    fn outline(
        &self,
        kind: &'static str,
        index: u32,
        way: Way,
        roles: [Box<dyn Role>; 2],
    ) -> Outline {
        Outline {
            kind,
            index,
            way,
            phase: splitmix64(self.seed, index.into()) >> 16,
            is_compared: false,
            amount: None,
            until: None,
            roles,
        }
    }

    fn open_bulk(
        &mut self,
        core: &mut Core,
        way: Way,
        index: u32,
        (duration_ns, bytes): (Option<Nanos>, Option<u64>),
        rate_bps: Option<u64>,
    ) {
        let mut roles: [Box<dyn Role>; 2] =
            [Box::new(Send::new(bytes, rate_bps)), Box::new(Receive)];
        if way == Way::Down {
            roles.reverse();
        }
        let timed = bytes.is_none().then(|| core.now + duration_ns.unwrap_or(0));
        let outline = Outline {
            is_compared: bytes.is_some(),
            amount: bytes,
            until: timed,
            ..self.outline("bulk", index, way, roles)
        };
        self.open(core, outline, self.traffic.port);
    }

    /// Begins the next download, or ends.
    fn download(&mut self, core: &mut Core) {
        let (Work::Downloads { next }, &Workload::Http { bytes, count }) =
            (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        if *next == count {
            return self.end(core);
        }
        let index = *next;
        *next += 1;
        let roles: [Box<dyn Role>; 2] = [
            Box::new(http::Client::new(bytes)),
            Box::new(http::Server::new()),
        ];
        let outline = Outline {
            is_compared: true,
            amount: Some(bytes),
            ..self.outline("http", index, Way::Down, roles)
        };
        self.open(core, outline, self.traffic.port);
    }

    /// Opens the control connection of FTP.
    fn log_in(&mut self, core: &mut Core, way: Way) {
        let mut control = Control::new(way, self.data_port());
        let connected = core.connect(
            &self.traffic,
            (self.traffic.target, self.traffic.port).into(),
        );
        match connected {
            Ok(id) => {
                core.own(self.traffic.client, id, self.owner(CONTROL, CLIENT));
                control.ids[CLIENT] = Some(id);
                self.work = Work::Files {
                    control,
                    next: 0,
                    is_complete: false,
                };
            }
            Err(why) => {
                core.warn(&self.traffic.name, &format!("FTP could not log in: {why}"));
                self.end(core);
            }
        }
    }

    /// Begins the next file's data connection.
    fn open_file(&mut self, core: &mut Core, port: u16) {
        let (
            Work::Files {
                next, is_complete, ..
            },
            &Workload::Ftp { way, bytes, .. },
        ) = (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        let index = *next;
        *next += 1;
        *is_complete = false;
        let mut roles: [Box<dyn Role>; 2] =
            [Box::new(Send::new(Some(bytes), None)), Box::new(Receive)];
        if way == Way::Down {
            roles.reverse();
        }
        let outline = Outline {
            is_compared: true,
            amount: Some(bytes),
            ..self.outline("ftp", index, way, roles)
        };
        self.open(core, outline, port);
        for conversation in self.conversations.values_mut() {
            for side in &mut conversation.sides {
                side.is_held = true;
            }
        }
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
        self.conversations.insert(number, conversation);
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

    /// Something happened to the control connection.
    fn hear(&mut self, core: &mut Core, side: usize, happening: Happening) {
        let Work::Files { control, .. } = &mut self.work else {
            return;
        };
        control.flush(core, &self.traffic, side);
        let mut orders = control.read(core, &self.traffic, side);
        if let (Happening::Closed(_), Stage::Running) = (happening, self.stage) {
            orders.push(Order::Fail("FTP: the control connection ended".to_owned()));
        }
        for order in orders {
            self.obey(core, order);
        }
    }

    /// Does what the words on the control connection mean.
    fn obey(&mut self, core: &mut Core, order: Order) {
        match order {
            Order::Connect { port } => self.open_file(core, port),
            Order::Speak { side } => {
                let Some((&number, conversation)) = self.conversations.iter_mut().next() else {
                    return;
                };
                conversation.sides[side].is_held = false;
                self.tell(core, number, side, Happening::Ready);
            }
            Order::Complete => {
                if let Work::Files { is_complete, .. } = &mut self.work {
                    *is_complete = true;
                }
                self.next_file(core);
            }
            Order::Fail(sentence) => {
                let numbers: Vec<u32> = self.conversations.keys().copied().collect();
                if numbers.is_empty() {
                    core.warn(&self.traffic.name, &sentence);
                }
                for number in numbers {
                    self.close(core, number, Err(Failure::Other(sentence.clone())));
                }
                self.end(core);
            }
        }
    }

    /// Goes on once the client has heard that a file is complete, and both ends of its connection
    /// have done their parts.
    fn next_file(&mut self, core: &mut Core) {
        let (
            Work::Files {
                control,
                next,
                is_complete: true,
            },
            &Workload::Ftp { count, .. },
            true,
        ) = (
            &mut self.work,
            &self.traffic.workload,
            self.conversations.is_empty(),
        )
        else {
            return;
        };
        if *next < count {
            return control.ask_for_port(core, &self.traffic);
        }
        control.quit(core, &self.traffic);
        self.end(core);
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

/// The ways of a traffic, one connection or stream of datagrams each.
fn ways(way: Way) -> &'static [Way] {
    match way {
        Way::Up => &[Way::Up],
        Way::Down => &[Way::Down],
        Way::Both => &[Way::Up, Way::Down],
    }
}
