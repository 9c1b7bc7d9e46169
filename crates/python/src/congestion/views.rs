//! Arguments of a congestion control of Python, and the window that it sets.

use mptcplab_stack::congestion as stack;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

/// No window and no threshold is larger: a thousand times the largest receive window of TCP
/// (RFC 7323, section 2.2).
pub(super) const MOST_BYTES: u64 = 1 << 40;
/// So much of a value is in a message.
const LONGEST_SHOWN: usize = 60;

/// A value as Python writes it, cut where it is long.
pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else {
        return "what cannot be shown".to_owned();
    };
    let text = text.to_string_lossy();
    let mut shown: String = text.chars().take(LONGEST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The congestion window of a TCP connection or a subflow.
#[pyclass(module = "mptcplab._native")]
pub(crate) struct Window {
    pub(super) window: stack::Window,
    is_fixed: bool,
}

impl Window {
    /// A copy for one call; where it is fixed the object cannot set it.
    pub(super) fn new(window: stack::Window, is_fixed: bool) -> Self {
        Self { window, is_fixed }
    }

    /// The value that `field` is to have, if it may.
    fn checked(&self, field: &str, value: &Bound<'_, PyAny>, fewest: u64) -> PyResult<u64> {
        if self.is_fixed {
            return Err(PyAttributeError::new_err(
                "on_congestion_event cannot set the window: it answers with the slow start \
                 threshold, and TCP shrinks the window to it",
            ));
        }
        let bytes = value.extract().ok();
        bytes
            .filter(|bytes| (fewest..=MOST_BYTES).contains(bytes))
            .ok_or_else(|| {
                PyValueError::new_err(format!(
                    "window.{field} is a whole number of bytes from {fewest} to {MOST_BYTES}, not {}",
                    shown(value)
                ))
            })
    }
}

#[pymethods]
impl Window {
    /// cwnd.
    #[getter]
    fn bytes(&self) -> u64 {
        self.window.bytes
    }

    #[setter]
    fn set_bytes(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.window.bytes = self.checked("bytes", value, self.window.mss.into())?;
        Ok(())
    }

    /// ssthresh; 2^64 − 1 until the first loss.
    #[getter]
    fn slow_start_threshold_bytes(&self) -> u64 {
        self.window.slow_start_threshold_bytes
    }

    #[setter]
    fn set_slow_start_threshold_bytes(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let fewest = 2 * u64::from(self.window.mss);
        self.window.slow_start_threshold_bytes =
            self.checked("slow_start_threshold_bytes", value, fewest)?;
        Ok(())
    }

    /// Largest payload of a segment.
    #[getter]
    fn segment_bytes(&self) -> u32 {
        self.window.mss
    }

    /// Whether the window is below the slow start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}

/// A subflow of the connection.
#[pyclass(frozen, get_all, module = "mptcplab._native")]
#[derive(Clone)]
pub(crate) struct PathView {
    /// The one to which the event happened.
    is_self: bool,
    /// cwnd.
    window_bytes: u64,
    /// ssthresh.
    slow_start_threshold_bytes: u64,
    /// Largest payload of a segment.
    segment_bytes: u32,
    /// SRTT; 0 before the first sample.
    smoothed_rtt_ns: u64,
    /// Smallest round trip of the recent past.
    min_rtt_ns: u64,
    /// Bytes in flight.
    in_flight_bytes: u64,
    /// Bytes delivered since the last loss.
    bytes_since_loss: u64,
    /// Bytes delivered between the last two losses.
    bytes_between_losses: u64,
}

impl PathView {
    pub(super) fn new(path: &stack::PathView) -> Self {
        Self {
            is_self: path.is_self,
            window_bytes: path.window_bytes,
            slow_start_threshold_bytes: path.slow_start_threshold_bytes,
            segment_bytes: path.mss,
            smoothed_rtt_ns: path.smoothed_rtt_ns,
            min_rtt_ns: path.min_rtt_ns,
            in_flight_bytes: path.in_flight_bytes,
            bytes_since_loss: path.bytes_since_loss,
            bytes_between_losses: path.bytes_between_losses,
        }
    }
}

/// An acknowledgement that delivered data.
#[pyclass(frozen, get_all, module = "mptcplab._native")]
pub(crate) struct Ack {
    /// When it arrived.
    now_ns: u64,
    /// Bytes newly delivered.
    acknowledged_bytes: u64,
    /// Round trip of the newest data that it delivered.
    rtt_ns: Option<u64>,
    /// SRTT, this sample included.
    smoothed_rtt_ns: u64,
    /// Smallest round trip of the recent past.
    min_rtt_ns: u64,
    /// Bytes in flight after it.
    in_flight_bytes: u64,
    /// The window limited what was sent lately.
    window_limited: bool,
    /// SND.UNA as an offset in the stream, after it.
    acknowledged: u64,
    /// SND.NXT as an offset in the stream.
    next: u64,
    /// The subflows of the connection.
    paths: Vec<PathView>,
}

impl Ack {
    pub(super) fn new(ack: &stack::Ack, paths: Vec<PathView>) -> Self {
        Self {
            now_ns: ack.now,
            acknowledged_bytes: ack.acknowledged_bytes,
            rtt_ns: ack.rtt_ns,
            smoothed_rtt_ns: ack.smoothed_rtt_ns,
            min_rtt_ns: ack.min_rtt_ns,
            in_flight_bytes: ack.in_flight_bytes,
            window_limited: ack.window_limited,
            acknowledged: ack.acknowledged,
            next: ack.next,
            paths,
        }
    }
}

/// A loss, an ECN echo or a timeout.
#[pyclass(frozen, get_all, module = "mptcplab._native")]
pub(crate) struct CongestionEvent {
    /// When it was noticed.
    now_ns: u64,
    /// Bytes in flight before it was noticed.
    in_flight_bytes: u64,
    /// SRTT.
    smoothed_rtt_ns: u64,
    /// `loss`, `ecn-echo` or `timeout`.
    cause: &'static str,
    /// The subflows of the connection.
    paths: Vec<PathView>,
}

impl CongestionEvent {
    pub(super) fn new(event: &stack::CongestionEvent, paths: Vec<PathView>) -> Self {
        Self {
            now_ns: event.now,
            in_flight_bytes: event.in_flight_bytes,
            smoothed_rtt_ns: event.smoothed_rtt_ns,
            cause: match event.cause {
                stack::Cause::Loss => "loss",
                stack::Cause::EcnEcho => "ecn-echo",
                stack::Cause::Timeout => "timeout",
            },
            paths,
        }
    }
}
