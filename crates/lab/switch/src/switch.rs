//! The switch: its state, and what it is given.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use mptcplab_openflow::port::{PortReason, PortStatus};
use mptcplab_openflow::setup::{SwitchConfig, fragments};
use mptcplab_openflow::{Body, Hello, Message, port};

use crate::account::Account;
use crate::buffers::Buffers;
use crate::config::{Config, PortSetup};
use crate::controller::{ControllerId, Controllers, Event};
use crate::entries::Removed;
use crate::group::Groups;
use crate::meter::Meter;
use crate::output::Output;
use crate::ports::SwitchPort;
use crate::table::Table;

/// Bytes of a packet that the controller gets, unless it says otherwise (section 7.3.2).
const MISS_SEND_LEN: u16 = 128;

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    pub(crate) config: Config,
    pub(crate) tables: Vec<Table>,
    pub(crate) groups: Groups,
    pub(crate) meters: BTreeMap<u32, Meter>,
    pub(crate) ports: BTreeMap<u32, SwitchPort>,
    pub(crate) buffers: Buffers,
    pub(crate) controllers: Controllers,
    /// Entries with timeouts: the time at which they are looked at, table, slot.
    pub(crate) timers: BTreeSet<(u64, u8, usize)>,
    pub(crate) settings: SwitchConfig,
    pub(crate) account: Account,
    pub(crate) removed: Removed,
    /// How often something has changed that decides on the ways of packets.
    pub(crate) changes: u64,
}

impl Switch {
    /// A switch without entries: it drops every packet.
    ///
    /// # Panics
    ///
    /// If it has no table, or a port with a reserved number.
    pub fn new(config: Config) -> Self {
        assert!(config.tables > 0, "a switch has a table at least");
        let mut switch = Self {
            tables: vec![Table::default(); config.tables.into()],
            groups: Groups::default(),
            meters: BTreeMap::new(),
            ports: BTreeMap::new(),
            buffers: Buffers::new(config.buffers),
            controllers: Controllers::default(),
            timers: BTreeSet::new(),
            settings: SwitchConfig {
                flags: fragments::NORMAL,
                miss_send_len: MISS_SEND_LEN,
            },
            account: Account::default(),
            removed: Removed::default(),
            changes: 0,
            config,
        };
        for setup in std::mem::take(&mut switch.config.ports) {
            switch.put_port(0, setup);
        }
        switch
    }

    /// The account of packets.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Packets in buffers.
    pub fn buffered_now(&self) -> usize {
        self.buffers.len()
    }

    /// Takes the connection of a controller, which gets a hello.
    pub fn connect(&mut self, controller: ControllerId, out: &mut Vec<Output>) {
        self.controllers.add(controller);
        let hello = Body::Hello(Hello::ours());
        out.push(Output::Message {
            controller,
            message: Message::new(0, hello),
        });
    }

    /// Forgets the connection of a controller. Entries stay, as in the mode "fail secure" (section
    /// 6.3.3).
    pub fn disconnect(&mut self, controller: ControllerId) {
        self.controllers.remove(controller);
    }

    /// Takes a frame, without its check sequence, that comes in by a port.
    pub fn receive_packet(&mut self, now_ns: u64, port: u32, frame: Bytes, out: &mut Vec<Output>) {
        self.advance(now_ns, out);
        self.account.received += 1;
        self.process_received(now_ns, port, frame, out);
    }

    /// Takes a message of a controller. Errors go back to it, with its transaction id.
    pub fn receive_message(
        &mut self,
        now_ns: u64,
        controller: ControllerId,
        message: &Message,
        out: &mut Vec<Output>,
    ) {
        self.advance(now_ns, out);
        self.changes += 1;
        self.answer(now_ns, controller, message, out);
    }

    /// The time at which [`advance`](Self::advance) is to be called, if nothing comes before. There
    /// may be nothing to do then, when packets have kept an entry.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.first().map(|(at_ns, ..)| *at_ns)
    }

    /// Does all that is due: removes entries whose timeouts are over.
    pub fn advance(&mut self, now_ns: u64, out: &mut Vec<Output>) {
        while let Some(&(at_ns, table, slot)) = self.timers.first()
            && at_ns <= now_ns
        {
            self.timers.pop_first();
            self.changes += 1;
            self.expire(at_ns, table, slot, out);
        }
    }

    /// Adds a port; controllers are told.
    ///
    /// # Panics
    ///
    /// If the number is reserved, or there is such a port.
    pub fn add_port(&mut self, now_ns: u64, setup: PortSetup, out: &mut Vec<Output>) {
        let port = setup.port;
        self.changes += 1;
        self.put_port(now_ns, setup);
        self.tell_port(PortReason::Add, port, out);
    }

    /// Takes a port away, if there is one; controllers are told. Entries stay, and what they send
    /// there is dropped.
    pub fn remove_port(&mut self, port: u32, out: &mut Vec<Output>) {
        self.changes += 1;
        self.tell_port(PortReason::Delete, port, out);
        self.ports.remove(&port);
        self.groups.ports_changed();
    }

    /// Says whether a port has a link; controllers are told of a change.
    pub fn set_link(&mut self, port: u32, up: bool, out: &mut Vec<Output>) {
        if let Some(found) = self.ports.get_mut(&port)
            && found.setup.link_up != up
        {
            found.setup.link_up = up;
            self.changes += 1;
            self.groups.ports_changed();
            self.tell_port(PortReason::Modify, port, out);
        }
    }

    fn put_port(&mut self, now_ns: u64, setup: PortSetup) {
        let port = setup.port;
        assert!(
            (1..=port::number::MAX).contains(&port),
            "port {port} is reserved"
        );
        let previous = self.ports.insert(port, SwitchPort::new(setup, now_ns));
        assert!(previous.is_none(), "there are two ports {port}");
        self.groups.ports_changed();
    }

    /// Tells the controllers of a port's change.
    pub(crate) fn tell_port(&mut self, reason: PortReason, port: u32, out: &mut Vec<Output>) {
        if let Some(found) = self.ports.get(&port) {
            let port = found.description();
            let status = Body::PortStatus(PortStatus { reason, port });
            self.tell(Event::PortStatus(reason), &status, out);
        }
    }

    /// Sends a message to all controllers that want it, and returns how many these are.
    pub(crate) fn tell(&self, event: Event, body: &Body, out: &mut Vec<Output>) -> usize {
        let wanting = self.controllers.wanting(event);
        for controller in &wanting {
            out.push(Output::Message {
                controller: *controller,
                message: Message::new(0, body.clone()),
            });
        }
        wanting.len()
    }

    pub(crate) fn has_port(&self, port: u32) -> bool {
        self.ports.contains_key(&port)
    }

    pub(crate) fn has_group(&self, group: u32) -> bool {
        self.groups.get(group).is_some()
    }

    pub(crate) fn has_meter(&self, meter: u32) -> bool {
        self.meters.contains_key(&meter)
    }

    pub(crate) fn has_queue(&self, queue: u32) -> bool {
        self.ports.values().any(|port| port.has_queue(queue))
    }
}
