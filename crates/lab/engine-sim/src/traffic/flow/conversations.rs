//! The connections of a flow, from their opening to their end.

use mptcplab_plan::Workload;
use mptcplab_stack::{ConnectionId, Event};

use super::{CONTROL, Flow, Work};
use crate::Nanos;
use crate::network::{Network, Owner};
use crate::schedule::earlier;
use crate::traffic::connection_event::ConnectionEvent;
use crate::traffic::conversation::{Conversation, Outline};
use crate::traffic::side::{CLIENT, SERVER};
use mptcplab_traffic::Failure;

impl Flow {
    /// Advances the conversations that are due, and begins the download that is.
    pub(super) fn wake_conversations(&mut self, network: &mut Network) {
        if self
            .next_download_at()
            .is_some_and(|due| due <= network.now)
        {
            self.download(network);
        }
        // Those that are opened meanwhile have their own time.
        let mut left = 0..self.opened;
        let now = network.now;
        while let Some((&number, conversation)) = self
            .conversations
            .range_mut(left.clone())
            .find(|(_, one)| one.deadline().is_some_and(|due| due <= now))
        {
            left.start = number + 1;
            if conversation.until.is_some_and(|until| until <= network.now) {
                self.close(network, number, Err(Failure::Deadline));
                continue;
            }
            let mut result = Ok(());
            for side in [CLIENT, SERVER] {
                result = result.and_then(|()| conversation.advance(network, &self.traffic, side));
            }
            self.settle(network, number, result);
        }
        let deadlines = self.conversations.values().map(|one| one.deadline());
        self.wake = deadlines.flatten().chain(self.next_download_at()).min();
    }

    /// When the next download begins, once the one before has ended.
    fn next_download_at(&self) -> Option<Nanos> {
        match self.work {
            Work::Downloads { at, .. } => at,
            _ => None,
        }
    }

    pub(super) fn open(&mut self, network: &mut Network, outline: Outline, port: u16) {
        let number = self.opened;
        self.opened += 1;
        let way = outline.way;
        let (conversation, result) = Conversation::open(network, &self.traffic, outline, port);
        if let Some(id) = conversation.sides[CLIENT].id {
            network.own_opened(self.traffic.client, id, self.owner(number, CLIENT), way);
        }
        self.conversations.insert(number, Box::new(conversation));
        self.settle(network, number, result);
    }

    /// Takes a connection that a server of the flow has accepted.
    pub(crate) fn accept(&mut self, network: &mut Network, port: u16, id: ConnectionId) {
        let node = self.traffic.server;
        if let (Work::Files { control, .. }, true) = (&mut self.work, port == self.traffic.port)
            && control.ids[SERVER].is_none()
        {
            control.ids[SERVER] = Some(id);
            network.own(node, id, self.owner(CONTROL, SERVER));
            if let Work::Files { control, .. } = &mut self.work {
                control.greet(network, &self.traffic);
            }
            return;
        }
        // By the client's address, unless something on the way changes addresses.
        let peer = network.remote_address(node, id);
        let awaiting = || {
            self.conversations
                .iter()
                .filter(|(_, one)| one.awaits_server())
        };
        let of_peer = awaiting().find(|(_, one)| one.source().is_some() && one.source() == peer);
        let Some((&number, _)) = of_peer.or_else(|| awaiting().next()) else {
            network.abort(node, id);
            return network.release(node, id);
        };
        network.own(node, id, self.owner(number, SERVER));
        if let Some(conversation) = self.conversations.get_mut(&number) {
            conversation.sides[SERVER].id = Some(id);
        }
        self.on_connection_event(network, number, SERVER, ConnectionEvent::Established);
    }

    /// Takes an event of one of its connections.
    pub(crate) fn on_event(&mut self, network: &mut Network, owner: Owner, event: &Event) {
        let side = usize::from(owner.side);
        let event = match *event {
            Event::Connected { .. } => ConnectionEvent::Established,
            Event::Readable { .. } | Event::Writable { .. } => ConnectionEvent::Ready,
            Event::Finished { .. } => ConnectionEvent::Finished,
            Event::Closed { reason, .. } => ConnectionEvent::Closed(reason),
            Event::SubflowEstablished { subflow, .. } if subflow.0 > 0 => ConnectionEvent::Joined,
            _ => return,
        };
        if owner.conversation == CONTROL {
            self.on_control_event(network, side, event);
        } else {
            self.on_connection_event(network, owner.conversation, side, event);
        }
    }

    pub(super) fn on_connection_event(
        &mut self,
        network: &mut Network,
        number: u32,
        side: usize,
        event: ConnectionEvent,
    ) {
        let Some(conversation) = self.conversations.get_mut(&number) else {
            return;
        };
        let result = conversation.on_event(network, &self.traffic, side, event);
        let index = conversation.index();
        if let (Work::Files { control, .. }, &Workload::Ftp { bytes, .. }) =
            (&mut self.work, &self.traffic.workload)
            && matches!(event, ConnectionEvent::Established)
            && side == CLIENT
        {
            control.name_file(network, &self.traffic, index, bytes);
        }
        self.settle(network, number, result);
    }

    /// Closes a conversation that has ended, or notes its deadline. A server that is done with a
    /// file says so.
    fn settle(&mut self, network: &mut Network, number: u32, result: Result<(), Failure>) {
        let Some(conversation) = self.conversations.get_mut(&number) else {
            return;
        };
        if conversation.sides[SERVER].take_done_news()
            && let Work::Files { control, .. } = &mut self.work
        {
            control.confirm(network, &self.traffic);
        }
        if result.is_err() || conversation.is_done() {
            return self.close(network, number, result);
        }
        self.wake = earlier(self.wake, conversation.deadline());
    }

    pub(super) fn close(
        &mut self,
        network: &mut Network,
        number: u32,
        result: Result<(), Failure>,
    ) {
        let Some(conversation) = self.conversations.remove(&number) else {
            return;
        };
        let has_failed = result.is_err();
        conversation.end(network, &self.traffic, result, &mut self.tally);
        match self.work {
            Work::Downloads { .. } => self.next_download(network),
            Work::Files { .. } if !has_failed => self.next_file(network),
            _ => self.end_if_idle(network),
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
