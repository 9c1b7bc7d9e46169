//! The congestion window of one connection, and the algorithm that grows it.

use alloc::boxed::Box;

use super::config::TcpConfig;
use super::cwnd_validation::CwndValidation;
use super::loss_interval::LossInterval;
use crate::Nanos;
use crate::congestion::{Ack, CongestionControl, CongestionEvent, PathView, Window};

/// Congestion control of one connection. The threshold is never below two segments.
#[derive(Clone, Debug)]
pub(crate) struct CongestionState {
    window: Window,
    /// IW (RFC 6928).
    initial_segments: u32,
    control: Box<dyn CongestionControl>,
    validation: CwndValidation,
    loss_interval: LossInterval,
}

impl CongestionState {
    /// The state before the handshake.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        let mut state = Self {
            window: Window {
                bytes: 0,
                slow_start_threshold_bytes: u64::MAX,
                mss: config.mss,
            },
            initial_segments: config.initial_window_segments,
            control: config.congestion_control.build(),
            validation: CwndValidation::default(),
            loss_interval: LossInterval::default(),
        };
        state.begin(config.mss);
        state
    }

    /// Begins with the initial window, of segments of so much payload.
    pub(crate) fn begin(&mut self, mss: u32) {
        self.window.mss = mss;
        self.window.bytes = self.initial_bytes();
    }

    /// Sets the payload of a full segment; the window keeps its bytes.
    pub(crate) fn set_segment_bytes(&mut self, mss: u32) {
        self.window.mss = mss;
    }

    /// Begins with one segment, as the SYN was lost.
    pub(crate) fn begin_slowly(&mut self) {
        self.window.bytes = self.segment_bytes();
    }

    fn initial_bytes(&self) -> u64 {
        u64::from(self.initial_segments) * self.segment_bytes()
    }

    /// Window and threshold.
    #[inline]
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// cwnd.
    #[inline]
    pub(crate) fn window_bytes(&self) -> u64 {
        self.window.bytes
    }

    /// ssthresh.
    #[inline]
    pub(crate) fn threshold_bytes(&self) -> u64 {
        self.window.slow_start_threshold_bytes
    }

    /// Payload of a full segment.
    #[inline]
    pub(crate) fn segment_bytes(&self) -> u64 {
        u64::from(self.window.mss)
    }

    /// Name of the algorithm.
    pub(crate) fn name(&self) -> &'static str {
        self.control.name()
    }

    /// Whether the algorithm looks at the other paths.
    pub(crate) fn is_coupled(&self) -> bool {
        self.control.is_coupled()
    }

    /// Whether the window limits what is sent.
    pub(crate) fn limits(&self) -> bool {
        self.validation.limits(&self.window)
    }

    /// Bytes since the last loss, and between the last two.
    pub(crate) fn loss_interval(&self) -> LossInterval {
        self.loss_interval
    }

    /// Notes that bytes were delivered.
    #[inline]
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.loss_interval.on_delivered(bytes);
    }

    /// Lets the algorithm look at a round trip.
    #[inline]
    pub(crate) fn on_round_trip(&mut self, ack: &Ack) {
        self.control.on_round_trip(&mut self.window, ack);
    }

    /// Lets the algorithm grow the window (RFC 5681, section 3.1).
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack, paths: &[PathView]) {
        self.control.on_ack(&mut self.window, ack, paths);
    }

    /// Takes the threshold of the algorithm after congestion. The window follows in time.
    pub(crate) fn on_event(&mut self, event: &CongestionEvent, paths: &[PathView]) {
        let threshold = self.control.on_congestion_event(&self.window, event, paths);
        self.window.slow_start_threshold_bytes = threshold.max(2 * self.segment_bytes());
        self.loss_interval.on_loss();
    }

    /// Sets the window in the course of a reduction, to one segment at least.
    #[inline]
    pub(crate) fn reduce_to(&mut self, bytes: u64) {
        self.window.bytes = bytes.max(self.segment_bytes());
    }

    /// Sets the window at the end of a reduction.
    pub(crate) fn end_reduction(&mut self) {
        self.window.bytes = self.window.slow_start_threshold_bytes;
    }

    /// Shrinks the window to the threshold at once.
    pub(crate) fn shrink_to_threshold(&mut self) {
        self.window.bytes = self
            .window
            .bytes
            .min(self.window.slow_start_threshold_bytes);
    }

    /// Sets the window to one segment beyond what is in flight.
    pub(crate) fn collapse(&mut self, in_flight_bytes: u64) {
        self.window.bytes = in_flight_bytes + self.segment_bytes();
    }

    /// Shrinks the window to `bytes`, but not below one segment, and the threshold with it.
    pub(crate) fn penalise(&mut self, bytes: u64) {
        let bytes = bytes.max(self.segment_bytes());
        self.window.bytes = self.window.bytes.min(bytes);
        self.window.slow_start_threshold_bytes = self
            .window
            .slow_start_threshold_bytes
            .min(bytes.max(2 * self.segment_bytes()));
    }

    /// Takes a reduction back: window and threshold become no less than they were.
    pub(crate) fn restore(&mut self, window_bytes: u64, threshold_bytes: u64) {
        self.window.bytes = self.window.bytes.max(window_bytes);
        self.window.slow_start_threshold_bytes =
            self.window.slow_start_threshold_bytes.max(threshold_bytes);
        self.control.on_undo();
    }

    /// Lets the algorithm know that a rest ends, with nothing in flight, as new data leaves.
    pub(crate) fn end_rest(&mut self, now: Nanos) {
        if let Some(idle_ns) = self.validation.idle_ns(now) {
            self.control.on_restart(now, idle_ns);
        }
    }

    /// Shrinks a window that rested longer than a timeout, with nothing in flight: it starts again
    /// from the initial one (RFC 5681, section 4.1), halved for each timeout of rest until there.
    pub(crate) fn restart_after_idle(&mut self, now: Nanos, rto_ns: Nanos) {
        let Some(idle) = self.validation.idle_ns(now) else {
            return;
        };
        if idle > rto_ns {
            let restart = self.initial_bytes();
            self.validation
                .restart(now, &mut self.window, idle, rto_ns, restart);
        }
    }

    /// Notes the use of the window, after new data has left. True where it limits what is sent.
    #[inline]
    pub(crate) fn on_new_data_sent(
        &mut self,
        now: Nanos,
        in_flight_bytes: u64,
        acknowledged: u64,
        next: u64,
    ) -> bool {
        self.validation
            .on_new_data_sent(now, &self.window, in_flight_bytes, acknowledged, next)
    }

    /// Does not take the window for unused, as the send buffer is what limits its use.
    pub(crate) fn keep_unused(&mut self, now: Nanos) {
        self.validation.keep(now);
    }

    /// Moves a window that was not full for a timeout half way to its use, as the application
    /// limits the rate; not while it is being reduced.
    pub(crate) fn shrink_unused(&mut self, now: Nanos, rto_ns: Nanos, reducing: bool) {
        let least = self.initial_bytes();
        if self.validation.is_unused(now, rto_ns) {
            self.validation
                .shrink(now, &mut self.window, least, reducing);
        }
    }
}
