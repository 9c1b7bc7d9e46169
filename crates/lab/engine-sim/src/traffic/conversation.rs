//! One connection of a flow with both of its ends, from its start to its end.

use std::net::SocketAddr;

use mptcplab_plan::{Protocol, Traffic, Way};
use mptcplab_record::{Join, Transfer};
use mptcplab_stack::{CloseReason, ConnectionId};
use mptcplab_traffic::verdict::Tally;
use mptcplab_traffic::{Content, Failure, complete, connecting, delivered};

use super::connection_event::{ConnectionEvent, describe};
use super::end::{Account, End, Progress, Role};
use super::side::{CLIENT, SERVER, Side};
use super::wake_up::WakeUps;
use crate::Nanos;
use crate::network::Network;
use crate::telemetry;

/// The parameters of a conversation.
pub(super) struct Outline {
    pub(super) kind: &'static str,
    pub(super) index: u32,
    pub(super) way: Way,
    /// Its payload.
    pub(super) content: Content,
    /// Received bytes are compared with the content.
    pub(super) is_compared: bool,
    /// Payload that must have come at the end.
    pub(super) amount: Option<u64>,
    /// It ends at this time, and that is no failure.
    pub(super) until: Option<Nanos>,
    pub(super) roles: [Box<dyn Role>; 2],
    /// How long the programs of both ends sleep on.
    pub(super) wake_ups: WakeUps,
}

/// The conversation.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    kind: &'static str,
    amount: Option<u64>,
    pub(super) until: Option<Nanos>,
    start_ns: Nanos,
    pub(super) connected_ns: Option<Nanos>,
    source: Option<SocketAddr>,
    target: SocketAddr,
    pub(super) sides: [Side; 2],
    wake_ups: WakeUps,
    account: Account,
}

impl Conversation {
    /// Begins to connect; fails at once without a route.
    pub(super) fn open(
        network: &mut Network,
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
            start_ns: network.now,
            connected_ns: None,
            source: None,
            target,
            sides: [
                Side::new(traffic.client, client),
                Side::new(traffic.server, server),
            ],
            wake_ups: outline.wake_ups,
            account: Account::new(
                outline.index,
                outline.way,
                outline.content,
                outline.is_compared,
            ),
        };
        let result = match network.connect(traffic, target) {
            Ok(id) => {
                this.sides[CLIENT].id = Some(id);
                Ok(())
            }
            Err(why) => Err(Failure::Io(
                connecting(target, traffic.source),
                why.to_owned(),
            )),
        };
        (this, result)
    }

    /// Seconds since the start.
    fn elapsed(&self, network: &Network) -> f64 {
        (network.now - self.start_ns) as f64 / 1e9
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

    /// The time at which it advances by itself.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let sides = self.sides.iter().filter(|side| !side.is_done);
        let times = sides.filter_map(|side| side.awake_at.or_else(|| side.role.deadline()));
        times.chain(self.until).min()
    }

    /// Whether both ends are done.
    pub(super) fn is_done(&self) -> bool {
        self.sides.iter().all(|side| side.is_done)
    }

    /// Takes an event of one end, and advances it. A program that sleeps has to wake up first: each
    /// until payload has come, then as its role has it ([`Role::sleeps`]).
    pub(super) fn on_event(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        side: usize,
        event: ConnectionEvent,
    ) -> Result<(), Failure> {
        let this = &mut self.sides[side];
        match event {
            ConnectionEvent::Established => {
                this.is_established = true;
                if side == CLIENT {
                    self.connected_ns = Some(network.now);
                    self.source = this
                        .id
                        .and_then(|id| network.local_address(traffic.client, id));
                    if let Some(id) = this.id {
                        open_subflows(network, traffic, id);
                    }
                }
                if this.role.listens() {
                    this.has_run = true;
                    return Ok(());
                }
                if side == SERVER {
                    // Its worker is not kept waiting, and announces first.
                    let at = self.wake_ups.accepting(network.now, traffic.protocol);
                    this.awake_at = Some(at);
                    return Ok(());
                }
            }
            ConnectionEvent::Ready => {}
            ConnectionEvent::Finished => this.has_finished = true,
            ConnectionEvent::Joined => {
                this.joined_ns.push(network.now);
                return Ok(());
            }
            ConnectionEvent::Closed(reason) => {
                if this.is_done {
                    return Ok(());
                }
                // Data that came before the end is still to be read.
                this.awake_at = None;
                if this.is_established {
                    self.advance(network, traffic, side)?;
                }
                return match self.sides[side].is_done {
                    true => Ok(()),
                    false => Err(self.failure(network, traffic, side, reason)),
                };
            }
        }
        let this = &mut self.sides[side];
        if self.account.deliveries.bytes == 0 || this.role.sleeps(traffic.protocol) {
            if this.awake_at.is_none() {
                let has_run = this.has_run;
                let at = self.wake_ups.next(network.now, traffic.protocol, has_run);
                this.run_until(network, at);
            }
            return Ok(());
        }
        self.advance(network, traffic, side)
    }

    /// Advances one end as far as possible, once its program is awake.
    pub(super) fn advance(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        side: usize,
    ) -> Result<(), Failure> {
        let this = &mut self.sides[side];
        if this.awake_at.is_some_and(|at| at > network.now) {
            return Ok(());
        }
        this.awake_at = None;
        this.has_run = true;
        let (Some(id), true) = (
            this.id,
            this.is_established && !this.is_paused && !this.is_done,
        ) else {
            return Ok(());
        };
        let mut end = End {
            network,
            traffic: &traffic.name,
            node: this.node,
            id,
            target: self.target,
            has_finished: this.has_finished,
            account: &mut self.account,
        };
        match this.role.advance(&mut end)? {
            Progress::Waiting if side == SERVER => {
                let until = self.wake_ups.answered(network.now);
                network.keep_busy(this.node, until);
            }
            Progress::Waiting => {}
            Progress::NextCall => {
                let at = self.wake_ups.next_call(network.now);
                this.run_until(network, at);
            }
            Progress::Done => this.is_done = true,
        }
        Ok(())
    }

    fn failure(
        &self,
        network: &Network,
        traffic: &Traffic,
        side: usize,
        reason: CloseReason,
    ) -> Failure {
        let why = describe(reason);
        if side == CLIENT && self.connected_ns.is_none() {
            let operation = connecting(self.target, traffic.source);
            if reason == CloseReason::TimedOut {
                return Failure::timed_out(&operation, why, self.elapsed(network));
            }
            return Failure::Io(operation, why.to_owned());
        }
        let operation = self.sides[side].role.operation();
        Failure::Io(operation.to_owned(), why.to_owned())
    }

    /// Ends the conversation: writes the last samples and its row, and closes both ends.
    pub(super) fn end(
        mut self,
        network: &mut Network,
        traffic: &Traffic,
        result: Result<(), Failure>,
        tally: &mut Tally,
    ) {
        self.abandon(network, traffic);
        let states = [CLIENT, SERVER].map(|side| {
            let Side { node, id, .. } = self.sides[side];
            id.map(|id| telemetry::write_final_samples(network, node, id))
        });
        self.account.finish(network, &traffic.name);
        let deliveries = &self.account.deliveries;
        let mut end_ns = deliveries.last_ns;
        let timed_out = result == Err(Failure::Deadline);
        let result = match result {
            Err(Failure::Deadline) if self.connected_ns.is_none() => {
                let operation = connecting(self.target, traffic.source);
                Err(Failure::no_answer(&operation, self.elapsed(network)))
            }
            Err(Failure::Deadline) => {
                end_ns = self.until;
                delivered(deliveries.bytes)
            }
            result => result.and_then(|()| {
                let amount = self.amount.unwrap_or(deliveries.bytes);
                complete(deliveries.bytes, amount)
            }),
        };
        let client = states[CLIENT].filter(|_| traffic.protocol == Protocol::Mptcp);
        let is_multipath = client.is_some_and(|client| client.is_multipath);
        let joins = self.joined_ns(states.map(|state| state.is_some()));
        let joins = joins.filter(|_| is_multipath).unwrap_or_default();
        let row = Transfer {
            traffic: &traffic.name,
            kind: self.kind,
            index: self.account.index,
            client: &network.nodes[traffic.client].name,
            server: &network.nodes[traffic.server].name,
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
            joins: client.map(|_| joins.len() as u32),
            longest_silence_ns: deliveries.silence.map(|silence| silence.length_ns),
            longest_silence_at_ns: deliveries.silence.map(|silence| silence.at_ns),
            error: result.as_ref().err().map(ToString::to_string),
        };
        tally.count(
            row.joins,
            traffic.expected_joins,
            row.fallback == Some(true),
        );
        network.recorder.write(row);
        for (number, &t_ns) in (1..).zip(joins) {
            network.recorder.write(Join {
                traffic: &traffic.name,
                index: self.account.index,
                way: self.account.way,
                number,
                t_ns,
            });
        }
        for side in &self.sides {
            let Some(id) = side.id else { continue };
            // Data that is still under way would only disturb the flows that come after.
            if timed_out || result.is_err() {
                network.abort(side.node, id);
            }
            network.release(side.node, id);
        }
    }

    /// When each additional subflow was established, at the end with fewer of them, of those that
    /// are there: a join counts when both ends have it.
    fn joined_ns(&self, there: [bool; 2]) -> Option<&[Nanos]> {
        let sides = self.sides.iter().zip(there).filter(|(_, there)| *there);
        sides
            .map(|(side, _)| &side.joined_ns[..])
            .min_by_key(|joined| joined.len())
    }

    /// Lets the roles write their last rows.
    fn abandon(&mut self, network: &mut Network, traffic: &Traffic) {
        for this in &mut self.sides {
            let (Some(id), false) = (this.id, this.is_done) else {
                continue;
            };
            let mut end = End {
                network,
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

/// The subflows that the application opens by itself.
fn open_subflows(network: &mut Network, traffic: &Traffic, id: ConnectionId) {
    for own in &traffic.subflows {
        let remote = (own.target, traffic.port).into();
        if let Err(problem) = network.open_subflow(traffic.client, id, own.source, remote) {
            network.warn(&traffic.name, &problem);
        }
    }
}
