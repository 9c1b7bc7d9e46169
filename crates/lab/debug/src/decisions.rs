//! Decisions of the stacks, told apart by what has changed from one event of the simulator to the
//! next.

use std::collections::{BTreeMap, HashMap};

use mptcplab_engine_sim::{Actor, Seen, World};
use mptcplab_stack::{ConnectionId, Event, HostStack, NotedChoice, SubflowDetail, SubflowId};

use crate::choice::choice_text;
use crate::stop::Happening;

/// The name of a scheduler's choice, which has to be noted by the stacks.
pub(crate) const CHOICE: &str = "scheduler choice";

/// The names of decisions, and what else happens to connections.
pub const KINDS: [&str; 14] = [
    CHOICE,
    "connection opened",
    "connection closed",
    "subflow opened",
    "subflow established",
    "subflow closed",
    "join accepted",
    "join refused",
    "address announced",
    "congestion window reduced",
    "retransmission",
    "reinjection",
    "window closed",
    "fallback",
];

/// Counters of joins that were refused, and why.
const REFUSALS: [(&str, &str); 4] = [
    (
        "MPTcpExtMPJoinNoTokenFound",
        "its token names no connection",
    ),
    (
        "MPTcpExtMPJoinSynAckHMacFailure",
        "the HMAC of its SYN/ACK is wrong",
    ),
    (
        "MPTcpExtMPJoinAckHMacFailure",
        "the HMAC of its third ACK is wrong",
    ),
    ("MPTcpExtMPJoinRejected", "there are enough subflows"),
];

/// The state of a subflow after the last event.
#[derive(Clone, Copy)]
struct KnownSubflow {
    id: SubflowId,
    is_established: bool,
    retransmissions: u64,
    timeouts: u64,
    congestion_state: &'static str,
    cwnd_bytes: u64,
    zero_windows: u64,
}

#[derive(Clone, Default)]
struct KnownEnd {
    subflows: Vec<KnownSubflow>,
    reinjected_bytes: u64,
}

/// The state of all connections after the last event, to be compared with that after the next.
pub(crate) struct Watch {
    ends: BTreeMap<(usize, ConnectionId), KnownEnd>,
    refused: BTreeMap<usize, [u64; REFUSALS.len()]>,
    numbers: Numbers,
}

impl Watch {
    /// The state of a world now.
    pub(crate) fn new(world: &World) -> Self {
        let mut watch = Self {
            ends: BTreeMap::new(),
            refused: BTreeMap::new(),
            numbers: Numbers::default(),
        };
        let mut nothing = Vec::new();
        for node in 0..world.plan().nodes.len() {
            watch.compare_node(world, node, &Seen::default(), &mut nothing);
        }
        watch
    }

    /// Tells all that an event of the simulator, which `actor` has brought, has changed.
    pub(crate) fn compare(
        &mut self,
        world: &World,
        actor: Actor,
        seen: &Seen,
        out: &mut Vec<Happening>,
    ) {
        match actor {
            Actor::Link(_) | Actor::Controller | Actor::Sampler => {}
            Actor::Node(node) => self.compare_node(world, node, seen, out),
            Actor::Flow(_) | Actor::Timeline | Actor::Limit => {
                for node in 0..world.plan().nodes.len() {
                    self.compare_node(world, node, seen, out);
                }
            }
        }
        self.tell_events(world, seen, out);
    }

    /// Fallbacks, addresses and ends of connections, which the stacks tell themselves.
    fn tell_events(&mut self, world: &World, seen: &Seen, out: &mut Vec<Happening>) {
        for &(node, ref event) in &seen.events {
            let (kind, id, text) = match event {
                Event::Fallback { id, reason } => ("fallback", *id, (*reason).to_owned()),
                Event::AddressAnnounced {
                    id,
                    address_id,
                    address,
                } => (
                    "address announced",
                    *id,
                    format!("{} with id {address_id}", address.ip()),
                ),
                Event::Closed { id, reason } => ("connection closed", *id, format!("{reason:?}")),
                _ => continue,
            };
            self.tell(world, kind, (node, id), None, text, out);
        }
    }

    /// The choices of schedulers at the last event, each with what it saw.
    pub(crate) fn tell_choices(
        &mut self,
        world: &World,
        choices: &[((usize, ConnectionId), NotedChoice)],
        out: &mut Vec<Happening>,
    ) {
        for (end, noted) in choices {
            let chosen = noted.subflows.get(noted.choice.subflow);
            let subflow = chosen.map(|chosen| SubflowId(chosen.id));
            self.tell(world, CHOICE, *end, subflow, choice_text(noted), out);
        }
    }

    fn compare_node(&mut self, world: &World, node: usize, seen: &Seen, out: &mut Vec<Happening>) {
        let Some(stack) = world.stack(node) else {
            return;
        };
        let ids: Vec<_> = stack.connections().collect();
        for &id in &ids {
            self.compare_end(world, stack, (node, id), seen, out);
        }
        let mut gone = self
            .ends
            .range((node, ConnectionId(0))..=(node, ConnectionId(u64::MAX)));
        if gone.clone().count() > ids.len() {
            let gone: Vec<_> = gone
                .by_ref()
                .map(|(&key, _)| key)
                .filter(|(_, id)| !ids.contains(id))
                .collect();
            for end in gone {
                let known = self.ends.remove(&end).unwrap_or_default();
                for subflow in known.subflows {
                    self.tell_closed(world, end, subflow.id, seen, out);
                }
            }
        }
        self.compare_refusals(world, stack, node, out);
    }

    fn compare_end(
        &mut self,
        world: &World,
        stack: &HostStack,
        end: (usize, ConnectionId),
        seen: &Seen,
        out: &mut Vec<Happening>,
    ) {
        let is_new = !self.ends.contains_key(&end);
        let mut known = self.ends.remove(&end).unwrap_or_default();
        let reinjected = stack
            .data_detail(end.1)
            .map_or(0, |data| data.reinjected_bytes);
        if is_new && let Some(info) = stack.info(end.1) {
            let text = format!("{} to {}", info.local, info.remote);
            self.tell(world, "connection opened", end, None, text, out);
        }
        if reinjected > known.reinjected_bytes {
            let text = format!("{} bytes", reinjected - known.reinjected_bytes);
            self.tell(world, "reinjection", end, None, text, out);
        }
        known.reinjected_bytes = reinjected;
        let ids = stack.subflow_ids(end.1);
        let mut subflows = Vec::with_capacity(ids.len());
        for &id in &ids {
            let Some(detail) = stack.subflow_detail(end.1, id) else {
                continue;
            };
            let before = known.subflows.iter().find(|one| one.id == id).copied();
            self.compare_subflow(world, end, before, &detail, out);
            subflows.push(KnownSubflow::of(&detail));
        }
        for gone in known.subflows.iter().filter(|one| !ids.contains(&one.id)) {
            self.tell_closed(world, end, gone.id, seen, out);
        }
        known.subflows = subflows;
        self.ends.insert(end, known);
    }

    fn compare_subflow(
        &mut self,
        world: &World,
        end: (usize, ConnectionId),
        before: Option<KnownSubflow>,
        detail: &SubflowDetail,
        out: &mut Vec<Happening>,
    ) {
        let now = KnownSubflow::of(detail);
        let tuple = detail.info.tcp.tuple;
        let between = || format!("{} to {}", tuple.local, tuple.remote);
        let subflow = Some(now.id);
        if before.is_none() {
            let kind = "subflow opened";
            let by = if detail.initiated_here {
                "by this end"
            } else {
                "by the peer"
            };
            self.tell(
                world,
                kind,
                end,
                subflow,
                format!("{}, {by}", between()),
                out,
            );
        }
        if now.is_established && before.is_none_or(|before| !before.is_established) {
            self.tell(world, "subflow established", end, subflow, between(), out);
            if !detail.initiated_here && now.id.0 > 0 {
                self.tell(world, "join accepted", end, subflow, between(), out);
            }
        }
        let Some(before) = before else {
            return;
        };
        let begun =
            now.congestion_state != before.congestion_state && now.congestion_state != "Open";
        if begun || now.timeouts > before.timeouts {
            let text = format!(
                "{}, from {} to {} bytes",
                match now.congestion_state {
                    "Loss" => "retransmission timeout",
                    "CWR" => "ECN echo",
                    _ => "loss",
                },
                before.cwnd_bytes,
                now.cwnd_bytes
            );
            self.tell(world, "congestion window reduced", end, subflow, text, out);
        }
        if now.retransmissions > before.retransmissions {
            let segments = now.retransmissions - before.retransmissions;
            let text = format!("{segments} segments of {}", between());
            self.tell(world, "retransmission", end, subflow, text, out);
        }
        if now.zero_windows > before.zero_windows {
            self.tell(world, "window closed", end, subflow, between(), out);
        }
    }

    fn compare_refusals(
        &mut self,
        world: &World,
        stack: &HostStack,
        node: usize,
        out: &mut Vec<Happening>,
    ) {
        let counters = stack.counters();
        let count = |name: &str| {
            let found = counters.iter().find(|(other, _)| *other == name);
            found.map_or(0, |&(_, count)| count)
        };
        let now = REFUSALS.map(|(name, _)| count(name));
        let before = self.refused.insert(node, now).unwrap_or(now);
        for (place, (_, why)) in REFUSALS.iter().enumerate() {
            if now[place] > before[place] {
                out.push(Happening::at_node(
                    world,
                    "join refused",
                    node,
                    (*why).to_owned(),
                ));
            }
        }
    }

    fn tell_closed(
        &mut self,
        world: &World,
        end: (usize, ConnectionId),
        gone: SubflowId,
        seen: &Seen,
        out: &mut Vec<Happening>,
    ) {
        let reason = seen.events.iter().find_map(|(node, event)| match event {
            Event::SubflowClosed {
                id,
                subflow,
                reason,
            } => ((*node, *id) == end && *subflow == gone).then(|| format!("{reason:?}")),
            _ => None,
        });
        let text = reason.unwrap_or_default();
        self.tell(world, "subflow closed", end, Some(gone), text, out);
    }

    fn tell(
        &mut self,
        world: &World,
        kind: &'static str,
        (node, id): (usize, ConnectionId),
        subflow: Option<SubflowId>,
        text: String,
        out: &mut Vec<Happening>,
    ) {
        out.push(Happening {
            connection: self.numbers.of(world, (node, id)),
            subflow: subflow.map(|subflow| subflow.0),
            ..Happening::at_node(world, kind, node, text)
        });
    }
}

impl KnownSubflow {
    fn of(detail: &SubflowDetail) -> Self {
        Self {
            id: detail.info.id,
            is_established: !matches!(detail.stage, "opening"),
            retransmissions: detail.info.tcp.retransmissions,
            timeouts: detail.tcp.timeouts,
            congestion_state: detail.tcp.congestion_state,
            cwnd_bytes: detail.info.tcp.window_bytes,
            zero_windows: detail.tcp.zero_windows,
        }
    }
}

/// The numbers of connections in the order of their opening.
#[derive(Clone, Default)]
struct Numbers {
    known: HashMap<(usize, ConnectionId), usize>,
    looked_at: usize,
    /// Those whose server has not accepted yet.
    half: Vec<usize>,
}

impl Numbers {
    fn of(&mut self, world: &World, end: (usize, ConnectionId)) -> Option<usize> {
        let half = std::mem::take(&mut self.half);
        let new = self.looked_at..world.opened_connections();
        self.looked_at = new.end;
        for number in half.into_iter().chain(new) {
            let Some(opened) = world.opened_connection(number) else {
                continue;
            };
            for (node, id) in opened.ends {
                match id {
                    Some(id) => {
                        self.known.insert((node, id), number);
                    }
                    None => self.half.push(number),
                }
            }
        }
        self.known.get(&end).copied()
    }
}
