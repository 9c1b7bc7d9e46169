//! The controller: its state, and what it is given.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;

use mptcplab_openflow::multipart::Request;
use mptcplab_openflow::{Body, Message, port};

use crate::config::Config;
use crate::events::{Event, Events};
use crate::forwarding::Install;
use crate::forwarding::review::Counted;
use crate::forwarding::waiting::{Cause, Received, Waiting};
use crate::link_use::LinkUse;
use crate::messages;
use crate::new_subflows::NewSubflows;
use crate::output::{ConnectionId, Output};
use crate::past_traffic::PastTraffic;
use crate::paths::PathTable;
use crate::policy::Policy;
use crate::session::Session;
use crate::subflows::{Sizes, Table};
use crate::timers::{Timer, Timers};
use crate::topology::{Hosts, Topology};

/// A controller.
#[derive(Clone)]
pub struct Controller {
    pub(crate) config: Config,
    pub(crate) policy: Box<dyn Policy>,
    /// The time of what is being done.
    pub(crate) now_ns: u64,
    /// Results of what is being done.
    pub(crate) outbox: Vec<Output>,
    pub(crate) timers: Timers,
    pub(crate) sessions: BTreeMap<ConnectionId, Session>,
    pub(crate) topology: Topology,
    pub(crate) hosts: Hosts,
    pub(crate) paths: PathTable,
    pub(crate) table: Table,
    pub(crate) sizes: Sizes,
    /// Subflows whose rules are being installed.
    pub(crate) installs: HashMap<u64, Install>,
    /// The subflow that a barrier belongs to, by datapath and transaction.
    pub(crate) barriers: BTreeMap<(u64, u32), u64>,
    pub(crate) waiting: Waiting,
    /// Packets that have waited, and go on after what is being done.
    pub(crate) released: VecDeque<Received>,
    /// Subflows on each link, but for those of transfers that are over.
    pub(crate) link_use: LinkUse,
    /// Traffic of such.
    pub(crate) past_traffic: PastTraffic,
    /// Those of them that measured loads do not have yet.
    pub(crate) new_subflows: NewSubflows,
    pub(crate) events: Events,
    /// The number of the next frame of discovery.
    pub(crate) next_number: u64,
    /// The time of the last round of discovery, or of the begin.
    pub(crate) discovered_ns: u64,
    /// The time of the last round of echo requests, or of the begin.
    pub(crate) asked_ns: u64,
    /// The times at which the counters of ports were last asked for, the earlier one first.
    pub(crate) read_ns: [u64; 2],
    /// The connections whose counters are read for reviews.
    pub(crate) counted: Counted,
    next_xid: u32,
}

impl Controller {
    /// A controller without switches.
    pub fn new(config: Config, policy: Box<dyn Policy>) -> Self {
        // An interval of nothing would never let time go on.
        let config = Config {
            discovery_interval_ns: config.discovery_interval_ns.max(1),
            load_interval_ns: config.load_interval_ns.max(1),
            count_interval_ns: config.count_interval_ns.max(1),
            ..config
        };
        Self {
            sizes: Sizes::new(&config.sizes),
            config,
            policy,
            now_ns: 0,
            outbox: Vec::new(),
            timers: Timers::default(),
            sessions: BTreeMap::new(),
            topology: Topology::default(),
            hosts: Hosts::default(),
            paths: PathTable::default(),
            table: Table::default(),
            installs: HashMap::new(),
            barriers: BTreeMap::new(),
            waiting: Waiting::default(),
            released: VecDeque::new(),
            link_use: LinkUse::default(),
            past_traffic: PastTraffic::default(),
            new_subflows: NewSubflows::default(),
            events: Events::default(),
            next_number: 1,
            discovered_ns: 0,
            asked_ns: 0,
            read_ns: [0; 2],
            counted: Counted::default(),
            next_xid: 1,
        }
    }

    /// Takes the connection of a switch, which gets a hello.
    pub fn connect(&mut self, now_ns: u64, connection: ConnectionId, out: &mut Vec<Output>) {
        self.advance(now_ns, out);
        if self.sessions.is_empty() {
            self.start_timers();
        }
        self.begin(connection);
        out.append(&mut self.outbox);
    }

    /// Forgets the connection of a switch.
    pub fn disconnect(&mut self, now_ns: u64, connection: ConnectionId, out: &mut Vec<Output>) {
        self.advance(now_ns, out);
        self.end(connection);
        out.append(&mut self.outbox);
    }

    /// Takes a message of a switch.
    pub fn receive_message(
        &mut self,
        now_ns: u64,
        connection: ConnectionId,
        message: &Message,
        out: &mut Vec<Output>,
    ) {
        self.advance(now_ns, out);
        self.take_message(connection, message);
        self.go_on();
        out.append(&mut self.outbox);
    }

    /// The time at which [`advance`](Self::advance) is to be called, if nothing comes before.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next()
    }

    /// Does all that is due.
    pub fn advance(&mut self, now_ns: u64, out: &mut Vec<Output>) {
        // Timers that are late fire at the present time: a caller that was stopped for long has not
        // given switches the time to answer.
        self.now_ns = self.now_ns.max(now_ns);
        while let Some(timer) = self.timers.pop_due(self.now_ns) {
            self.fire(timer);
            self.go_on();
        }
        out.append(&mut self.outbox);
    }

    /// The datapath of the switch at a connection, as soon as it has said its features.
    pub fn datapath_of(&self, connection: ConnectionId) -> Option<u64> {
        self.sessions.get(&connection)?.datapath()
    }

    /// Takes the size of the transfers of a server, as an application tells it. It counts for
    /// connections that are opened from now on. `false`: those of too many servers are known.
    pub fn tell_size(&mut self, server: SocketAddr, bytes: u64) -> bool {
        let is_taken = self.sizes.tell(server, bytes);
        self.prepare();
        is_taken
    }

    /// Takes the packets that were released.
    fn go_on(&mut self) {
        while let Some(packet) = self.released.pop_front() {
            self.receive_frame(packet);
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::Echo => self.ask_echoes(),
            Timer::Discovery => self.discover(),
            Timer::Between(at) => self.probe_between(at),
            Timer::Load => self.read_load(),
            Timer::Review => self.review(),
            Timer::Settled(at) => self.release(Cause::Port(at)),
            Timer::Waiting(cause @ (Cause::Port(_) | Cause::Barrier(..))) => self.release(cause),
            Timer::Waiting(cause @ (Cause::Host(_) | Cause::Bytes(_))) => {
                self.waiting.forget(cause);
            }
            Timer::Waiting(cause @ Cause::Token(_)) => {
                for packet in self.waiting.take(cause) {
                    self.forward_unknown_join(packet);
                }
            }
            Timer::Probe(ip) => self.end_probe(ip),
            Timer::Install(number) => self.give_up_install(number),
            Timer::Count(connection) => self.count(connection),
            Timer::Forget(connection) => self.forget(connection),
        }
    }

    fn start_timers(&mut self) {
        let (discovery_ns, load_ns) = (
            self.config.discovery_interval_ns,
            self.config.load_interval_ns,
        );
        let echo_ns = self.echo_interval_ns();
        (self.discovered_ns, self.asked_ns) = (self.now_ns, self.now_ns);
        self.timers.restart(self.now_ns + echo_ns, Timer::Echo);
        self.timers
            .restart(self.now_ns + discovery_ns, Timer::Discovery);
        self.timers.restart(self.now_ns + load_ns, Timer::Load);
    }

    /// Asks all switches for the counters of their ports.
    fn read_load(&mut self) {
        let interval_ns = self.config.load_interval_ns;
        self.timers.set(self.now_ns + interval_ns, Timer::Load);
        self.timers
            .set(self.now_ns + interval_ns / 2, Timer::Review);
        self.read_ns = [self.read_ns[1], self.now_ns];
        self.new_subflows.forget_old(self.now_ns);
        self.past_traffic.forget_before(self.read_ns[0]);
        let datapaths: Vec<u64> = self.topology.switches.keys().copied().collect();
        for datapath in datapaths {
            let all = Request::PortStats(port::number::ANY);
            self.send(datapath, messages::request(all));
        }
        self.count_reviewed();
    }

    pub(crate) fn note(&mut self, event: Event) {
        self.events.add(self.now_ns, event);
    }

    pub(crate) fn new_xid(&mut self) -> u32 {
        let xid = self.next_xid;
        // Zero is what messages have that nothing was asked by.
        self.next_xid = xid.checked_add(1).unwrap_or(1);
        xid
    }

    /// Sends a message on a connection, and returns its transaction.
    pub(crate) fn say(&mut self, connection: ConnectionId, body: Body) -> u32 {
        let xid = self.new_xid();
        self.say_as(connection, xid, body);
        xid
    }

    pub(crate) fn say_as(&mut self, connection: ConnectionId, xid: u32, body: Body) {
        self.outbox.push(Output::Message {
            connection,
            message: Message::new(xid, body),
        });
    }

    /// Sends a message to a switch, if it has a connection, and returns its transaction.
    pub(crate) fn send(&mut self, datapath: u64, body: Body) -> u32 {
        let xid = self.new_xid();
        self.send_as(datapath, xid, body);
        xid
    }

    pub(crate) fn send_as(&mut self, datapath: u64, xid: u32, body: Body) {
        let switch = self.topology.switches.get(&datapath);
        if let Some(connection) = switch.and_then(|switch| switch.connection) {
            self.say_as(connection, xid, body);
        }
    }
}
