//! Schedulers: which subflow carries the next data of a connection.
//!
//! A scheduler is a function of a [`View`]: what the connection has to send and how its subflows
//! stand. It answers with a [`Choice`], or with `None` to wait until something changes: an
//! acknowledgement, more data, another subflow. It is asked again until it waits, and the same
//! view must get the same answer, so that a run can be repeated.
//!
//! A scheduler that always takes the subflow with the largest congestion window:
//!
//! ```
//! use mptcplab_stack::scheduler::{Choice, Scheduler, View};
//!
//! #[derive(Clone, Debug)]
//! struct LargestWindow;
//!
//! impl Scheduler for LargestWindow {
//!     fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
//!         let candidates = view.preferred().filter(|(_, subflow)| subflow.has_room());
//!         let (best, _) = candidates.max_by_key(|(_, subflow)| subflow.window_bytes)?;
//!         view.new_data(best, view.segment_bytes(best))
//!     }
//! }
//! ```

mod blest;
mod default;
mod ecf;
mod external;
mod lowest_rtt;
mod opportunistic;
mod redundant;
mod round_robin;

use alloc::boxed::Box;

pub use blest::Blest;
pub use default::{BURST_BYTES, Default};
pub use ecf::Ecf;
pub use external::External;
pub use lowest_rtt::LowestRtt;
pub use opportunistic::{Retransmission, opportunistic_retransmission};
pub use redundant::Redundant;
pub use round_robin::RoundRobin;

use dyn_clone::DynClone;

use crate::Nanos;
use crate::tcp::pacing;

/// A scheduler of one connection. A clone goes on as the original would.
pub trait Scheduler: core::fmt::Debug + DynClone + Send + Sync {
    /// The next piece of data and the subflow that carries it; `None` waits.
    fn choose(&mut self, view: &View<'_>) -> Option<Choice>;

    /// Whether it is asked for data that is to be sent again, too: as for new data, in a view that
    /// begins and ends with it. Else that goes on the fastest subflow with room.
    fn places_retransmissions(&self) -> bool {
        false
    }

    /// Whether what it chooses goes on to the end of a fragment, a buffer of the application's
    /// data, as in Linux.
    fn hands_fragments(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(Scheduler);

/// A scheduler's view of a connection. Offsets count the bytes of its data from 0.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The time.
    pub now: Nanos,
    /// The usable subflows in the order in which they were opened: established, not closing, and
    /// not given up as stale.
    pub subflows: &'a [SubflowView],
    /// The first byte that the peer has not acknowledged at the level of data.
    pub acknowledged: u64,
    /// The first byte that no subflow was given yet.
    pub next: u64,
    /// The end of what the application has written.
    pub end: u64,
    /// The end of the peer's receive window, which the subflows share.
    pub window_end: u64,
}

/// A subflow, as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowView {
    /// Its number in the connection: 0 for the first, never used again.
    pub id: u32,
    /// One of the two ends wants it used only where there is no other.
    pub backup: bool,
    /// Smoothed round-trip time; 0 before the first measurement.
    pub smoothed_rtt_ns: Nanos,
    /// Variation of the round-trip time (RTTVAR of RFC 6298).
    pub rtt_variation_ns: Nanos,
    /// Congestion window.
    pub window_bytes: u64,
    /// Room that the window, the pace and the data already handed over leave just now.
    pub room_bytes: u64,
    /// Handed to the subflow and not yet acknowledged by its peer, whether sent or not.
    pub queued_bytes: u64,
    /// Memory that these take in its send buffer, where segments take more than their payload.
    pub queued_memory_bytes: u64,
    /// The most that it may be handed: its send buffer.
    pub queue_limit_bytes: u64,
    /// Bits that TCP would pace over a round trip: 1.2 windows, 2 in slow start.
    pub paced_bits: u64,
    /// Largest payload of a segment.
    pub segment_bytes: u64,
    /// End of what it was handed; the pointer of a scheduler that sends everything everywhere.
    pub sent_until: u64,
}

impl SubflowView {
    /// Its rate as TCP would pace it, bytes a second; 0 before the first measurement of the round
    /// trip.
    pub fn rate_bytes_per_second(&self) -> u64 {
        pacing::rate_bps(self.paced_bits, self.smoothed_rtt_ns).unwrap_or(0) / 8
    }

    /// Whether a whole segment may leave now.
    pub fn has_room(&self) -> bool {
        self.room_bytes >= self.segment_bytes
    }
}

/// Data and the subflow that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index into [`View::subflows`].
    pub subflow: usize,
    /// Offset of the first byte: [`View::next`] for new data, lower to send some again.
    pub from: u64,
    /// How many bytes; the subflow cuts them into segments.
    pub bytes: u64,
}

impl View<'_> {
    /// New data that the window admits.
    pub fn sendable_bytes(&self) -> u64 {
        self.end.min(self.window_end).saturating_sub(self.next)
    }

    /// Payload of the next full segment on a subflow.
    pub fn segment_bytes(&self, subflow: usize) -> u64 {
        self.subflows[subflow].segment_bytes
    }

    /// Up to `bytes` of new data on a subflow; `None` where there is none to send.
    pub fn new_data(&self, subflow: usize, bytes: u64) -> Option<Choice> {
        let bytes = bytes.min(self.sendable_bytes());
        (bytes > 0).then_some(Choice {
            subflow,
            from: self.next,
            bytes,
        })
    }

    /// The subflows to use, with their indices: the backups only where there is no other
    /// (RFC 8684, section 3.3.8).
    pub fn preferred(&self) -> impl Iterator<Item = (usize, &SubflowView)> {
        preferred(self.subflows)
    }
}

/// Of usable subflows those to use, as [`View::preferred`].
pub(crate) fn preferred(subflows: &[SubflowView]) -> impl Iterator<Item = (usize, &SubflowView)> {
    let only_backups = subflows.iter().all(|subflow| subflow.backup);
    subflows
        .iter()
        .enumerate()
        .filter(move |(_, subflow)| subflow.backup == only_backups)
}

/// Makes a scheduler for a new connection.
pub type Supply = fn() -> Box<dyn Scheduler>;

/// Which scheduler a connection uses.
#[derive(Clone, Copy, Debug, Default)]
pub enum SchedulerKind {
    /// The upstream kernel's: [`struct@Default`].
    #[default]
    Default,
    /// [`LowestRtt`].
    LowestRtt,
    /// [`RoundRobin`].
    RoundRobin {
        /// Segments in turn on each subflow; at least 1.
        segments: u32,
        /// Skip subflows whose congestion window is full instead of waiting for them.
        window_limited: bool,
    },
    /// [`Redundant`].
    Redundant,
    /// [`Blest`].
    Blest,
    /// [`Ecf`].
    Ecf,
    /// The product of a function, such as an [`External`].
    Supplied(Supply),
}

impl SchedulerKind {
    /// A scheduler of this kind for a new connection.
    pub fn create(self) -> Box<dyn Scheduler> {
        match self {
            Self::Default => Box::new(Default::default()),
            Self::LowestRtt => Box::new(LowestRtt),
            Self::RoundRobin {
                segments,
                window_limited,
            } => Box::new(RoundRobin::new(segments, window_limited)),
            Self::Redundant => Box::new(Redundant),
            Self::Blest => Box::new(Blest::default()),
            Self::Ecf => Box::new(Ecf::default()),
            Self::Supplied(create) => create(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A subflow of 10 segments of 1000 bytes, all free.
    pub(crate) fn subflow(id: u32, rtt_ms: u64) -> SubflowView {
        SubflowView {
            id,
            backup: false,
            smoothed_rtt_ns: rtt_ms * 1_000_000,
            rtt_variation_ns: 0,
            window_bytes: 10_000,
            room_bytes: 10_000,
            queued_bytes: 0,
            queued_memory_bytes: 0,
            queue_limit_bytes: 20_000,
            // 1 MB a second.
            paced_bits: 8_000 * rtt_ms,
            segment_bytes: 1000,
            sent_until: 0,
        }
    }

    /// The same with nothing free.
    pub(crate) fn full(id: u32, rtt_ms: u64) -> SubflowView {
        SubflowView {
            room_bytes: 0,
            queued_bytes: 10_000,
            ..subflow(id, rtt_ms)
        }
    }

    /// 100 kB to send and a window of 1 MB.
    pub(crate) fn view(subflows: &[SubflowView]) -> View<'_> {
        View {
            now: 0,
            subflows,
            acknowledged: 0,
            next: 0,
            end: 100_000,
            window_end: 1_000_000,
        }
    }

    #[test]
    fn the_window_of_the_peer_limits_new_data() {
        let subflows = [subflow(0, 10)];
        let view = View {
            next: 400,
            window_end: 1000,
            ..view(&subflows)
        };
        let choice = view.new_data(0, 1000).unwrap();
        assert_eq!((choice.from, choice.bytes), (400, 600));
        assert_eq!(
            View {
                window_end: 400,
                ..view
            }
            .new_data(0, 1000),
            None
        );
    }

    #[test]
    fn backups_are_preferred_only_where_there_is_no_other() {
        let backup = SubflowView {
            backup: true,
            ..subflow(1, 1)
        };
        let ids = |subflows: &[SubflowView]| -> alloc::vec::Vec<u32> {
            view(subflows).preferred().map(|(_, s)| s.id).collect()
        };
        assert_eq!(ids(&[subflow(0, 10), backup]), [0]);
        assert_eq!(ids(&[backup]), [1]);
    }
}
