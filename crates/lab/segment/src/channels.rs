//! The channels between switches and their controller: messages take the delay of the plan, and
//! their length over its rate. A channel that one end closes is opened again after a while.

use std::collections::BTreeMap;

use mptcplab_link::Nanos;
use mptcplab_openflow::Message;
use mptcplab_plan as plan;

/// The end of the channel of a switch to which a message goes. A channel has the number of the
/// switch's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recipient {
    /// The controller.
    Controller(usize),
    /// The switch.
    Switch(usize),
}

/// A message on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Of one of our ends, or for it.
    Message(Message),
    /// From one end outside to another one: as it came.
    Bytes(Vec<u8>),
}

impl Carried {
    fn bytes(&self) -> usize {
        match self {
            Self::Message(message) => {
                let mut bytes = Vec::new();
                // A message too long for its length field is not sent at all.
                message.encode(&mut bytes).ok();
                bytes.len()
            }
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Time from the end of a channel to the next one.
const RECONNECT_NS: Nanos = 1_000_000_000;

/// The channels of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    delay_ns: Nanos,
    rate_bps: Option<u64>,
    /// Messages on their way, by the time at which they arrive and the order in which they were
    /// sent.
    in_transit: BTreeMap<(Nanos, u64), (Recipient, Carried)>,
    sent: u64,
    /// The time from which each end of a channel can send again.
    free_ns: BTreeMap<Recipient, Nanos>,
    /// The times at which channels that were closed are opened again.
    closed: BTreeMap<usize, Nanos>,
}

impl Channels {
    pub(crate) fn new(planned: &plan::Controller) -> Self {
        Self {
            delay_ns: planned.channel_delay_ns,
            rate_bps: planned.channel_rate_bps,
            in_transit: BTreeMap::new(),
            sent: 0,
            free_ns: BTreeMap::new(),
            closed: BTreeMap::new(),
        }
    }

    pub(crate) fn send(&mut self, now: Nanos, to: Recipient, message: Carried) {
        let mut leaves = now;
        if let Some(rate_bps) = self.rate_bps {
            let free_ns = self.free_ns.entry(to).or_default();
            leaves = now
                .max(*free_ns)
                .saturating_add(sending_ns(&message, rate_bps));
            *free_ns = leaves;
        }
        let at = leaves.saturating_add(self.delay_ns);
        self.in_transit.insert((at, self.sent), (to, message));
        self.sent += 1;
    }

    /// Bytes that wait until the channel to an end has sent those before them.
    pub(crate) fn queued_bytes(&self, now: Nanos, to: Recipient) -> u64 {
        let free_ns = self.free_ns.get(&to).copied().unwrap_or(0);
        let waits_ns = u128::from(free_ns.saturating_sub(now));
        let rate_bps = u128::from(self.rate_bps.unwrap_or(0));
        (waits_ns * rate_bps / 8_000_000_000) as u64
    }

    /// Takes the first message that has arrived.
    pub(crate) fn receive(&mut self, now: Nanos) -> Option<(Recipient, Carried)> {
        let first = self.in_transit.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Closes the channel of a node: its messages are lost.
    pub(crate) fn close(&mut self, node: usize) {
        let ends = [Recipient::Controller(node), Recipient::Switch(node)];
        self.in_transit.retain(|_, (to, _)| !ends.contains(to));
        for end in ends {
            self.free_ns.remove(&end);
        }
    }

    /// Lets the channel of a node be opened again after a while.
    pub(crate) fn reopen_later(&mut self, now: Nanos, node: usize) {
        self.closed.insert(node, now.saturating_add(RECONNECT_NS));
    }

    /// Takes a node whose channel is to be opened again.
    pub(crate) fn reopen(&mut self, now: Nanos) -> Option<usize> {
        let due = self.closed.iter().find(|(_, at)| **at <= now);
        let node = due.map(|(node, _)| *node)?;
        self.closed.remove(&node);
        Some(node)
    }

    /// Whether no message is on its way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.in_transit.is_empty()
    }

    /// The time at which the next message arrives, or a channel is opened again.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let arriving = self.in_transit.first_key_value().map(|((at, _), _)| *at);
        arriving
            .into_iter()
            .chain(self.closed.values().copied())
            .min()
    }

    /// Goes on with a clock that shows so much less.
    pub(crate) fn set_back(&mut self, by_ns: Nanos) {
        let in_transit = std::mem::take(&mut self.in_transit).into_iter();
        let earlier = |((at, number), message): ((Nanos, u64), _)| {
            ((at.saturating_sub(by_ns), number), message)
        };
        self.in_transit = in_transit.map(earlier).collect();
        for at in self.free_ns.values_mut().chain(self.closed.values_mut()) {
            *at = at.saturating_sub(by_ns);
        }
    }
}

/// The time that a message takes at a rate.
fn sending_ns(message: &Carried, rate_bps: u64) -> Nanos {
    let bits = 8 * message.bytes() as u128;
    (bits * 1_000_000_000 / u128::from(rate_bps.max(1))) as Nanos
}

#[cfg(test)]
mod tests {
    use mptcplab_openflow::{Body, Message};

    use super::*;

    #[test]
    fn what_waits_for_the_rate_of_a_channel_is_known() {
        let mut channels = Channels::new(&plan::Controller {
            policy: Some("shortest".to_owned()),
            policy_source: None,
            argv: None,
            address: None,
            discovery_ns: 0,
            link_probe_ns: 1_000_000_000,
            tcp_fallback: false,
            channel_delay_ns: 7,
            channel_rate_bps: Some(8_000),
            sizes: plan::Sizes::Unknown,
        });
        let to = Recipient::Switch(3);
        assert_eq!(channels.queued_bytes(0, to), 0);
        for _ in 0..4 {
            let echo = Message::new(1, Body::EchoRequest(vec![0; 92]));
            channels.send(0, to, Carried::Message(echo));
        }
        // 100 bytes take a tenth of a second.
        assert_eq!(channels.queued_bytes(0, to), 400);
        assert_eq!(channels.queued_bytes(100_000_000, to), 300);
        assert_eq!(channels.queued_bytes(0, Recipient::Controller(3)), 0);
    }
}
