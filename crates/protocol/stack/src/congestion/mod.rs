//! Congestion control: what the congestion window does on acknowledgement and loss.
//!
//! The window itself belongs to the connection ([`Window`]); an algorithm is told what happened
//! and changes it. Loss detection, proportional rate reduction, the collapse to one segment on a
//! timeout and its undoing are the same for all algorithms and live in the module `tcp`.

use alloc::boxed::Box;
use core::fmt::Debug;

use dyn_clone::DynClone;

use crate::Nanos;

mod balia;
mod coupled;
mod cubic;
mod hystart;
mod hystart_plus_plus;
mod lia;
mod olia;
mod reno;
mod supplied;
mod wvegas;

pub use balia::Balia;
pub use cubic::Cubic;
pub use hystart::HyStart;
pub use hystart_plus_plus::HyStartPlusPlus;
pub use lia::Lia;
pub use olia::Olia;
pub use reno::Reno;
pub use supplied::Supplied;
pub use wvegas::WVegas;

/// A congestion control to choose for a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionAlgorithm {
    /// RFC 5681.
    #[default]
    Reno,
    /// RFC 9438, with HyStart as in Linux.
    Cubic,
    /// RFC 9438, with HyStart++ (RFC 9406).
    CubicHyStartPlusPlus,
    /// RFC 6356.
    Lia,
    /// Opportunistic linked increases.
    Olia,
    /// Balanced linked adaptation.
    Balia,
    /// Weighted Vegas.
    WVegas,
    /// The product of a function.
    Supplied(Supplied),
}

impl CongestionAlgorithm {
    /// A new instance, for one TCP connection or one subflow.
    pub fn build(self) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno => Box::new(Reno::default()),
            Self::Cubic => Box::new(Cubic::default()),
            Self::CubicHyStartPlusPlus => Box::new(Cubic::with_hystart_plus_plus()),
            Self::Lia => Box::new(Lia::default()),
            Self::Olia => Box::new(Olia::default()),
            Self::Balia => Box::new(Balia::default()),
            Self::WVegas => Box::new(WVegas::default()),
            Self::Supplied(supplied) => (supplied.create)(supplied.name),
        }
    }

    /// The algorithm of this stack with this name ([`CongestionControl::name`]).
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Reno,
            Self::Cubic,
            Self::CubicHyStartPlusPlus,
            Self::Lia,
            Self::Olia,
            Self::Balia,
            Self::WVegas,
        ]
        .into_iter()
        .find(|algorithm| algorithm.build().name() == name)
    }
}

/// The congestion window of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// cwnd: bytes that may be in flight; at least one segment.
    pub bytes: u64,
    /// ssthresh: below it the window grows by slow start. [`u64::MAX`] until the first loss.
    pub slow_start_threshold_bytes: u64,
    /// Largest payload of a segment.
    pub mss: u32,
}

impl Window {
    /// Whether the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.bytes < self.slow_start_threshold_bytes
    }

    /// Grows by slow start up to the threshold (RFC 5681, section 3.1) and gives the bytes
    /// acknowledged that are left over for congestion avoidance.
    pub fn slow_start(&mut self, acknowledged_bytes: u64) -> u64 {
        let grown = self
            .bytes
            .saturating_add(acknowledged_bytes)
            .min(self.slow_start_threshold_bytes);
        let used = grown.saturating_sub(self.bytes);
        self.bytes += used;
        acknowledged_bytes - used
    }
}

/// An acknowledgement that delivered data, outside of loss recovery or in the slow start after a
/// timeout.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Nanos,
    /// Newly delivered, cumulatively or selectively, each segment counted as a full one.
    pub acknowledged_bytes: u64,
    /// Round trip of the newest data that it delivered; none where that was retransmitted.
    pub rtt_ns: Option<Nanos>,
    /// SRTT, this sample included; 0 before the first.
    pub smoothed_rtt_ns: Nanos,
    /// Smallest round trip of the recent past (minutes).
    pub min_rtt_ns: Nanos,
    /// In flight after it, each segment counted as a full one.
    pub in_flight_bytes: u64,
    /// The window, not the application or the peer, limited what was sent lately. A window that
    /// does not limit must not grow (RFC 7661, section 1; RFC 5681, section 3.1).
    pub window_limited: bool,
    /// SND.UNA as an offset in the stream, after it.
    pub acknowledged: u64,
    /// SND.NXT as an offset in the stream: a round trip ends when it is acknowledged.
    pub next: u64,
}

/// A loss or an ECN echo: at most once a window.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now: Nanos,
    /// In flight before it was noticed, each segment counted as a full one.
    pub in_flight_bytes: u64,
    /// SRTT; 0 before the first sample.
    pub smoothed_rtt_ns: Nanos,
    /// Its sign.
    pub cause: Cause,
}

/// Sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss found by acknowledgements; proportional rate reduction follows.
    Loss,
    /// ECN echo; proportional rate reduction follows.
    EcnEcho,
    /// The retransmission timer; the window becomes one segment.
    Timeout,
}

/// One path of a connection as coupled algorithms see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathView {
    /// The path on which the event happened.
    pub is_self: bool,
    /// cwnd.
    pub window_bytes: u64,
    /// ssthresh.
    pub slow_start_threshold_bytes: u64,
    /// Largest payload of a segment.
    pub mss: u32,
    /// SRTT; 0 before the first sample.
    pub smoothed_rtt_ns: Nanos,
    /// Smallest round trip of the recent past.
    pub min_rtt_ns: Nanos,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Bytes delivered since the last loss.
    pub bytes_since_loss: u64,
    /// Bytes delivered between the last two losses.
    pub bytes_between_losses: u64,
}

/// An algorithm. Its functions are called for one path; `paths` are all established paths of the
/// connection, with this one marked by [`PathView::is_self`]. A clone goes on as the original would.
pub trait CongestionControl: Debug + DynClone + Send + Sync {
    /// Name as in Linux: `reno`, `cubic`, `lia`…
    fn name(&self) -> &'static str;

    /// Whether it looks at the other paths. If not, `paths` may hold its own alone.
    fn is_coupled(&self) -> bool {
        false
    }

    /// Looks at the round trip of an acknowledgement before anything else follows from that: a
    /// reduction that turns out to have been in vain still stands, and the window has not grown.
    fn on_round_trip(&mut self, window: &mut Window, ack: &Ack) {
        let _ = (window, ack);
    }

    /// Grows the window, as data was acknowledged.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, paths: &[PathView]);

    /// Gives the new slow start threshold after congestion, in bytes, at least two segments. The
    /// caller sets the window.
    fn on_congestion_event(
        &mut self,
        window: &Window,
        event: &CongestionEvent,
        paths: &[PathView],
    ) -> u64;

    /// Takes the last congestion event back: the caller has restored window and threshold.
    fn on_undo(&mut self) {}

    /// New data is about to leave, as nothing is in flight; the last left `idle_ns` before.
    fn on_restart(&mut self, now: Nanos, idle_ns: Nanos) {
        let _ = (now, idle_ns);
    }
}

dyn_clone::clone_trait_object!(CongestionControl);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An acknowledgement of some bytes outside of any round.
    pub(crate) fn ack_at(now: Nanos, acknowledged_bytes: u64, rtt_ns: Nanos) -> Ack {
        Ack {
            now,
            acknowledged_bytes,
            rtt_ns: Some(rtt_ns),
            smoothed_rtt_ns: rtt_ns,
            min_rtt_ns: rtt_ns,
            in_flight_bytes: 0,
            window_limited: true,
            acknowledged: 0,
            next: 0,
        }
    }

    /// An acknowledgement up to `acknowledged` while `next` is sent.
    pub(crate) fn ack_in_round(
        now: Nanos,
        acknowledged_bytes: u64,
        rtt_ns: Nanos,
        acknowledged: u64,
        next: u64,
    ) -> Ack {
        Ack {
            acknowledged,
            next,
            ..ack_at(now, acknowledged_bytes, rtt_ns)
        }
    }

    /// A window in slow start, of segments of 1000 bytes.
    pub(crate) fn slow_start(bytes: u64) -> Window {
        Window {
            bytes,
            slow_start_threshold_bytes: u64::MAX,
            mss: 1000,
        }
    }

    /// A window in congestion avoidance.
    pub(crate) fn avoidance(bytes: u64) -> Window {
        Window {
            slow_start_threshold_bytes: bytes,
            ..slow_start(bytes)
        }
    }

    pub(crate) fn loss() -> CongestionEvent {
        CongestionEvent {
            now: 0,
            in_flight_bytes: 0,
            smoothed_rtt_ns: 0,
            cause: Cause::Loss,
        }
    }

    pub(crate) fn path(is_self: bool, window_bytes: u64, rtt_ms: u64) -> PathView {
        PathView {
            is_self,
            window_bytes,
            slow_start_threshold_bytes: window_bytes,
            mss: 1000,
            smoothed_rtt_ns: rtt_ms * 1_000_000,
            min_rtt_ns: rtt_ms * 1_000_000,
            in_flight_bytes: 0,
            bytes_since_loss: 0,
            bytes_between_losses: 0,
        }
    }

    #[test]
    fn every_algorithm_is_found_by_its_name() {
        for name in [
            "reno",
            "cubic",
            "cubic-hystart++",
            "lia",
            "olia",
            "balia",
            "wvegas",
        ] {
            let algorithm = CongestionAlgorithm::from_name(name).unwrap();
            assert_eq!(algorithm.build().name(), name);
        }
        assert_eq!(CongestionAlgorithm::from_name("bbr"), None);
    }
}
