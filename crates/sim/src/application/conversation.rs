//! One connection of an item of traffic, both ends of which are ours, from its start to its end.

use std::net::{IpAddr, SocketAddr};

use mptcplab_plan::{Protocol, Traffic, Way};
use mptcplab_record::Transfer;
use mptcplab_stack::endpoint::ConnectionId;
use mptcplab_stack::tcp::CloseReason;
use mptcplab_traffic::Content;
use mptcplab_traffic::verdict::Tally;

use super::end::{Account, End, Progress, Role};
use super::failure::{Failure, complete};
use crate::Nanos;
use crate::core::Core;
use crate::probe;

/// Index of the client's end; the server's is the other.
pub(super) const CLIENT: usize = 0;
pub(super) const SERVER: usize = 1;

/// What one end is doing.
#[derive(Debug)]
pub(super) struct Side {
    node: usize,
    /// Its connection, once there is one.
    pub(super) id: Option<ConnectionId>,
    role: Box<dyn Role>,
    /// It waits for a word before it begins to speak.
    pub(super) is_held: bool,
    is_established: bool,
    has_finished: bool,
    pub(super) is_done: bool,
    /// Additional subflows that its connection has had.
    joins: u32,
}

impl Side {
    fn new(node: usize, role: Box<dyn Role>) -> Self {
        Self {
            node,
            id: None,
            role,
            is_held: false,
            is_established: false,
            has_finished: false,
            is_done: false,
            joins: 0,
        }
    }
}

/// What happens to one end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    /// The connection stands.
    Established,
    /// There is something to read or room to write, or the role's time has come.
    Ready,
    /// The other end sends no more.
    Finished,
    /// The connection has ended.
    Closed(CloseReason),
    /// An additional subflow stands.
    Joined,
}

/// How a conversation is to be.
pub(super) struct Outline {
    pub(super) kind: &'static str,
    pub(super) index: u32,
    pub(super) way: Way,
    /// What it carries.
    pub(super) content: Content,
    /// What comes is compared with the content.
    pub(super) is_compared: bool,
    /// Payload that must have come at the end.
    pub(super) amount: Option<u64>,
    /// It ends at this time, and that is no failure.
    pub(super) until: Option<Nanos>,
    pub(super) roles: [Box<dyn Role>; 2],
}

/// The conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    kind: &'static str,
    amount: Option<u64>,
    pub(super) until: Option<Nanos>,
    start_ns: Nanos,
    pub(super) connected_ns: Option<Nanos>,
    source: Option<SocketAddr>,
    target: SocketAddr,
    pub(super) sides: [Side; 2],
    account: Account,
}

impl Conversation {
    /// Begins to connect; fails at once where there is no way.
    pub(super) fn open(
        core: &mut Core,
        traffic: &Traffic,
        outline: Outline,
        port: u16,
    ) -> (Self, Result<(), Failure>) {
        let [client, server] = outline.roles;
        let target = SocketAddr::new(traffic.target, port);
        let mut this = Self {
            kind: outline.kind,
            amount: outline.amount,
            until: outline.until,
            start_ns: core.now,
            connected_ns: None,
            source: None,
            target,
            sides: [
                Side::new(traffic.client, client),
                Side::new(traffic.server, server),
            ],
            account: Account::new(
                outline.index,
                outline.way,
                outline.content,
                outline.is_compared,
            ),
        };
        let result = match core.connect(traffic, target) {
            Ok(id) => {
                this.sides[CLIENT].id = Some(id);
                Ok(())
            }
            Err(why) => Err(Failure::Io(this.connecting(traffic.source), why)),
        };
        (this, result)
    }

    /// What was tried, in the kernel engine's words.
    fn connecting(&self, source: Option<IpAddr>) -> String {
        let from = source.map_or_else(String::new, |source| format!(" from {source}"));
        format!("connect to {}{from}", self.target)
    }

    pub(super) fn index(&self) -> u32 {
        self.account.index
    }

    /// Whether the server's end is still to come.
    pub(super) fn awaits_server(&self) -> bool {
        self.sides[SERVER].id.is_none()
    }

    /// The client's address, once it is known.
    pub(super) fn source(&self) -> Option<SocketAddr> {
        self.source
    }

    /// When it wants to go on by itself.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let roles = self.sides.iter().filter(|side| !side.is_done);
        let roles = roles.filter_map(|side| side.role.deadline());
        roles.chain(self.until).min()
    }

    /// Both ends have done their parts.
    pub(super) fn is_done(&self) -> bool {
        self.sides.iter().all(|side| side.is_done)
    }

    /// Takes note of what happens to one end, which then goes on.
    pub(super) fn take(
        &mut self,
        core: &mut Core,
        traffic: &Traffic,
        side: usize,
        happening: Happening,
    ) -> Result<(), Failure> {
        let this = &mut self.sides[side];
        match happening {
            Happening::Established => {
                this.is_established = true;
                if side == CLIENT {
                    self.connected_ns = Some(core.now);
                    self.source = this
                        .id
                        .and_then(|id| core.local_address(traffic.client, id));
                    if let Some(id) = this.id {
                        open_subflows(core, traffic, id);
                    }
                }
            }
            Happening::Ready => {}
            Happening::Finished => this.has_finished = true,
            Happening::Joined => {
                this.joins += 1;
                return Ok(());
            }
            Happening::Closed(reason) => {
                if this.is_done {
                    return Ok(());
                }
                // What came before the end is still to be read.
                if this.is_established {
                    self.go(core, traffic, side)?;
                }
                return match self.sides[side].is_done {
                    true => Ok(()),
                    false => Err(self.failure(core, traffic, side, reason)),
                };
            }
        }
        self.go(core, traffic, side)
    }

    /// Lets one end go on as far as it can.
    pub(super) fn go(
        &mut self,
        core: &mut Core,
        traffic: &Traffic,
        side: usize,
    ) -> Result<(), Failure> {
        let this = &mut self.sides[side];
        let (Some(id), true) = (
            this.id,
            this.is_established && !this.is_held && !this.is_done,
        ) else {
            return Ok(());
        };
        let mut end = End {
            core,
            traffic: &traffic.name,
            node: this.node,
            id,
            target: self.target,
            has_finished: this.has_finished,
            account: &mut self.account,
        };
        this.is_done = this.role.go(&mut end)? == Progress::Done;
        Ok(())
    }

    fn failure(&self, core: &Core, traffic: &Traffic, side: usize, reason: CloseReason) -> Failure {
        let why = describe(reason);
        if side == CLIENT && self.connected_ns.is_none() {
            let what = self.connecting(traffic.source);
            if reason == CloseReason::TimedOut {
                let elapsed = (core.now - self.start_ns) as f64 / 1e9;
                return Failure::Other(format!("{what}: {why} after {elapsed:.1} s"));
            }
            return Failure::Io(what, why);
        }
        Failure::Io(self.sides[side].role.operation().to_owned(), why)
    }

    /// Ends the conversation: writes the last samples and its row, and closes both ends.
    pub(super) fn end(
        mut self,
        core: &mut Core,
        traffic: &Traffic,
        result: Result<(), Failure>,
        tally: &mut Tally,
    ) {
        self.abandon(core, traffic);
        let states = [CLIENT, SERVER].map(|side| {
            let Side { node, id, .. } = self.sides[side];
            id.map(|id| probe::write_final_samples(core, node, id))
        });
        self.account.finish(core, &traffic.name);
        let deliveries = &self.account.deliveries;
        let mut end_ns = deliveries.last_ns;
        let timed_out = result == Err(Failure::Deadline);
        let result = match result {
            Err(Failure::Deadline) if self.connected_ns.is_none() => {
                let what = self.connecting(traffic.source);
                let elapsed = (core.now - self.start_ns) as f64 / 1e9;
                Err(Failure::Other(format!(
                    "{what}: no answer after {elapsed:.1} s"
                )))
            }
            Err(Failure::Deadline) => {
                end_ns = self.until;
                match deliveries.bytes {
                    0 => Err(Failure::Other("no byte was delivered".to_owned())),
                    _ => Ok(()),
                }
            }
            result => result.and_then(|()| {
                let amount = self.amount.unwrap_or(deliveries.bytes);
                complete(deliveries.bytes, amount)
            }),
        };
        let client = states[CLIENT].filter(|_| traffic.protocol == Protocol::Mptcp);
        let is_multipath = client.is_some_and(|client| client.is_multipath);
        let joins = states
            .iter()
            .zip(&self.sides)
            .filter(|(state, _)| state.is_some());
        let joins = joins.map(|(_, side)| side.joins).min();
        let row = Transfer {
            traffic: &traffic.name,
            kind: self.kind,
            index: self.account.index,
            client: &core.nodes[traffic.client].name,
            server: &core.nodes[traffic.server].name,
            way: self.account.way,
            protocol: traffic.protocol,
            fallback: client.map(|_| !is_multipath),
            token: client.and_then(|client| client.token),
            source: self.source,
            target: self.target,
            start_ns: self.start_ns,
            connected_ns: self.connected_ns,
            first_byte_ns: deliveries.first_ns,
            end_ns,
            bytes: deliveries.bytes,
            joins: client.and(if is_multipath { joins } else { Some(0) }),
            longest_silence_ns: deliveries.silence.map(|silence| silence.length_ns),
            longest_silence_at_ns: deliveries.silence.map(|silence| silence.at_ns),
            error: result.as_ref().err().map(ToString::to_string),
        };
        tally.count(
            row.joins,
            traffic.expected_joins,
            row.fallback == Some(true),
        );
        core.recorder.write("transfers", row);
        for side in &self.sides {
            let Some(id) = side.id else { continue };
            // What is still under way would only disturb what comes after.
            if timed_out || result.is_err() {
                core.abort(side.node, id);
            }
            core.release(side.node, id);
        }
    }

    /// Lets the roles write what is left to write.
    fn abandon(&mut self, core: &mut Core, traffic: &Traffic) {
        for this in &mut self.sides {
            let (Some(id), false) = (this.id, this.is_done) else {
                continue;
            };
            let mut end = End {
                core,
                traffic: &traffic.name,
                node: this.node,
                id,
                target: self.target,
                has_finished: this.has_finished,
                account: &mut self.account,
            };
            this.role.abandon(&mut end);
        }
    }
}

/// Why a connection ended, in the kernel's words.
fn describe(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Refused => "connection refused",
        CloseReason::TimedOut => "connection timed out",
        _ => "connection reset by peer",
    }
}

/// The subflows that the application opens by itself.
fn open_subflows(core: &mut Core, traffic: &Traffic, id: ConnectionId) {
    for own in &traffic.subflows {
        let remote = (own.target, traffic.port).into();
        if let Err(problem) = core.open_subflow(traffic.client, id, own.source, remote) {
            core.warn(&traffic.name, &problem);
        }
    }
}
