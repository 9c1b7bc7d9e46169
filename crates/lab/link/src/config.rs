//! Settings of a link, at its making and while it works.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Nanos;

/// A link: two directions, and whether they share the medium.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Whether both directions can send at once.
    pub duplex: Duplex,
    /// Treatment of packets, by direction.
    pub directions: [DirectionConfig; 2],
}

/// Whether both directions can send at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// Each direction has a serialiser of its own, as on a cable.
    #[default]
    Full,
    /// Both directions share one serialiser, as on a WiFi channel: the queues that have something
    /// to send take turns, a packet a turn, each at the rate of its direction.
    Half,
}

/// Treatment of packets in one direction of a link.
///
/// The default is a perfect wire: no limit, no delay, no loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionConfig {
    /// Rate of serialisation.
    pub rate: Rate,
    /// Size of the token bucket of a fixed rate; a rate of another kind has none.
    ///
    /// The bucket is full at first and fills at the rate. A packet that comes to its turn takes as
    /// many tokens as it has bytes, framing included, and leaves as soon as the bucket owes none:
    /// at once where it held enough. So in any time t at most this and rate × t leave, as by the
    /// token bucket filter of Linux, tc-tbf(8), without a peak rate. A packet larger than the
    /// bucket, which tc-tbf drops, leaves when the rate has made up for what the bucket lacks. With
    /// 0 a packet leaves when its last bit has been sent.
    #[serde(default)]
    pub burst_bytes: u64,
    /// Shortest time between two packets that the token bucket lets through at once, as a packet
    /// takes some time in whatever sends it; never more than at the rate alone. Plans leave it to the
    /// engine.
    #[serde(skip)]
    pub least_packet_ns: Nanos,
    /// Bytes added to each IP packet for what the layer below costs; counted by the serialiser
    /// only. Ethernet: 38 (preamble 8, header 14, frame check sequence 4, gap 12).
    pub framing_bytes: u32,
    /// One-way propagation delay, from the end of serialisation to the delivery.
    pub delay_ns: Nanos,
    /// Variation of the delay.
    pub jitter: Jitter,
    /// Loss after serialisation: a lost packet has used its share of the rate.
    pub loss: Loss,
    /// Packets that are held back, so that others overtake them.
    pub reordering: Option<Reordering>,
    /// Probability that a delivered packet is delivered twice. The copy is made after
    /// serialisation and loss and arrives with its original.
    pub duplication: f64,
    /// Where packets wait for the serialiser.
    pub queue: QueueConfig,
    /// A direction that is down drops everything.
    pub up: bool,
}

impl Default for DirectionConfig {
    fn default() -> Self {
        Self {
            rate: Rate::Unlimited,
            burst_bytes: 0,
            least_packet_ns: 0,
            framing_bytes: 0,
            delay_ns: 0,
            jitter: Jitter::None,
            loss: Loss::None,
            reordering: None,
            duplication: 0.0,
            queue: QueueConfig::default(),
            up: true,
        }
    }
}

/// Rate of serialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rate {
    /// Serialisation takes no time.
    #[serde(deserialize_with = "nothing_more")]
    Unlimited,
    /// A constant rate. The fraction of a nanosecond left by each packet is carried to the next,
    /// so that packets sent back to back take ⌈bits / rate⌉ in total.
    Fixed {
        /// Bits a second, framing included.
        bits_per_second: u64,
    },
    /// Delivery opportunities as Mahimahi replays them (Netravali et al., "Mahimahi: Accurate
    /// Record-and-Replay for HTTP", USENIX ATC 2015; `mm-link(1)`).
    ///
    /// Each opportunity carries up to 1504 bytes of packets that were offered before it. A packet
    /// may need several opportunities and leaves with its last; what an opportunity has left goes
    /// to the packets that wait behind, and is lost where none waits. `framing_bytes` 4 counts
    /// packets as Mahimahi does.
    ///
    /// On a half-duplex link, where a direction has the medium for a time and not for a moment, each
    /// opportunity stands for 1504 bytes in the millisecond that ends with it: packets are sent at
    /// the rate of the millisecond, and begin only in one that has a rate. A packet that a
    /// millisecond without a rate interrupts keeps the medium.
    Trace {
        /// Time of each opportunity in milliseconds since the trace began, in order; several may
        /// have the same time. The trace begins with the link or with the change that brings it,
        /// and repeats from the time of its last entry.
        opportunities_ms: Vec<u64>,
    },
}

/// Variation of the propagation delay around `delay_ns`, drawn anew for each packet. The delay
/// never becomes negative.
///
/// Packets keep their order: one that would arrive before its predecessor arrives with it. On a
/// busy link the delay therefore tends to the upper end of the distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Jitter {
    /// The delay is constant.
    #[serde(deserialize_with = "nothing_more")]
    None,
    /// Every whole nanosecond from `-range_ns` to `+range_ns` is equally likely.
    Uniform {
        /// Largest deviation.
        range_ns: Nanos,
    },
    /// Normally distributed.
    Normal {
        /// Standard deviation.
        sd_ns: Nanos,
    },
}

/// Which packets are lost after serialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// None.
    #[serde(deserialize_with = "nothing_more")]
    None,
    /// Each packet independently.
    Random {
        /// Probability of loss.
        probability: f64,
    },
    /// Bursts: a two-state Markov chain that starts in the good state and steps before each packet
    /// (Gilbert 1960, Elliott 1963). A run of bad packets is 1/r long in the mean; the chain is bad
    /// for p/(p+r) of the packets.
    GilbertElliott {
        /// Probability of the step from good to bad.
        p: f64,
        /// Probability of the step from bad to good.
        r: f64,
        /// Probability of loss in the good state.
        loss_good: f64,
        /// Probability of loss in the bad state.
        loss_bad: f64,
    },
}

/// Packets that are held back after their delay, so that others overtake them. Nothing else makes
/// packets overtake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Probability that a packet is held back.
    pub probability: f64,
    /// Length of the delay beyond the time at which it would have been delivered in order.
    pub extra_ns: Nanos,
}

/// Where packets wait for the serialiser.
///
/// The limits count packets that wait, without the one in serialisation and without framing. A
/// packet that finds its queue empty and the serialiser free is always taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Most packets that wait; a packet beyond it is dropped on arrival.
    pub limit_packets: Option<u32>,
    /// Most bytes of IP packets that wait; a packet beyond it is dropped on arrival.
    pub limit_bytes: Option<u64>,
    /// Discipline that drops packets besides.
    pub discipline: Discipline,
}

/// Discipline of a queue beside dropping packets beyond its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Discipline {
    /// Nothing.
    #[default]
    #[serde(deserialize_with = "nothing_more")]
    DropTail,
    /// Drops at the head packets that waited too long (RFC 8289).
    #[serde(rename = "codel")]
    CoDel {
        /// Acceptable standing delay; 5 ms by RFC 8289, section 4.3.
        target_ns: Nanos,
        /// Time in which the delay must fall below the target once; 100 ms by the same.
        interval_ns: Nanos,
    },
}

/// New parameters; those that are `None` stay. Applied whole or, where refused, not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkChange {
    /// Which direction changes, 0 or 1; both where `None`.
    pub direction: Option<usize>,
    /// A packet in serialisation sends what remains of it at the new rate. From one fixed rate to
    /// another the bucket keeps its tokens; where the old rate is none, it begins full.
    pub rate: Option<Rate>,
    /// Size of the token bucket of a fixed rate. The bucket keeps its tokens, as far as they are
    /// within the new size.
    pub burst_bytes: Option<u64>,
    /// For packets whose serialisation ends from now on; these still arrive in order.
    pub delay_ns: Option<Nanos>,
    /// For packets whose serialisation ends from now on.
    pub jitter: Option<Jitter>,
    /// For packets whose serialisation ends from now on. From one Gilbert–Elliott model to another
    /// the state is kept.
    pub loss: Option<Loss>,
    /// For packets whose serialisation ends from now on; probability 0 ends it.
    pub reordering: Option<Reordering>,
    /// For packets whose serialisation ends from now on.
    pub duplication: Option<f64>,
    /// Both limits of the queue. Packets that wait already are kept.
    pub limits: Option<QueueLimits>,
    /// Going down drops the packets that wait or are in serialisation, not those on their way.
    pub up: Option<bool>,
}

/// Limits of a queue, as in [`QueueConfig`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimits {
    /// Most packets that wait.
    pub limit_packets: Option<u32>,
    /// Most bytes of IP packets that wait.
    pub limit_bytes: Option<u64>,
}

/// Reads a variant that has a kind and no other key: serde itself would let others pass there.
fn nothing_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NothingMore {}

    NothingMore::deserialize(deserializer).map(|NothingMore {}| ())
}
